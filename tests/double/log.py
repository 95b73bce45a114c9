# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines as vLLM writes them: the process that speaks, level, time, place in its source."""

from __future__ import annotations

import os
import sys
import threading
import time

FRONT = "APIServer"


class Log:
    """The log on standard error. Worker and EngineCore are given the same pid as the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def info(self, process: str, place: str, text: str) -> None:
        self._line(process, "INFO", place, text)

    def error(self, process: str, place: str, text: str) -> None:
        self._line(process, "ERROR", place, text)

    def access(self, client: str, request: str, status: str) -> None:
        """One answered request."""
        self.plain(f'INFO:     {client} - "{request} HTTP/1.1" {status}')

    def traceback(self, last: str) -> None:
        """A traceback without its middle."""
        self.plain(f"Traceback (most recent call last):\n{last}")

    def plain(self, text: str) -> None:
        with self._lock:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def _line(self, process: str, level: str, place: str, text: str) -> None:
        now = time.strftime("%m-%d %H:%M:%S")
        self.plain(f"({process} pid={os.getpid()}) {level} {now} [{place}] {text}")
