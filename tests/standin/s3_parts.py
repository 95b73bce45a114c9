# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of an upload."""

from __future__ import annotations

import json
import time

from . import s3_copy
from .s3_blobs import Received
from .s3_call import Call
from .s3_checksums import header
from .s3_payload import asked_algorithms, receive
from .s3_uploads import find_upload
from .s3_xml import INITIATOR, OWNER, document, element, etag, moment
from .wire import ApiError, Response

MOST = 1000
LAST_NUMBER = 10000
LARGEST = 5 << 30  # bytes


def _number(call: Call) -> int:
    text = call.request.argument("partNumber") or ""
    if not text.isdigit() or not 1 <= int(text) <= LAST_NUMBER:
        raise ApiError(400, "InvalidArgument", f"partNumber must be between 1 and {LAST_NUMBER}")
    return int(text)


def upload_part(call: Call) -> Response:
    """UploadPart and UploadPartCopy. A part of the same number is replaced."""
    if "x-amz-copy-source" in call.request.headers:
        return _copy_part(call)
    call.require("s3:PutObject")
    number = _number(call)
    upload = find_upload(call, call.store.database.read())
    if call.request.body.length > LARGEST:
        raise ApiError(400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
    asked = asked_algorithms(call)
    received = receive(call, *([upload["algorithm"]] if upload["algorithm"] else []))
    _keep(call, number, received)
    sums = {header(name): received.checksums[name] for name in asked}
    return Response(200, {"etag": f'"{received.md5}"', **sums})


def _copy_part(call: Call) -> Response:
    row = s3_copy.find_source(call)
    number = _number(call)
    upload = find_upload(call, call.store.database.read())
    held, body = s3_copy.opened(call, row)
    try:
        received = call.store.blobs.receive(body, [upload["algorithm"]] if upload["algorithm"] else [])
    finally:
        held.close()
    when = _keep(call, number, received)
    return document("CopyPartResult", etag(received.md5), element("LastModified", moment(when)), plain=True)


def _keep(call: Call, number: int, received: Received) -> float:
    now = time.time()
    try:
        with call.store.database.write() as connection:
            upload = find_upload(call, connection)
            replaced = connection.execute(
                "SELECT blob FROM parts WHERE upload = ? AND number = ?", (upload["id"], number)
            ).fetchall()
            connection.execute(
                "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(upload["id"], number, received.size, received.md5, now),
                    *(json.dumps(received.checksums), received.name),
                ),
            )
    except BaseException:
        call.store.blobs.discard([received.name])
        raise
    call.store.blobs.discard(row["blob"] for row in replaced)
    return now


def list_parts(call: Call) -> Response:
    """What arrived of an upload, so that it can go on."""
    call.require("s3:ListMultipartUploadParts")
    most = call.number("max-parts", MOST, MOST, "Invalid max parts")
    marker = call.number("part-number-marker", 0, LAST_NUMBER, "Invalid part number marker")
    connection = call.store.database.read()
    upload = find_upload(call, connection)
    rows = connection.execute(
        "SELECT * FROM parts WHERE upload = ? AND number > ? ORDER BY number LIMIT ?", (upload["id"], marker, most + 1)
    ).fetchall()
    truncated = 0 < most < len(rows)
    rows = rows[:most]
    parts = []
    for row in rows:
        sums = "".join(element(f"Checksum{name}", value) for name, value in json.loads(row["checksums"]).items())
        when = element("LastModified", moment(row["modified"]))
        numbers = f"{element('PartNumber', row['number'])}{element('Size', row['size'])}"
        parts.append(f"<Part>{sums}{etag(row['etag'])}{when}{numbers}</Part>")
    return document(
        "ListPartsResult",
        element("Bucket", call.bucket),
        element("ChecksumAlgorithm", upload["algorithm"] or None),
        element("ChecksumType", upload["checksum_type"] or None),
        INITIATOR,
        element("IsTruncated", truncated),
        element("Key", call.key),
        element("MaxParts", most),
        element("NextPartNumberMarker", rows[-1]["number"] if truncated else 0),
        OWNER,
        element("PartNumberMarker", marker),
        *parts,
        element("StorageClass", "STANDARD"),
        element("UploadId", upload["id"]),
    )
