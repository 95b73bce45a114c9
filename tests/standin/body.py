# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The body of a request: plain, or in the chunks of `aws-chunked`, with its hashes and signatures verified."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import BinaryIO

from .sigv4 import EMPTY, UNSIGNED, Signature, does_not_match
from .wire import ApiError, BodyStream

LONGEST_LINE = 8192
LARGEST_CHUNK = 1 << 30


class Source:
    """The bytes of one request on its connection. `before_first` asks the client to go on (100-continue)."""

    def __init__(self, stream: BinaryIO, length: int, go_on: bytes = b"", reply: BinaryIO | None = None) -> None:
        self._stream, self.remaining, self._go_on, self._reply = stream, length, go_on, reply

    def _start(self) -> None:
        if self._go_on and self._reply:
            self._reply.write(self._go_on)
            self._reply.flush()
            self._go_on = b""

    @property
    def unasked(self) -> bool:
        """Whether the client still waits to be asked for its body."""
        return bool(self._go_on)

    def read(self, size: int) -> bytes:
        """At most `size` bytes, b"" at the end. Raises ApiError when the client stopped early."""
        size = min(size, self.remaining)
        if not size:
            return b""
        self._start()
        data = self._stream.read(size)
        if not data:
            self.remaining = 0
            raise ApiError(400, "IncompleteBody", "The request body ended before its announced length")
        self.remaining -= len(data)
        return data

    def line(self) -> bytes:
        """One line without its end."""
        self._start()
        data = self._stream.readline(min(LONGEST_LINE, self.remaining))
        self.remaining -= len(data)
        if not data.endswith(b"\n"):
            raise ApiError(400, "IncompleteBody", "The request body ended within a line")
        return data.rstrip(b"\r\n")


def open_body(
    source: Source, headers: Mapping[str, str], signature: Signature | None, secret: str, *, admin: bool
) -> BodyStream:
    """The decoded body. Raises ApiError for a hash or a framing that it does not know."""
    payload = signature.payload if signature else headers.get("x-amz-content-sha256", UNSIGNED)
    if payload.startswith("STREAMING-"):
        return _Chunks(source, headers, payload, signature, secret).stream()
    length = source.remaining
    if payload == UNSIGNED:
        return BodyStream(source.read, length)
    return BodyStream(_hashed(source, _sha256(payload), admin), length)


def _sha256(payload: str) -> bytes:
    try:
        digest = bytes.fromhex(payload) if len(payload) == 64 else base64.b64decode(payload, validate=True)
    except (ValueError, binascii.Error):
        digest = b""
    if len(digest) != 32:
        raise ApiError(400, "InvalidArgument", "invalid header: x-amz-content-sha256")
    return digest


class _hashed:
    """Reads a source and compares its SHA-256 at the end."""

    def __init__(self, source: Source, expected: bytes, admin: bool) -> None:
        self._source, self._expected, self._admin, self._sha256 = source, expected, admin, hashlib.sha256()

    def __call__(self, size: int) -> bytes:
        data = self._source.read(size)
        self._sha256.update(data)
        if not self._source.remaining and self._sha256.digest() != self._expected:
            if self._admin:
                reason = "failed to read request body: UploadStreamError: Sha256Mismatch"
                raise ApiError(400, "InvalidRequest", reason)
            reason = "The provided 'x-amz-content-sha256' header does not match what was computed."
            raise ApiError(400, "XAmzContentSHA256Mismatch", reason)
        return data


class _Chunks:
    """`<hex size>[;chunk-signature=<hex>]`, the bytes, and so on to a chunk of 0 bytes and the trailers."""

    def __init__(
        self, source: Source, headers: Mapping[str, str], payload: str, signature: Signature | None, secret: str
    ) -> None:
        kinds = ("STREAMING-UNSIGNED-PAYLOAD-TRAILER",)
        signed = ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
        if payload not in kinds + signed:
            raise ApiError(501, "NotImplemented", f"unsupported x-amz-content-sha256: {payload}")
        length = headers.get("x-amz-decoded-content-length", "")
        if not length.isdigit():
            raise ApiError(411, "MissingContentLength", "missing header: x-amz-decoded-content-length")
        self._source, self._length, self._read_so_far = source, int(length), 0
        self._left, self._ended, self.trailers = 0, False, dict[str, str]()
        self._signature = signature if payload in signed else None
        self._key = signature.key(secret) if signature else b""
        self._previous = signature.signature if signature else ""
        self._chunk, self._expected = hashlib.sha256(), ""

    def stream(self) -> BodyStream:
        return BodyStream(self._read, self._length, self.trailers)

    def _read(self, size: int) -> bytes:
        if not self._left and not self._ended:
            self._next()
        if self._ended:
            return b""
        data = self._source.read(min(size, self._left))
        if not data:
            raise ApiError(400, "IncompleteBody", "The request body ended within a chunk")
        self._left -= len(data)
        self._read_so_far += len(data)
        if self._signature:
            self._chunk.update(data)
        if not self._left:
            self._finish_chunk()
            if self._read_so_far >= self._length:
                self._next()
        return data

    def _next(self) -> None:
        size, _, rest = self._source.line().partition(b";")
        try:
            self._left = int(size, 16)
        except ValueError:
            self._left = -1
        if not 0 <= self._left <= LARGEST_CHUNK:
            raise ApiError(400, "InvalidRequest", "invalid chunk size")
        self._expected = rest.removeprefix(b"chunk-signature=").decode("ascii", "replace")
        self._chunk = hashlib.sha256()
        if self._left:
            return
        self._ended = True
        if self._read_so_far != self._length:
            reason = "The body has another length than x-amz-decoded-content-length"
            raise ApiError(400, "IncompleteBody", reason)
        if self._signature:
            self._check("AWS4-HMAC-SHA256-PAYLOAD", f"{EMPTY}\n{self._chunk.hexdigest()}")
        self._read_trailers()

    def _finish_chunk(self) -> None:
        if self._source.line():
            raise ApiError(400, "InvalidRequest", "a chunk is longer than announced")
        if self._signature:
            self._check("AWS4-HMAC-SHA256-PAYLOAD", f"{EMPTY}\n{self._chunk.hexdigest()}")

    def _read_trailers(self) -> None:
        signed = ""
        while self._source.remaining and (line := self._source.line()):
            name, _, value = line.decode("utf-8", "replace").partition(":")
            name, value = name.strip().lower(), value.strip()
            if name == "x-amz-trailer-signature":
                self._expected = value
                if self._signature:
                    self._check("AWS4-HMAC-SHA256-TRAILER", hashlib.sha256(signed.encode()).hexdigest())
                continue
            self.trailers[name] = value
            signed += f"{name}:{value}\n"
        while self._source.remaining:
            self._source.read(self._source.remaining)

    def _check(self, kind: str, text: str) -> None:
        assert self._signature
        whole = f"{kind}\n{self._signature.time}\n{self._signature.scope}\n{self._previous}\n{text}"
        found = hmac.new(self._key, whole.encode(), "sha256").hexdigest()
        if not hmac.compare_digest(found, self._expected):
            raise does_not_match()
        self._previous = found
