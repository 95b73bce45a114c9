# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects: read, written, described."""

from __future__ import annotations

import email.utils
import json
import re
import sqlite3
from dataclasses import dataclass

from . import s3_copy
from .s3_blobs import Held
from .s3_call import Call
from .s3_checksums import header
from .s3_headers import stored_headers, stored_tags, version_headers
from .s3_names import check_key
from .s3_payload import asked_algorithms, receive
from .s3_versions import NewObject, blob_list, check_write, store, wanted
from .s3_xml import document, element, tagging, tags_of
from .wire import ApiError, Response

RANGE = re.compile(r"bytes=(\d*)-(\d*)")
OVERRIDES = ("content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding")


@dataclass(frozen=True)
class Span:
    """Which bytes are answered, and whether as 206."""

    start: int
    length: int
    partial: bool


def get(call: Call) -> Response:
    """GET and HEAD of an object. HEAD asks for s3:GetObject, also with a versionId."""
    version, only_head = call.request.argument("versionId"), call.request.method == "HEAD"
    call.require("s3:GetObjectVersion" if version and not only_head else "s3:GetObject")
    check_key(call.key)
    while True:
        row = wanted(call, call.bucket, call.key, version)
        _check_conditions(call, row)
        span = _span(call, row)
        response = Response(206 if span.partial else 200, _headers(call, row, span))
        if only_head:
            return response
        blobs = blob_list(row)
        if call.store.blobs.hold(name for name, _ in blobs):  # else it was replaced just now: look again
            response.body = Held(call.store.blobs, blobs, span.start, span.length)
            return response


def _headers(call: Call, row: sqlite3.Row, span: Span) -> dict[str, str]:
    headers = json.loads(row["headers"])
    headers |= {
        "content-length": str(span.length),
        "etag": f'"{row["etag"]}"',
        "last-modified": email.utils.formatdate(row["modified"], usegmt=True),
        "accept-ranges": "bytes",
        **version_headers(row["version"]),
    }
    if span.partial:
        headers["content-range"] = f"bytes {span.start}-{span.start + span.length - 1}/{row['size']}"
    if row["tags"]:
        headers["x-amz-tagging-count"] = str(len(json.loads(row["tags"])))
    checksums = json.loads(row["checksums"])
    if call.request.headers.get("x-amz-checksum-mode", "").upper() == "ENABLED" and not span.partial:
        headers |= {header(name): value for name, value in checksums.items() if name != "type"}
        headers |= {"x-amz-checksum-type": checksums["type"]} if "type" in checksums else {}
    for name in OVERRIDES:
        value = call.request.argument(f"response-{name}")
        if value:
            headers[name] = value
    return {name: value for name, value in headers.items() if isinstance(value, str)}


def _check_conditions(call: Call, row: sqlite3.Row) -> None:
    """RFC 9110, 13.2.2. Raises ApiError 412 or 304."""
    asked = call.request.headers
    failed, unchanged = ApiError(412, "PreconditionFailed"), False
    if "if-match" in asked:
        if not _matches(asked["if-match"], row["etag"]):
            raise failed
    elif "if-unmodified-since" in asked and _newer(row, asked["if-unmodified-since"]):
        raise failed
    if "if-none-match" in asked:
        unchanged = _matches(asked["if-none-match"], row["etag"])
    elif "if-modified-since" in asked:
        unchanged = _newer(row, asked["if-modified-since"]) is False
    if unchanged:
        raise ApiError(304, "NotModified", headers={"etag": f'"{row["etag"]}"'})


def _matches(asked: str, etag: str) -> bool:
    return asked.strip() == "*" or etag in [one.strip().removeprefix("W/").strip('"') for one in asked.split(",")]


def _newer(row: sqlite3.Row, when: str) -> bool | None:
    try:
        return int(row["modified"]) > email.utils.parsedate_to_datetime(when).timestamp()
    except ValueError:
        return None


