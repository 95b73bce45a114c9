# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects, and parts of uploads, made from objects that are there."""

from __future__ import annotations

import json
import re
import sqlite3
from urllib.parse import unquote

from .s3_blobs import Held
from .s3_call import Call
from .s3_headers import stored_headers, stored_tags, version_headers
from .s3_names import check_bucket, check_key
from .s3_versions import NewObject, blob_list, check_write, store, wanted
from .s3_xml import document, element, etag, moment
from .wire import ApiError, BodyStream, Response

RANGE = re.compile(r"bytes=(\d+)-(\d+)")


def find_source(call: Call) -> sqlite3.Row:
    """The object of x-amz-copy-source, which the caller may read. Raises ApiError."""
    path, _, query = call.request.headers["x-amz-copy-source"].partition("?")
    bucket, _, key = unquote(path).removeprefix("/").partition("/")
    version = query.removeprefix("versionId=") if query.startswith("versionId=") else None
    if not key:
        raise ApiError(400, "InvalidArgument", "invalid header: x-amz-copy-source")
    check_bucket(bucket)
    call.require("s3:GetObjectVersion" if version else "s3:GetObject", bucket, key)
    call.require("s3:PutObject")
    check_key(key)
    check_key(call.key)
    row = wanted(call, bucket, key, version)
    only = call.request.headers.get("x-amz-copy-source-if-match")
    unless = call.request.headers.get("x-amz-copy-source-if-none-match")
    if (only and only.strip('"') != row["etag"]) or (unless and unless.strip('"') == row["etag"]):
        raise ApiError(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
    return row


def opened(call: Call, row: sqlite3.Row) -> tuple[Held, BodyStream]:
    """The bytes of a source (or of its x-amz-copy-source-range) as a body; the first is to be closed."""
    start, length = 0, row["size"]
    asked = call.request.headers.get("x-amz-copy-source-range")
    if asked:
        found = RANGE.fullmatch(asked)
        if not found or not int(found[1]) <= int(found[2]) < row["size"]:
            raise ApiError(416, "InvalidRange", "The requested range is not satisfiable")
        start, length = int(found[1]), int(found[2]) - int(found[1]) + 1
    blobs = blob_list(row)
    if not call.store.blobs.hold(name for name, _ in blobs):
        raise ApiError(404, "NoSuchKey", "The specified key does not exist.")
    held = Held(call.store.blobs, blobs, start, length)
    pieces = iter(held)
    return held, BodyStream(lambda _size: next(pieces, b""), length)


def copy(call: Call) -> Response:
    """CopyObject. The bytes are written anew; tags and metadata come along unless they are replaced."""
    row = find_source(call)
    replace = call.request.headers.get("x-amz-metadata-directive", "COPY").upper() == "REPLACE"
    same = (row["bucket"], row["key"]) == (call.bucket, call.key) and row["latest"]
    if same and not replace:
        reason = "Cannot copy an object to itself. Source and destination must be different."
        raise ApiError(400, "InvalidRequest", reason)
    replace_tags = call.request.headers.get("x-amz-tagging-directive", "COPY").upper() == "REPLACE"
    tags = stored_tags(call) if replace_tags else json.loads(row["tags"] or "null")
    headers = stored_headers(call) if replace else json.loads(row["headers"])
    headers = {name: value for name, value in headers.items() if replace or not name.startswith("x-amz-object-lock")}
    sums = json.loads(row["checksums"])
    algorithms = [name for name in sums if name != "type"]
    check_write(call.store.database.read(), call, row["size"])
    held, body = opened(call, row)
    try:
        received = call.store.blobs.receive(body, algorithms)
    finally:
        held.close()
    blobs = [(received.name, received.size)]
    new = NewObject(received.size, received.md5, headers, blobs, received.checksums, tags)
    try:
        with call.store.database.write() as connection:
            bucket = check_write(connection, call, received.size)
            version, gone = store(connection, bucket, call.key, new)
            written = connection.execute(
                "SELECT modified FROM versions WHERE bucket = ? AND key = ? AND latest = 1", (call.bucket, call.key)
            ).fetchone()
    except BaseException:
        call.store.blobs.discard([received.name])
        raise
    call.store.blobs.discard(gone)
    inside = "".join(element(f"Checksum{name}", value) for name, value in received.checksums.items())
    response = document(
        "CopyObjectResult", inside, etag(received.md5), element("LastModified", moment(written["modified"])), plain=True
    )
    response.headers |= version_headers(version)
    return response
