# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saying how far long work is. Standard library and Python 3.9 only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Progress:
    """Counts bytes from several threads and says every `interval` seconds how many of `total` there are."""

    def __init__(self, doing: str, total: int, say: Callable[[str], None], interval: float = 10.0) -> None:
        self.done = 0
        self._doing, self._total, self._say, self._interval = doing, total, say, interval
        self._lock = threading.Lock()
        self._next = time.monotonic() + interval

    def add(self, count: int) -> None:
        """Adds `count` bytes; negative when a part is sent again."""
        with self._lock:
            self.done += count
            if time.monotonic() < self._next:
                return
            self._next = time.monotonic() + self._interval
            text = f"{self._doing}: {self.done} of {self._total} bytes"
        self._say(text)
