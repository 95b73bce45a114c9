# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Buckets: made, listed, removed."""

from __future__ import annotations

import json
import time

from .s3_call import Call, no_such_bucket
from .s3_names import check_new_bucket
from .s3_xml import OWNER, document, element, moment, parsed
from .wire import ApiError, Response

TAKEN = (
    "The requested bucket name is not available. The bucket namespace is shared by all users of the system. "
    "Please select a different name and try again."
)


def list_buckets(call: Call) -> Response:
    """All of them, or those that the caller may list or locate. None at all is a refusal."""
    rows = call.store.database.read().execute("SELECT name, created FROM buckets ORDER BY name").fetchall()
    if not call.allowed("s3:ListAllMyBuckets"):
        rows = [row for row in rows if _visible(call, row["name"])]
        if not rows:
            raise ApiError(403, "AccessDenied", "Access Denied")
    inside = "".join(
        f"<Bucket>{element('CreationDate', moment(row['created']))}{element('Name', row['name'])}</Bucket>"
        for row in rows
    )
    return document("ListAllMyBucketsResult", f"<Buckets>{inside}</Buckets>", OWNER)


def _visible(call: Call, name: str) -> bool:
    listed = call.allowed("s3:ListBucket", name, prefix="", delimiter="/")
    return listed or call.allowed("s3:GetBucketLocation", name)


def create(call: Call) -> Response:
    """A new bucket. An existing one is 200 for root (nothing changes) and 409 for others."""
    call.require("s3:CreateBucket")
    locked = call.request.headers.get("x-amz-bucket-object-lock-enabled", "").lower() == "true"
    if locked:
        call.require("s3:PutBucketObjectLockConfiguration")
        call.require("s3:PutBucketVersioning")
    body = call.request.body.read_all()
    if body:
        parsed(body, "CreateBucketConfiguration")
    check_new_bucket(call.bucket)
    lock = json.dumps({"ObjectLockEnabled": "Enabled"}) if locked else None
    with call.store.database.write() as connection:
        if call.find(connection=connection) is None:
            connection.execute(
                "INSERT INTO buckets(name, created, versioning, object_lock) VALUES (?, ?, ?, ?)",
                (call.bucket, time.time(), "Enabled" if locked else "", lock),
            )
        elif not (call.request.caller and call.request.caller.owner):
            raise ApiError(409, "BucketAlreadyExists", TAKEN)
    return Response()


def head(call: Call) -> Response:
    """Whether it is there."""
    call.require("s3:ListBucket")
    call.here()
    return Response()


def remove(call: Call) -> Response:
    """Remove an empty bucket. Versions and delete markers keep it; open uploads go with it."""
    call.require("s3:DeleteBucket")
    with call.store.database.write() as connection:
        call.here(connection)
        if connection.execute("SELECT 1 FROM versions WHERE bucket = ? LIMIT 1", (call.bucket,)).fetchone():
            raise ApiError(409, "BucketNotEmpty", "The bucket you tried to delete is not empty")
        blobs = connection.execute(
            "SELECT blob FROM parts JOIN uploads ON id = upload WHERE bucket = ?", (call.bucket,)
        ).fetchall()
        connection.execute("DELETE FROM uploads WHERE bucket = ?", (call.bucket,))
        if not connection.execute("DELETE FROM buckets WHERE name = ?", (call.bucket,)).rowcount:
            raise no_such_bucket()
    call.store.blobs.discard(row["blob"] for row in blobs)
    return Response(204)
