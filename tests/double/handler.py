# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One connection: routes, key, completions in one piece and as a stream."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator
from contextlib import closing
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from .answers import Writer, event, model_cards
from .engine import ClientGone, EngineDead, Refused, State
from .metrics import exposition
from .requests import CHAT, COMPLETIONS, Request, Wrong, read_request

if TYPE_CHECKING:
    from .server import Front, Listener

GUARDED = ("/v1", "/v2", "/inference", "/cohere")
"""Paths that need the key (vllm/entrypoints/serve/middleware/authenticate.py). All others are open."""

ROUTES = {
    "/health": ("GET",),
    "/ping": ("GET", "POST"),
    "/version": ("GET",),
    "/metrics": ("GET",),
    "/v1/models": ("GET",),
    COMPLETIONS: ("POST",),
    CHAT: ("POST",),
}
JSON = "application/json"
_FROZEN = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 as uvicorn speaks it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    @property
    def front(self) -> Front:
        return self.server.front

    def handle_any(self) -> None:
        """One request, whatever its method. The server does not end before it is answered."""
        mine = threading.get_ident()
        self.front.answering.add(mine)
        try:
            self._handle()
        finally:
            self.front.answering.discard(mine)

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.front.engine.frozen:
            _FROZEN.wait()
        path = self.path.partition("?")[0]
        if path.startswith(GUARDED) and self.command != "OPTIONS" and not self._has_key():
            self._answer(401, {"error": "Unauthorized"})
        elif path not in ROUTES:
            self._answer(404, {"detail": "Not Found"})
        elif self.command not in ROUTES[path]:
            self._answer(405, {"detail": "Method Not Allowed"}, allow=", ".join(ROUTES[path]))
        elif path in (COMPLETIONS, CHAT):
            self._complete(path, body)
        else:
            self._tell(path)

    do_GET = do_POST = do_HEAD = do_OPTIONS = do_PUT = do_DELETE = handle_any

    def log_message(self, *_: Any) -> None:
        """Answers are logged by `_answer`."""

    def _has_key(self) -> bool:
        keys = self.front.config.api_keys
        if not keys:
            return True
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and given in keys and not self.front.faults.refuse_key

    def _tell(self, path: str) -> None:
        front = self.front
        if path == "/version":
            self._answer(200, {"version": front.version})
        elif path == "/metrics":
            text = exposition(front.engine, front.config.served_names[0])
            self._send(200, text.encode(), "text/plain; version=1.0.0; charset=utf-8")
        elif path == "/v1/models":
            ids = [front.faults.model_id] if front.faults.model_id else front.config.served_names
            self._answer(200, model_cards(ids, front.faults.root or front.config.model, front.longest))
        else:
            self._send(503 if front.engine.state is State.DEAD else 200, b"", "")

    def _complete(self, path: str, body: bytes) -> None:
        front = self.front
        try:
            if not front.ready:
                raise Wrong(503, "The model is not ready yet.", "ServiceUnavailableError")
            kind = self.headers.get("Content-Type", "")
            request = read_request(path, kind, body, front.config.served_names, front.longest)
            token = f" {PurePosixPath(front.config.model).name}"
            writer = Writer(request, front.config.served_names[0], front.version, token)
            (self._stream if request.stream else self._whole)(request, writer)
        except Wrong as wrong:
            self._answer(wrong.code, wrong.body())
        except Refused:
            self._answer(500, _failed("cannot schedule new futures after shutdown"))
        except EngineDead:
            self._answer(500, _failed(DEAD))
        except ClientGone:
            self.close_connection = True

    def _whole(self, request: Request, writer: Writer) -> None:
        with closing(self._tokens(request)) as tokens:
            for _number in tokens:
                pass
        self._answer(200, writer.whole(request.tokens))

    def _stream(self, request: Request, writer: Writer) -> None:
        with closing(self._tokens(request)) as tokens:
            self._send(200, None, "text/event-stream; charset=utf-8")
            try:
                for number in tokens:
                    opening = writer.opening() if number == 0 else ()
                    self._chunks([*opening, *writer.token("length" if number + 1 == request.tokens else None)])
                self._chunks(writer.closing(request.tokens))
            except EngineDead:
                self._chunks([event(json.dumps(_failed(DEAD))), event("[DONE]")])
        self._chunks([b""])

    def _tokens(self, request: Request) -> Generator[int, None, None]:
        return self.front.engine.generate(request, self._is_gone)

    def _is_gone(self) -> bool:
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _chunks(self, events: Any) -> None:
        self.wfile.write(b"".join(b"%x\r\n%s\r\n" % (len(data), data) for data in events))

    def _answer(self, status: int, data: dict[str, Any], **headers: str) -> None:
        self._send(status, json.dumps(data, separators=(",", ":")).encode(), JSON, **headers)

    def _send(self, status: int, body: bytes | None, content_type: str, **headers: str) -> None:
        """The head and `body`; None announces a stream."""
        phrase = HTTPStatus(status).phrase
        if self.front.config.access_log:
            client = "{}:{}".format(*self.client_address[:2])
            self.front.log.access(client, f"{self.command} {self.path}", f"{status} {phrase}")
        lines = [f"HTTP/1.1 {status} {phrase}", f"date: {formatdate(usegmt=True)}", "server: uvicorn"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += ["transfer-encoding: chunked"] if body is None else [f"content-length: {len(body)}"]
        lines += [f"content-type: {content_type}"] if content_type else []
        lines += ["vary: Origin", *(["connection: close"] if self.close_connection else []), "", ""]
        body = b"" if self.command == "HEAD" else body
        self.wfile.write("\r\n".join(lines).encode() + (body or b""))


DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."


def _failed(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "InternalServerError", "param": None, "code": 500}}
