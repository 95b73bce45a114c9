# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CompleteMultipartUpload: the parts become an object, or stay an open upload."""

from __future__ import annotations

import hashlib
import itertools
import json
import sqlite3
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from .s3_call import Call
from .s3_checksums import ALGORITHMS, composite, header, joined
from .s3_headers import version_headers
from .s3_uploads import find_upload
from .s3_versions import NewObject, check_write, store
from .s3_xml import document, element, etag, malformed, parsed, text_of
from .wire import ApiError, Response

SMALLEST = 5 << 20  # bytes of every part but the last
LARGEST_BODY = 8 << 20  # bytes: 10000 parts with their checksums


@dataclass(frozen=True)
class Named:
    """A part as the client names it; `checksums` as far as it gives them."""

    number: int
    etag: str
    checksums: dict[str, str]


def complete(call: Call) -> Response:
    """Raises ApiError when the parts do not fit, the conditions do not hold, or the quota has no room: the upload
    stays open then."""
    call.require("s3:PutObject")
    names = _named(parsed(call.request.body.read_all(LARGEST_BODY), "CompleteMultipartUpload"))
    with call.store.database.write() as connection:
        upload = find_upload(call, connection)
        found = {
            row["number"]: row
            for row in connection.execute("SELECT * FROM parts WHERE upload = ?", (upload["id"],)).fetchall()
        }
        rows = _chosen(names, found, upload)
        size = sum(row["size"] for row in rows)
        said = call.request.headers.get("x-amz-mp-object-size")
        if said is not None and said != str(size):
            raise ApiError(400, "InvalidRequest", "The parts have another size than x-amz-mp-object-size")
        checksums = _checksums(call, upload, rows)
        bucket = check_write(connection, call, size)
        digest = hashlib.md5(b"".join(bytes.fromhex(row["etag"]) for row in rows), usedforsecurity=False)
        tag = f"{digest.hexdigest()}-{len(rows)}"
        blobs = [(row["blob"], row["size"]) for row in rows]
        new = NewObject(size, tag, json.loads(upload["headers"]), blobs, checksums, json.loads(upload["tags"]))
        version, gone = store(connection, bucket, call.key, new)
        connection.execute("DELETE FROM uploads WHERE id = ?", (upload["id"],))
    used = {row["blob"] for row in rows}
    call.store.blobs.discard([*gone, *(row["blob"] for row in found.values() if row["blob"] not in used)])
    host = call.request.headers.get("host", "")
    where = f"{'https' if call.request.secure else 'http'}://{host}/{call.bucket}/{call.key}"
    response = document(
        "CompleteMultipartUploadResult",
        element("Bucket", call.bucket),
        *(element(f"Checksum{name}", value) for name, value in checksums.items() if name != "type"),
        element("ChecksumType", checksums.get("type")),
        etag(tag),
        element("Key", call.key),
        element("Location", where),
    )
    response.headers |= version_headers(version)
    return response


def _named(body: Element) -> list[Named]:
    names = []
    for node in body.iterfind("Part"):
        number = text_of(node, "PartNumber") or ""
        if not number.isdigit():
            raise malformed()
        sums = {name: text_of(node, f"Checksum{name}") or "" for name in ALGORITHMS}
        tag = (text_of(node, "ETag") or "").strip().strip('"')
        names.append(Named(int(number), tag, {name: value for name, value in sums.items() if value}))
    if not names:
        raise malformed()
    if any(first.number >= second.number for first, second in itertools.pairwise(names)):
        raise ApiError(400, "InvalidPartOrder", "Part numbers must be strictly increasing")
    return names


def _chosen(names: list[Named], found: dict[int, sqlite3.Row], upload: sqlite3.Row) -> list[sqlite3.Row]:
    rows = []
    for name in names:
        row = found.get(name.number)
        sums = json.loads(row["checksums"]) if row else {}
        if (
            row is None
            or row["etag"] != name.etag
            or any(sums.get(kind) != value for kind, value in name.checksums.items())
        ):
            reason = "One or more of the specified parts could not be found.  The part may not have been uploaded, or "
            reason += "the specified entity tag may not match the part's entity tag."
            raise ApiError(400, "InvalidPart", reason)
        if upload["checksum_type"] == "COMPOSITE" and upload["algorithm"] not in name.checksums:
            reason = f"The upload was created using the {upload['algorithm'].lower()} checksum type. The complete "
            reason += f"request must include the checksum for each part. It was missing for part {name.number}"
            raise ApiError(400, "InvalidRequest", reason)
        rows.append(row)
    if any(row["size"] < SMALLEST for row in rows[:-1]):
        message = "Your proposed upload is smaller than the minimum allowed object size."
        raise ApiError(400, "EntityTooSmall", message)
    return rows


def _checksums(call: Call, upload: sqlite3.Row, rows: list[sqlite3.Row]) -> dict[str, str]:
    algorithm, kind = upload["algorithm"], upload["checksum_type"]
    if not algorithm:
        return {}
    sums = [(json.loads(row["checksums"])[algorithm], row["size"]) for row in rows]
    whole = joined(algorithm, sums) if kind == "FULL_OBJECT" else composite(algorithm, (digest for digest, _ in sums))
    said = call.request.headers.get(header(algorithm))
    if said is not None and said not in (whole, whole.partition("-")[0]):
        raise ApiError(400, "BadDigest", "The checksum of the whole object is another than the one given.")
    return {algorithm: whole, "type": kind}
