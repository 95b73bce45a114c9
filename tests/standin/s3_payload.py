# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The body of a write: received, with what the client said of it verified."""

from __future__ import annotations

import base64
import binascii
import hashlib

from .s3_blobs import Received
from .s3_call import Call
from .s3_checksums import ALGORITHMS, encoded, header, running
from .wire import ApiError

LARGEST = 5 << 40  # bytes


def asked_algorithms(call: Call) -> dict[str, str | None]:
    """The checksums that come with a body, in its headers or (None) at its end."""
    headers = call.request.headers
    found: dict[str, str | None] = {
        algorithm: headers[header(algorithm)] for algorithm in ALGORITHMS if header(algorithm) in headers
    }
    for name in headers.get("x-amz-trailer", "").lower().replace(" ", "").split(","):
        found |= {algorithm: None for algorithm in ALGORITHMS if name == header(algorithm)}
    return found


def receive(call: Call, *more: str) -> Received:
    """The body as a file on the disk. `more` are algorithms to compute in any case.

    Raises ApiError when a checksum or Content-MD5 does not fit (nothing is kept then).
    """
    body, expected = call.request.body, asked_algorithms(call)
    if body.length > LARGEST:
        raise ApiError(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
    received = call.store.blobs.receive(body, {*expected, *more})
    try:
        for algorithm, value in expected.items():
            value = body.trailers.get(header(algorithm), "") if value is None else value
            if received.checksums[algorithm] != value:
                message = "The Content-Md5 you specified did not match what we received."
                raise ApiError(400, "BadDigest", message)
        _check_md5(call.request.headers.get("content-md5"), received.md5)
    except ApiError:
        call.store.blobs.discard([received.name])
        raise
    return received


def _check_md5(said: str | None, found: str) -> None:
    """The server's answer to an MD5 that does not fit is a 500."""
    if said is None:
        return
    try:
        digest = base64.b64decode(said, validate=True)
    except binascii.Error:
        digest = b""
    if len(digest) != 16:
        raise ApiError(400, "InvalidDigest", "The Content-MD5 you specified is not valid.")
    if digest.hex() != found:
        raise ApiError(500, "InternalError", "We encountered an internal error, please try again.")


def check_body(call: Call, body: bytes) -> None:
    """The same for a body that is kept in memory."""
    for algorithm, value in asked_algorithms(call).items():
        whole = running(algorithm)
        whole.update(body)
        if encoded(whole.digest()) != (call.request.body.trailers.get(header(algorithm)) if value is None else value):
            message = "The Content-Md5 you specified did not match what we received."
            raise ApiError(400, "BadDigest", message)
    _check_md5(call.request.headers.get("content-md5"), hashlib.md5(body, usedforsecurity=False).hexdigest())
