# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bucket is told: versioning, object lock, tags, policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from .policy_document import parse_bucket_policy
from .s3_call import Call
from .s3_xml import document, element, malformed, parsed, tagging, tags_of, text_of
from .wire import ApiError, Response

LONGEST_POLICY = 20 << 10  # bytes


def _set(call: Call, column: str, value: str | None) -> None:
    with call.store.database.write() as connection:
        call.here(connection)
        connection.execute(f"UPDATE buckets SET {column} = ? WHERE name = ?", (value, call.bucket))


def get_location(call: Call) -> Response:
    call.require("s3:GetBucketLocation")
    call.here()
    return document("LocationConstraint", call.store.settings.region)


def get_versioning(call: Call) -> Response:
    call.require("s3:GetBucketVersioning")
    return document("VersioningConfiguration", element("Status", call.here()["versioning"] or None))


def put_versioning(call: Call) -> Response:
    """On or suspended; a bucket with object lock stays on."""
    call.require("s3:PutBucketVersioning")
    status = text_of(parsed(call.request.body.read_all(), "VersioningConfiguration"), "Status")
    if status not in ("Enabled", "Suspended"):
        raise malformed()
    with call.store.database.write() as connection:
        if call.here(connection)["object_lock"] and status == "Suspended":
            reason = "An Object Lock configuration is present on this bucket, versioning cannot be suspended."
            raise ApiError(409, "InvalidBucketState", reason)
        connection.execute("UPDATE buckets SET versioning = ? WHERE name = ?", (status, call.bucket))
    return Response()


def get_object_lock(call: Call) -> Response:
    call.require("s3:GetBucketObjectLockConfiguration")
    lock = json.loads(call.here()["object_lock"] or "{}")
    if not lock:
        reason = "Object Lock configuration does not exist for this bucket"
        raise ApiError(404, "ObjectLockConfigurationNotFoundError", reason)
    rule = ""
    if "Mode" in lock:
        span = "".join(element(name, lock.get(name)) for name in ("Days", "Mode", "Years"))
        rule = f"<Rule><DefaultRetention>{span}</DefaultRetention></Rule>"
    return document("ObjectLockConfiguration", element("ObjectLockEnabled", "Enabled"), rule, plain=True)


def put_object_lock(call: Call) -> Response:
    """The default retention of a bucket that was made with object lock."""
    call.require("s3:PutBucketObjectLockConfiguration")
    body = parsed(call.request.body.read_all(), "ObjectLockConfiguration")
    lock: dict[str, str] = {"ObjectLockEnabled": "Enabled"}
    if text_of(body, "ObjectLockEnabled") != "Enabled":
        raise malformed()
    if body.find("Rule") is not None:
        mode = text_of(body, "Rule/DefaultRetention/Mode")
        days, years = (text_of(body, f"Rule/DefaultRetention/{unit}") for unit in ("Days", "Years"))
        span = days or years or ""
        if mode not in ("GOVERNANCE", "COMPLIANCE") or bool(days) == bool(years) or not span.isdigit() or span == "0":
            raise malformed()
        lock |= {"Mode": mode, "Days" if days else "Years": span}
    if not call.here()["object_lock"]:
        reason = "Object Lock configuration cannot be enabled on existing buckets"
        raise ApiError(409, "InvalidBucketState", reason)
    _set(call, "object_lock", json.dumps(lock))
    return Response()


def get_tagging(call: Call) -> Response:
    call.require("s3:GetBucketTagging")
    tags = call.here()["tags"]
    if tags is None:
        raise ApiError(404, "NoSuchTagSet", "The TagSet does not exist")
    return tagging(json.loads(tags))


def put_tagging(call: Call) -> Response:
    call.require("s3:PutBucketTagging")
    _set(call, "tags", json.dumps(tags_of(call.request.body.read_all())))
    return Response()


def delete_tagging(call: Call) -> Response:
    call.require("s3:PutBucketTagging")
    _set(call, "tags", None)
    return Response(204)


def get_policy(call: Call) -> Response:
    """As it was sent."""
    call.require("s3:GetBucketPolicy")
    policy = call.here()["policy"]
    if policy is None:
        raise ApiError(404, "NoSuchBucketPolicy")
    return Response(200, {}, policy.encode())


def put_policy(call: Call) -> Response:
    """Stored as it is sent. What it names need not be this bucket (the server does not look)."""
    call.require("s3:PutBucketPolicy")
    call.here()
    document_sent = call.request.body.read_all(LONGEST_POLICY)
    parse_bucket_policy(document_sent)
    _set(call, "policy", document_sent.decode())
    return Response(204)


def delete_policy(call: Call) -> Response:
    call.require("s3:DeleteBucketPolicy")
    _set(call, "policy", None)
    return Response(204)


READ: Mapping[str, Callable[[Call], Response]] = {
    "location": get_location,
    "versioning": get_versioning,
    "object-lock": get_object_lock,
    "tagging": get_tagging,
    "policy": get_policy,
}
WRITE: Mapping[str, Callable[[Call], Response]] = {
    "versioning": put_versioning,
    "object-lock": put_object_lock,
    "tagging": put_tagging,
    "policy": put_policy,
}
REMOVE: Mapping[str, Callable[[Call], Response]] = {"tagging": delete_tagging, "policy": delete_policy}
