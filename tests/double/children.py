# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes behind the server: VLLM::EngineCore and its VLLM::Worker, as the engine for processors has them.

They hold nothing but the lock on DOUBLE_DEVICE. The worker ends at SIGTERM, and the engine with it: a stop that
signals every process of a unit breaks a drain, as it does with vLLM.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from .crashes import memory_in_use
from .faults import Faults

_NAME = 15
"""Characters of a process's name that the kernel keeps."""


class Children:
    """The engine's processes, and the pipe whose end tells them to end."""

    def __init__(self, faults: Faults, listener: socket.socket) -> None:
        """Start them; before any thread. Raises Crash when the device is somebody else's."""
        self._faults, self._listener = faults, listener
        self._device = _lock(faults.device)
        self._ending = False
        reader, self._writer = os.pipe()
        up, self._up = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._writer)
            self._run(lambda: self._be_engine(reader))
        os.close(reader)
        os.close(self._up)
        os.read(up, 1)  # until the worker is there
        os.close(up)
        if self._device is not None:
            os.close(self._device)
        self.dead = threading.Event()
        threading.Thread(target=self._reap, daemon=True).start()

    def watch(self, died: Callable[[], None]) -> None:
        """Call `died` when the engine ends without having been told to."""

        def wait() -> None:
            self.dead.wait()
            if not self._ending:
                died()

        threading.Thread(target=wait, daemon=True).start()

    def _reap(self) -> None:
        os.waitpid(self.pid, 0)
        self.dead.set()

    def end(self, timeout: float) -> None:
        """Tell them to end, and wait for it."""
        self._ending = True
        os.close(self._writer)
        self.dead.wait(timeout)

    def kill(self) -> None:
        """The engine dies."""
        os.kill(self.pid, signal.SIGKILL)

    def _be_engine(self, told: int) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it finishes its requests: the server knows when that is
        _call_it("VLLM::EngineCore")
        reader, writer = os.pipe()
        worker = os.fork()
        if worker == 0:
            os.close(writer)
            self._run(lambda: self._be_worker(reader))
        os.close(reader)
        os.close(self._up)
        gone = threading.Event()

        def listen() -> None:
            os.read(told, 1)
            gone.set()

        threading.Thread(target=listen, daemon=True).start()
        while not gone.wait(0.2):
            if os.waitpid(worker, os.WNOHANG)[0]:
                os._exit(1)
        if self._faults.survive:
            self._faults.survive.wait()
        os.close(writer)
        os.waitpid(worker, 0)

    def _be_worker(self, told: int) -> None:
        if self._faults.survive:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _call_it("VLLM::Worker")
        os.close(self._up)
        os.read(told, 1)

    def _run(self, work: Callable[[], None]) -> NoReturn:
        """The whole life of a child."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if not self._faults.survive_port:
            self._listener.close()
        try:
            work()
        finally:
            sys.stderr.flush()
            os._exit(0)


def _lock(path: str) -> int | None:
    if not path:
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise memory_in_use() from None
    return descriptor


def _call_it(name: str) -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name[:_NAME])
