# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holding work back. Standard library and Python 3.9 only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Lets threads pass `rate` bytes a second, all of them together, or at once when there is no rate."""

    def __init__(
        self,
        rate: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rate, self._clock, self._sleep = rate, clock, sleep
        self._lock, self._next = threading.Lock(), clock()

    def wait(self, count: int, alive: Callable[[], None]) -> None:
        """Return when `count` bytes may be read; `alive` is called every second until then."""
        if not self._rate:
            return
        with self._lock:
            turn = max(self._next, self._clock())
            self._next = turn + count / self._rate
        while (left := turn - self._clock()) > 0:
            alive()
            self._sleep(min(left, 1.0))
