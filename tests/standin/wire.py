# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of the stand-in hand to each other: a request, its caller, its answer, and the error that ends it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

XML = "application/xml"
JSON = "application/json"


class ApiError(Exception):
    """An answer that is an error, rendered as S3 does. Without a message that element is left out, as there."""

    def __init__(self, status: int, code: str, message: str = "", headers: dict[str, str] | None = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code, self.message, self.headers = status, code, message, headers or {}


@dataclass(frozen=True)
class Caller:
    """Who signed. `user` is the access key, or the parent of a service account; `owner` is true for the root keys
    and for service accounts of root. An anonymous request has no caller (None)."""

    access_key: str
    owner: bool
    user: str


class BodyStream:
    """The decoded body of a request, read once. Raises ApiError when it is cut short or does not fit its hash.

    `length` is the number of decoded bytes announced; `trailers` are known at the end.
    """

    def __init__(self, read: Callable[[int], bytes], length: int, trailers: dict[str, str] | None = None) -> None:
        self._read, self.length = read, length
        self.trailers = {} if trailers is None else trailers

    def read(self, size: int) -> bytes:
        """At most `size` bytes; b"" at the end, which is reached only when everything announced was right."""
        return self._read(size)

    def read_all(self, limit: int = 1 << 20) -> bytes:
        """All of a small body. Raises ApiError when it is longer than `limit` bytes."""
        if self.length > limit:
            raise ApiError(400, "InvalidRequest", f"request body too large: {self.length} bytes, at most {limit}")
        pieces = []
        while piece := self._read(1 << 16):
            pieces.append(piece)
        return b"".join(pieces)


def _empty(_size: int) -> bytes:
    return b""


@dataclass
class Request:
    """A request whose signature is right. `path` is decoded and `raw_path` as sent; `query` are decoded pairs in
    order; `headers` have lower-case names; `address` is the client's."""

    method: str
    path: str
    raw_path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: BodyStream = field(default_factory=lambda: BodyStream(_empty, 0))
    caller: Caller | None = None
    address: str = ""
    secure: bool = False
    raw_query: str = ""

    def argument(self, *names: str) -> str | None:
        """The first value of any of these query parameters; None when none is there."""
        return next((value for name, value in self.query if name in names), None)

    def has(self, name: str) -> bool:
        """Whether the query has this parameter, with or without a value."""
        return any(name == given for given, _ in self.query)


@dataclass
class Response:
    """An answer. A body that is no bytes needs `content-length` among the headers."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | Iterable[bytes] = b""

    def close(self) -> None:
        """Called once it is sent, or cannot be: what the body holds is let go."""
        closing = getattr(self.body, "close", None)
        if closing:
            closing()


def json_response(value: Any, status: int = 200) -> Response:
    """A value as the admin API writes it: without blanks."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Response(status, {"content-type": JSON}, text.encode())


def xml_response(text: str, status: int = 200) -> Response:
    """The text of one XML element as a document."""
    return Response(status, {"content-type": XML}, f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode())


def xml_text(value: object) -> str:
    """A value as the text of an element."""
    return escape(str(value), {'"': "&quot;", "'": "&apos;"})


def error_response(error: ApiError) -> Response:
    """An error as S3 writes it, which is what the admin API answers, too."""
    message = f"<Message>{xml_text(error.message)}</Message>" if error.message else ""
    response = xml_response(f"<Error><Code>{error.code}</Code>{message}</Error>", error.status)
    response.headers.update(error.headers)
    return response
