# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in chunks (`aws-chunked`): their lengths, signatures and the checksum at their end are verified."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
import zlib

import pytest

from tests.contract.s3_server import Server, Shelf


def chunked(pieces: list[bytes], trailer: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n" + trailer + b"\r\n"


def streaming(length: int, trailer: str) -> dict[str, str]:
    return {
        "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "content-encoding": "aws-chunked",
        "x-amz-decoded-content-length": str(length),
        "x-amz-trailer": trailer,
    }


def test_a_checksum_at_the_end_of_chunks_is_verified(server: Server, shelf: Shelf) -> None:
    pieces = [b"a" * 70_000, b"b" * 65_536, b"c"]
    whole, path = b"".join(pieces), f"/{shelf.bucket}/k"
    right = base64.b64encode(zlib.crc32(whole).to_bytes(4, "big"))
    headers = streaming(len(whole), "x-amz-checksum-crc32")
    wrong = server.ask("PUT", path, body=chunked(pieces, b"x-amz-checksum-crc32:AAAAAA==\r\n"), headers=headers)
    assert (wrong.status, wrong.code) == (400, "BadDigest")
    missing = server.ask("PUT", path, body=chunked(pieces, b""), headers=headers)
    assert missing.status == 400
    assert shelf.keys() == {}
    body = chunked(pieces, b"x-amz-checksum-crc32:" + right + b"\r\n")
    assert server.ask("PUT", path, body=body, headers=headers).status == 200
    assert shelf.content("k") == whole
    assert "content-encoding" not in server.ask("HEAD", path).headers


def test_chunks_that_do_not_add_up_are_refused(server: Server, shelf: Shelf) -> None:
    body, path = chunked([b"0123456789"], b""), f"/{shelf.bucket}/k"
    for length in (9, 11):
        assert server.ask("PUT", path, body=body, headers=streaming(length, "")).status >= 400
    assert shelf.keys() == {}


@pytest.mark.parametrize("right", [True, False])
def test_signatures_of_chunks_are_verified(server: Server, shelf: Shelf, right: bool) -> None:
    """The form of older SDKs over plain HTTP."""
    kind, path, pieces = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", f"/{shelf.bucket}/k", [b"x" * 65_536, b"end", b""]
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    scope = f"{moment[:8]}/us-east-1/s3/aws4_request"
    host = server.endpoint.partition("://")[2]
    headers = {
        "host": host,
        "x-amz-content-sha256": kind,
        "x-amz-date": moment,
        "x-amz-decoded-content-length": "65539",
    }
    names, empty = ";".join(headers), hashlib.sha256(b"").hexdigest()
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    canonical = hashlib.sha256(f"PUT\n{path}\n\n{lines}\n{names}\n{kind}".encode()).hexdigest()
    key = f"AWS4{server.secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")

    def sign(text: str) -> str:
        return hmac.new(key, text.encode(), "sha256").hexdigest()

    first = previous = sign(f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{canonical}")
    body = b""
    for piece in pieces:
        digest = hashlib.sha256(piece).hexdigest()
        previous = sign(f"AWS4-HMAC-SHA256-PAYLOAD\n{moment}\n{scope}\n{previous}\n{empty}\n{digest}")
        body += b"%x;chunk-signature=%s\r\n%s\r\n" % (len(piece), previous.encode(), piece)
    body = body if right else body.replace(b"\r\nend\r\n", b"\r\nEND\r\n")
    credential = f"Credential={server.access_key}/{scope}"
    headers["authorization"] = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={names}, Signature={first}"
    answer = server.ask("PUT", path, body=body, headers=headers, signed=False)
    assert (answer.status == 200) is right
    assert shelf.keys() == ({"k": 65_539} if right else {})
