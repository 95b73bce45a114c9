# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects and versions: deleted one by one, or many in one call."""

from __future__ import annotations

from .s3_call import Call
from .s3_names import check_key, check_length
from .s3_payload import check_body
from .s3_versions import Deleted, delete
from .s3_xml import document, element, malformed, parsed, text_of
from .wire import ApiError, Response

MOST = 1000
LARGEST_BODY = 4 << 20  # bytes


def _require(call: Call, key: str, version: str | None) -> None:
    if version:
        call.require("s3:DeleteObjectVersion", key=key, versionid=version)
    call.require("s3:DeleteObject", key=key)


def _bypasses(call: Call, key: str) -> bool:
    if call.request.headers.get("x-amz-bypass-governance-retention", "").lower() != "true":
        return False
    call.require("s3:BypassGovernanceRetention", key=key)
    return True


def delete_object(call: Call) -> Response:
    """204, also when there was nothing."""
    version = call.request.argument("versionId")
    _require(call, call.key, version)
    bypass = _bypasses(call, call.key)
    check_key(call.key)
    with call.store.database.write() as connection:
        done = delete(connection, call.here(connection), call.key, version, bypass=bypass)
    call.store.blobs.discard(done.blobs)
    headers = {"x-amz-delete-marker": str(done.marker).lower()} if done.existed else {}
    return Response(204, headers | ({"x-amz-version-id": done.version} if done.version else {}))


def delete_objects(call: Call) -> Response:
    """DeleteObjects: always 200 for a bucket that is there, with an entry for each key that could not be deleted."""
    body = call.request.body.read_all(LARGEST_BODY)
    check_body(call, body)
    root = parsed(body, "Delete")
    wanted = [(text_of(node, "Key") or "", text_of(node, "VersionId")) for node in root.iterfind("Object")]
    if not 0 < len(wanted) <= MOST or not all(key for key, _ in wanted):
        raise malformed()
    call.here()
    refused: dict[int, ApiError] = {}
    bypass: dict[int, bool] = {}
    for number, (key, version) in enumerate(wanted):
        try:
            _require(call, key, version)
            bypass[number] = _bypasses(call, key)
            check_length(key)
            check_key(key)
        except ApiError as error:
            refused[number] = error
    done: dict[int, Deleted] = {}
    with call.store.database.write() as connection:
        bucket = call.here(connection)
        for number, (key, version) in enumerate(wanted):
            if number not in refused:
                try:
                    done[number] = delete(connection, bucket, key, version, bypass=bypass[number])
                except ApiError as error:
                    refused[number] = error
    for one in done.values():
        call.store.blobs.discard(one.blobs)
    quiet = (text_of(root, "Quiet") or "").strip().lower() == "true"
    good = () if quiet else (_deleted(*wanted[number], one) for number, one in done.items())
    bad = (_error(*wanted[number], error) for number, error in refused.items())
    return document("DeleteResult", *good, *bad)


def _deleted(key: str, version: str | None, done: Deleted) -> str:
    marker = ""
    if done.marker:
        marker = element("DeleteMarker", True) + element("DeleteMarkerVersionId", done.version)
    return f"<Deleted>{marker}{element('Key', key)}{element('VersionId', version)}</Deleted>"


def _error(key: str, version: str | None, error: ApiError) -> str:
    text = element("Code", error.code) + element("Key", key) + element("Message", error.message or None)
    return f"<Error>{text}{element('VersionId', version)}</Error>"
