# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long something lasts: so many seconds, or until a file is there, which is when a test has seen enough."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

LOOK = 0.05
"""Seconds after which it is looked again."""


@dataclass(frozen=True)
class Span:
    """`seconds`, or without regard to them until `file` is there."""

    seconds: float = 0.0
    file: str = ""

    def is_over(self, began: float) -> bool:
        """Whether it is over when it began at this time.monotonic()."""
        return Path(self.file).exists() if self.file else time.monotonic() >= began + self.seconds

    def wait(self) -> None:
        """From now until it is over."""
        began = time.monotonic()
        while not self.is_over(began):
            time.sleep(LOOK)


def read_span(text: str) -> Span:
    """A number of seconds, or an absolute path. Raises ValueError for what is neither."""
    return Span(file=text) if text.startswith("/") else Span(float(text))