def _span(call: Call, row: sqlite3.Row) -> Span:
    size, asked, part = row["size"], call.request.headers.get("range"), call.request.argument("partNumber")
    if part and call.request.method == "GET":
        sizes = [length for _, length in blob_list(row)] or [0]
        if not part.isdigit() or not 1 <= int(part) <= len(sizes):
            raise ApiError(416, "InvalidPartNumber", "The requested partnumber is not satisfiable")
        return Span(sum(sizes[: int(part) - 1]), sizes[int(part) - 1], bool(size))
    if asked is None:
        return Span(0, size, False)
    found = RANGE.fullmatch(asked)
    first, last = found.groups() if found else ("", "")
    if not found or not first + last or (first and last and int(first) > int(last)):
        raise ApiError(400, "InvalidArgument", f'invalid header: range: "{asked}"')
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last), size - 1) if first and last else size - 1
    if start >= size or (not first and not int(last)):
        raise ApiError(416, "InvalidRange", "The requested range is not satisfiable")
    return Span(start, end - start + 1, True)


def put(call: Call) -> Response:
    """A new object, or a copy of one."""
    if "x-amz-copy-source" in call.request.headers:
        return s3_copy.copy(call)
    call.require("s3:PutObject")
    check_key(call.key)
    headers, tags = stored_headers(call), stored_tags(call)
    check_write(call.store.database.read(), call, call.request.body.length)
    received = receive(call)
    checksums = {name: received.checksums[name] for name in asked_algorithms(call)}
    blobs = [(received.name, received.size)]
    new = NewObject(received.size, received.md5, headers, blobs, checksums, tags)
    try:
        with call.store.database.write() as connection:
            bucket = check_write(connection, call, received.size)
            version, gone = store(connection, bucket, call.key, new)
    except BaseException:
        call.store.blobs.discard([received.name])
        raise
    call.store.blobs.discard(gone)
    sums = {header(name): value for name, value in checksums.items()}
    return Response(200, {"etag": f'"{received.md5}"', **sums, **version_headers(version)})


def attributes(call: Call) -> Response:
    """GetObjectAttributes, which takes a right of its own besides that of reading."""
    version = call.request.argument("versionId")
    for action in ("s3:GetObjectVersionAttributes", "s3:GetObjectVersion") if version else _READ_ATTRIBUTES:
        call.require(action)
    check_key(call.key)
    row = wanted(call, call.bucket, call.key, version)
    asked = [name.strip() for name in call.request.headers.get("x-amz-object-attributes", "").split(",")]
    sums = json.loads(row["checksums"])
    inside = "".join(element(f"Checksum{name}", value) for name, value in sums.items() if name != "type")
    inside += element("ChecksumType", sums.get("type"))
    count = len(blob_list(row)) if "-" in row["etag"] else 0
    parts = {
        "Checksum": f"<Checksum>{inside}</Checksum>" if inside else "",
        "ETag": element("ETag", row["etag"]),
        "ObjectParts": f"<ObjectParts>{element('TotalPartsCount', count)}</ObjectParts>" if count else "",
        "ObjectSize": element("ObjectSize", row["size"]),
        "StorageClass": element("StorageClass", "STANDARD"),
    }
    response = document("GetObjectAttributesResponse", *(text for name, text in parts.items() if name in asked))
    response.headers["last-modified"] = email.utils.formatdate(row["modified"], usegmt=True)
    response.headers |= version_headers(row["version"])
    return response


_READ_ATTRIBUTES = ("s3:GetObjectAttributes", "s3:GetObject")


def get_tagging(call: Call) -> Response:
    call.require("s3:GetObjectTagging")
    row = wanted(call, call.bucket, call.key, call.request.argument("versionId"))
    return tagging(json.loads(row["tags"] or "{}"))


def put_tagging(call: Call) -> Response:
    call.require("s3:PutObjectTagging")
    _set_tags(call, json.dumps(tags_of(call.request.body.read_all())))
    return Response()


def delete_tagging(call: Call) -> Response:
    call.require("s3:DeleteObjectTagging")
    _set_tags(call, None)
    return Response(204)


def _set_tags(call: Call, tags: str | None) -> None:
    with call.store.database.write() as connection:
        row = wanted(call, call.bucket, call.key, call.request.argument("versionId"))
        connection.execute("UPDATE versions SET tags = ? WHERE sequence = ?", (tags, row["sequence"]))
