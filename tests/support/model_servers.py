# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small servers that answer as vLLM does as far as a gateway can see, and count what they are asked."""

from __future__ import annotations

import select
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def free_port() -> int:
    """A port that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ModelServer:
    """One server on a port of the loopback address, which answers every request with its name.

    A path that ends in `/stream` is answered in two parts, the second once `released` is set; `/wait` waits until the
    client has gone; `/silent` is never answered.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.port = free_port()
        self.paths: list[str] = []
        self.health_checks = 0
        self.healthy = threading.Event()
        self.released = threading.Event()
        self.deserted = threading.Event()
        self._server: _Server | None = None

    def start(self) -> None:
        self.healthy.set()
        self._server = _Server(("127.0.0.1", self.port), type("Handler", (_Handler,), {"model": self}))
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def stop(self) -> None:
        """Closes the port; requests that run go on."""
        if self._server:
            self._server.shutdown()
            self._server.socket.close()
            self._server = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone is no error."""


class _Handler(BaseHTTPRequestHandler):
    model: ModelServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        model = self.model
        if self.path == "/health":
            model.health_checks += 1
            self._answer(200 if model.healthy.wait(20) else 500, b"")
            return
        received = 0
        length = int(self.headers.get("Content-Length", 0))
        while received < length:
            received += len(self.rfile.read(min(1 << 20, length - received)))
        model.paths.append(self.path)
        if self.path.endswith("/silent"):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif self.path.endswith("/wait"):
            if select.select([self.connection], [], [], 20)[0]:
                model.deserted.set()
        elif self.path.endswith("/stream"):
            self._stream()
        else:
            self._answer(200, f"{model.name} {received}".encode())

    do_POST = do_GET

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(f"data: {self.model.name}\n\n".encode())
        self.wfile.flush()
        self.model.released.wait(60)
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
