# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One client's connection: HTTP/1.1 requests, one after the other, until either side has enough."""

from __future__ import annotations

import contextlib
import email.utils
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import BinaryIO, cast
from urllib.parse import unquote_to_bytes

from .body import Source
from .wire import ApiError, Response, error_response

LONGEST_LINE = 1 << 16
MOST_HEADERS = 200
IDLE = 75.0  # seconds
PIECE = 1 << 18
WORTH_DRAINING = 1 << 22  # bytes of a refused body that are read so that the connection lives on
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True)
class Head:
    """The first lines of a request, before anybody looked at the signature."""

    method: str
    raw_path: str
    path: str
    raw_query: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    address: str
    secure: bool


Handler = Callable[[Head, Source], Response]


def decoded(text: str) -> str:
    """Percent-decoded UTF-8 of a request line. Raises ApiError for other bytes."""
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeDecodeError:
        raise ApiError(400, "InvalidURI", "Couldn't parse the specified URI.") from None


class Connection:
    """Serves one socket with a handler. Closes when the client does, is idle, or sends what cannot be parsed."""

    def __init__(self, sock: socket.socket, address: str, handler: Handler, *, secure: bool) -> None:
        self._socket, self._address, self._handler, self._secure = sock, address, handler, secure
        self._input = cast(BinaryIO, sock.makefile("rb", PIECE))
        self._output = cast(BinaryIO, sock.makefile("wb", 0))
        self.busy = False

    def serve(self) -> None:
        """Until the end. Errors of the connection end it; they are nobody's concern."""
        self._socket.settimeout(IDLE)
        with contextlib.suppress(OSError, ValueError):
            while self._one():
                pass
        for part in (self._output, self._input):
            with contextlib.suppress(OSError, ValueError):
                part.close()

    def _one(self) -> bool:
        try:
            head = self._head()
            if head is None:
                return False
            self.busy = True
            source = self._source(head)
        except ApiError as error:
            self._send(error_response(error), "GET", close=True)
            return False
        response = self._handler(head, source)
        try:
            close = head.headers.get("connection", "").lower() == "close" or not self._drained(source)
            self._send(response, head.method, close=close)
        finally:
            response.close()
            self.busy = False
        return not close

    def _head(self) -> Head | None:
        line = self._input.readline(LONGEST_LINE)
        while line in (b"\r\n", b"\n"):
            line = self._input.readline(LONGEST_LINE)
        if not line:
            return None
        parts = line.decode("latin-1").rstrip("\r\n").split(" ")
        if len(parts) != 3 or not TOKEN.fullmatch(parts[0]) or not parts[2].startswith("HTTP/1."):
            raise ApiError(400, "InvalidRequest", "not an HTTP/1.1 request")
        headers: dict[str, str] = {}
        for _ in range(MOST_HEADERS + 1):
            line = self._input.readline(LONGEST_LINE)
            if line in (b"\r\n", b"\n"):
                break
            name, colon, value = line.decode("utf-8", "surrogateescape").partition(":")
            name = name.lower()
            if not colon or not TOKEN.fullmatch(name) or not line.endswith(b"\n"):
                raise ApiError(400, "InvalidRequest", "a header cannot be parsed")
            headers[name] = f"{headers[name]},{value.strip()}" if name in headers else value.strip()
        else:
            raise ApiError(400, "InvalidRequest", "too many headers")
        if parts[2] == "HTTP/1.0":
            headers.setdefault("connection", "close")
        raw_path, _, raw_query = parts[1].partition("?")
        query = [pair.partition("=") for pair in raw_query.split("&") if pair]
        pairs = [(decoded(name.replace("+", " ")), decoded(value.replace("+", " "))) for name, _, value in query]
        path = decoded(raw_path)
        return Head(parts[0], raw_path, path, raw_query, pairs, headers, self._address, self._secure)

    def _source(self, head: Head) -> Source:
        length = head.headers.get("content-length", "0")
        if "transfer-encoding" in head.headers or not length.isdigit():
            raise ApiError(411, "MissingContentLength", "You must provide the Content-Length HTTP header.")
        waits = head.headers.get("expect", "").lower() == "100-continue" and length != "0"
        go_on = b"HTTP/1.1 100 Continue\r\n\r\n" if waits else b""
        return Source(self._input, int(length), go_on, self._output)

    def _drained(self, source: Source) -> bool:
        """Whether the next request can be read: what is left of a refused body is read when it is little."""
        if source.unasked or source.remaining > WORTH_DRAINING:
            return not source.remaining
        with contextlib.suppress(ApiError):
            while source.read(PIECE):
                pass
        return True

    def _send(self, response: Response, method: str, *, close: bool) -> None:
        headers = dict(response.headers)
        body = response.body
        if isinstance(body, bytes) and response.status not in (204, 304):
            headers.setdefault("content-length", str(len(body)))
        headers["date"] = email.utils.formatdate(usegmt=True)
        headers["server"] = "RustFS"
        if close:
            headers["connection"] = "close"
        try:
            reason = HTTPStatus(response.status).phrase
        except ValueError:
            reason = "Unknown"
        lines = "".join(f"{name}: {' '.join(value.splitlines())}\r\n" for name, value in headers.items())
        start = f"HTTP/1.1 {response.status} {reason}\r\n{lines}\r\n".encode("utf-8", "surrogateescape")
        empty = method == "HEAD" or response.status in (204, 304)
        if empty or isinstance(body, bytes):
            self._socket.sendall(start if empty or not isinstance(body, bytes) else start + body)
        else:
            self._socket.sendall(start)
            for piece in body:
                self._socket.sendall(piece)
        if close:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
