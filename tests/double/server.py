# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The listener, the life of the server from its start to its exit status, and the faults that happen by themselves."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from .children import Children
from .config import Config
from .crashes import CRASHES, Crash
from .engine import Engine
from .faults import Faults
from .handler import Handler
from .log import FRONT, Log
from .spans import LOOK, Span
from .weights import check_model, check_weights

_WATCHDOG = 5.0
"""Seconds within which the server notices a dead engine (VLLM_WATCHDOG_TIME_S)."""


@dataclass
class Front:
    """What the handlers of requests share."""

    config: Config
    faults: Faults
    version: str
    log: Log
    engine: Engine
    longest: int
    opened: float = 0.0
    answering: set[int] = field(default_factory=set)
    """The threads of requests that are not answered yet."""

    @property
    def ready(self) -> bool:
        """Whether completions are answered."""
        return self.faults.unready.is_over(self.opened)


class Listener(ThreadingHTTPServer):
    """One thread for each connection, on a socket that was bound before."""

    daemon_threads = True
    request_queue_size = 2048

    def __init__(self, sock: socket.socket, front: Front) -> None:
        super().__init__(sock.getsockname()[:2], Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.front = sock, front

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nobody's error."""


def bind(config: Config) -> socket.socket:
    """The socket, bound and not yet listening: the port is taken, and refuses, while a model loads. Raises Crash."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((config.host, config.port))
    except OSError as error:
        raise Crash(f"OSError: [Errno {error.errno}] {error.strerror}") from None
    return sock


def run(config: Config, faults: Faults, version: str, log: Log) -> int:
    """Start, serve, stop; the exit status."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a server that loads does not hear it
    log.info(FRONT, "api_utils.py:347", f"version {version}")
    log.info(FRONT, "api_utils.py:347", f"model   {config.model}")
    children = None
    try:
        sock = bind(config)
        longest = check_model(config.model)
        children = Children(faults, sock)
        log.info("EngineCore", "core.py:133", f"Initializing a V1 LLM engine (v{version}) with config: double")
        began = time.monotonic()
        while not faults.start.is_over(began):
            if children.dead.wait(LOOK):
                raise Crash("RuntimeError: the engine was ended while it loaded", worker=True)
        if faults.crash:
            raise CRASHES[faults.crash]
        check_weights(config.model)
    except Crash as crash:
        crash.report(log)
        if children:
            children.end(_WATCHDOG)
        return 1
    engine = Engine(config.seats, faults.token_s)
    front = Front(config, faults, version, log, engine, config.max_model_len or longest)
    return Life(front, Listener(sock, front), children).run()


class Life:
    """From the opening of the port to the exit."""

    def __init__(self, front: Front, listener: Listener, children: Children) -> None:
        self._front, self._listener, self._children = front, listener, children
        self._stop_once = threading.Lock()

    def run(self) -> int:
        front, log = self._front, self._front.log
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        self._children.watch(self._engine_died)
        host, port = self._listener.socket.getsockname()[:2]
        log.info(FRONT, "entry.py:140", f"Starting vLLM server on http://{host}:{port}")
        front.opened = time.monotonic()
        self._listener.server_activate()
        self._after(front.faults.freeze_after, self._freeze)
        self._after(front.faults.crash_after, self._crash)
        self._after(front.faults.engine_dies_after, self._children.kill)
        log.plain("INFO:     Application startup complete.")
        self._listener.serve_forever(0.05)
        log.info(FRONT, "launcher.py:304", "[shutdown] API server: shutting down FastAPI HTTP server")
        log.plain("INFO:     Shutting down")
        self._listener.server_close()
        if front.answering:
            log.plain("INFO:     Waiting for connections to close. (CTRL+C to force quit)")
        while front.answering:
            time.sleep(LOOK)
        log.plain("INFO:     Waiting for application shutdown.")
        log.plain("INFO:     Application shutdown complete.")
        return 0

    def _after(self, span: Span | None, act: Callable[[], None]) -> None:
        def wait(span: Span) -> None:
            span.wait()
            act()

        if span:
            threading.Thread(target=wait, args=(span,), daemon=True).start()

    def _stop(self, *_: Any) -> None:
        if self._stop_once.acquire(blocking=False):
            threading.Thread(target=self._wind_down, daemon=True).start()

    def _wind_down(self) -> None:
        front, log, timeout = self._front, self._front.log, self._front.config.shutdown_timeout
        if front.engine.frozen:
            log.plain("double: a stop that is not heard")
            return
        mode = "drain" if timeout else "abort"
        log.info(FRONT, "launcher.py:254", "[shutdown] API server: shutdown triggered")
        words = f"mode={mode} timeout={timeout}s"
        log.info(FRONT, "launcher.py:270", f"[shutdown] API server: stopping engine client {words}")
        log.info("EngineCore", "core.py:1635", f"[shutdown] EngineCore: start {words}")
        if front.engine.in_flight:
            what = "draining" if timeout else "aborting"
            count = f"in-flight requests count={front.engine.in_flight}"
            log.info("EngineCore", "core.py:1655", f"[shutdown] EngineCore: {what} {count}")
        front.engine.stop(timeout)
        self._children.end(_WATCHDOG)
        log.info(FRONT, "launcher.py:279", "[shutdown] API server: engine client stopped")
        self._close()

    def _engine_died(self) -> None:
        front = self._front
        front.engine.die()
        front.log.error(
            FRONT, "core_client.py:866", "Engine core proc EngineCore died unexpectedly, shutting down client."
        )
        time.sleep(_WATCHDOG)
        self._close()

    def _close(self) -> None:
        self._front.faults.stop.wait()
        self._listener.shutdown()

    def _freeze(self) -> None:
        self._front.engine.freeze()
        self._front.log.plain("double: frozen")

    def _crash(self) -> None:
        self._front.log.traceback("RuntimeError: the double was told to crash (DOUBLE_CRASH_AFTER)")
        os._exit(1)
