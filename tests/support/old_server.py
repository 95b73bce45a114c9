# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers as a vLLM server of an older version does. Runs on a test host: ADDRESS PORT MODEL ROOT SHARED."""

import json
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

address, port, model, root, shared = sys.argv[1:]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer({"data": [{"id": model, "root": root, "object": "model"}]} if self.path == "/v1/models" else None)

    def do_POST(self) -> None:
        self.answer({"choices": [{"text": " old"}], "model": model})

    def answer(self, body: object) -> None:
        data = json.dumps(body).encode() if body else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, int(shared))
        super().server_bind()


Server((address, int(port)), Handler).serve_forever()
