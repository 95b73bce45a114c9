# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Multipart uploads: started, listed, given up."""

from __future__ import annotations

import base64
import json
import sqlite3
import time
import uuid

from .s3_call import Call
from .s3_checksums import ALGORITHMS, POLYNOMIALS
from .s3_headers import stored_headers, stored_tags
from .s3_names import after, check_key, check_prefix
from .s3_xml import INITIATOR, OWNER, document, element, moment, url
from .wire import ApiError, Response

MOST = 1000


def no_such_upload() -> ApiError:
    message = "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been"
    return ApiError(404, "NoSuchUpload", f"{message} aborted or completed.")


def find_upload(call: Call, connection: sqlite3.Connection) -> sqlite3.Row:
    """The open upload that the request names. Raises ApiError 404."""
    values = (call.request.argument("uploadId"), call.bucket, call.key)
    call.here(connection)
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?", values
    ).fetchone()
    if row is None:
        raise no_such_upload()
    return row


def checksum_kind(call: Call) -> tuple[str, str]:
    """The algorithm and type that a new upload asks for ("" for none). Raises ApiError for a pair that cannot be."""
    algorithm = call.request.headers.get("x-amz-checksum-algorithm", "").upper()
    kind = call.request.headers.get("x-amz-checksum-type", "").upper()
    if not algorithm:
        return "", ""
    if algorithm not in ALGORITHMS:
        raise ApiError(400, "InvalidArgument", f"unsupported checksum algorithm: {algorithm}")
    kind = kind or ("FULL_OBJECT" if algorithm == "CRC64NVME" else "COMPOSITE")
    possible = ["FULL_OBJECT"] if algorithm in POLYNOMIALS else []
    possible += ["COMPOSITE"] if algorithm != "CRC64NVME" else []
    if kind not in possible:
        raise ApiError(400, "InvalidRequest", f"The {kind} checksum type cannot be used with the {algorithm} algorithm")
    return algorithm, kind


def start(call: Call) -> Response:
    """CreateMultipartUpload."""
    call.require("s3:PutObject")
    check_key(call.key)
    algorithm, kind = checksum_kind(call)
    headers, tags = stored_headers(call, multipart=True), stored_tags(call)
    unique = f"{call.store.settings.deployment_id}.{uuid.uuid4()}x{time.time_ns()}"
    upload = base64.b64encode(unique.encode()).decode().rstrip("=")
    with call.store.database.write() as connection:
        call.here(connection)
        connection.execute(
            "INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (upload, call.bucket, call.key, time.time(), json.dumps(headers), json.dumps(tags), algorithm, kind),
        )
    response = document(
        "InitiateMultipartUploadResult",
        element("Bucket", call.bucket),
        element("Key", call.key),
        element("UploadId", upload),
    )
    if algorithm:
        response.headers |= {"x-amz-checksum-algorithm": algorithm, "x-amz-checksum-type": kind}
    return response


def abort(call: Call) -> Response:
    """Give an upload up; its parts are gone."""
    call.require("s3:AbortMultipartUpload")
    with call.store.database.write() as connection:
        upload = find_upload(call, connection)
        blobs = connection.execute("SELECT blob FROM parts WHERE upload = ?", (upload["id"],)).fetchall()
        connection.execute("DELETE FROM uploads WHERE id = ?", (upload["id"],))
    call.store.blobs.discard(row["blob"] for row in blobs)
    return Response(204)


def list_uploads(call: Call) -> Response:
    """Open uploads by key, then by age."""
    call.require("s3:ListBucketMultipartUploads")
    asked = call.request
    prefix, delimiter = asked.argument("prefix") or "", asked.argument("delimiter") or ""
    key_marker, id_marker = asked.argument("key-marker") or "", asked.argument("upload-id-marker") or ""
    most = call.number("max-uploads", MOST, MOST, "Invalid max uploads")
    check_prefix(prefix)
    connection = call.store.database.read()
    call.here()
    end = after(prefix)
    marked = connection.execute("SELECT started FROM uploads WHERE id = ?", (id_marker,)).fetchone()
    rows = connection.execute(
        "SELECT * FROM uploads WHERE bucket = ? AND key >= ? AND (? IS NULL OR key < ?)"
        " AND (key > ? OR (key = ? AND ? AND (started, id) > (?, ?)) OR ? = '')"
        " ORDER BY key, started, id",
        (
            *(call.bucket, prefix, end, end, key_marker, key_marker),
            *(bool(id_marker), marked["started"] if marked else 0, id_marker, key_marker),
        ),
    )
    found: list[sqlite3.Row] = []
    common: dict[str, None] = {}
    truncated = False
    for row in rows:
        place = row["key"].find(delimiter, len(prefix)) if delimiter else -1
        group = row["key"][: place + len(delimiter)] if place >= 0 else ""
        if group in common or (group and group == key_marker):
            continue
        if len(found) + len(common) >= most:
            truncated = most > 0
            break
        if group:
            common[group] = None
        else:
            found.append(row)
    encode = asked.argument("encoding-type") == "url"
    shown = url if encode else str
    last = found[-1] if found else None
    return document(
        "ListMultipartUploadsResult",
        element("Bucket", call.bucket),
        "".join(f"<CommonPrefixes>{element('Prefix', shown(one))}</CommonPrefixes>" for one in common),
        element("Delimiter", delimiter or None),
        element("EncodingType", "url" if encode else None),
        element("IsTruncated", truncated),
        element("KeyMarker", shown(key_marker) if key_marker else None),
        element("MaxUploads", most),
        element("NextKeyMarker", shown(max([last["key"] if last else "", *common])) if truncated else None),
        element("NextUploadIdMarker", last["id"] if truncated and last else None),
        element("Prefix", shown(prefix)),
        element("UploadIdMarker", id_marker or None),
        "".join(
            f"<Upload>{element('Initiated', moment(row['started']))}{INITIATOR}{element('Key', shown(row['key']))}"
            f"{OWNER}{element('UploadId', row['id'])}</Upload>"
            for row in found
        ),
    )
