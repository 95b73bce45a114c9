# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which S3 call a request is."""

from __future__ import annotations

from collections.abc import Callable

from . import s3_bucket_settings, s3_buckets, s3_delete, s3_listing, s3_multipart, s3_objects, s3_parts, s3_uploads
from .s3_call import Call, Store
from .s3_names import check_bucket, check_length
from .wire import ApiError, Request, Response

Answer = Callable[[Call], Response]

BUCKET_PARTS = {
    **{("GET", name): call for name, call in s3_bucket_settings.READ.items()},
    **{("PUT", name): call for name, call in s3_bucket_settings.WRITE.items()},
    **{("DELETE", name): call for name, call in s3_bucket_settings.REMOVE.items()},
    ("GET", "versions"): s3_listing.list_versions,
    ("GET", "uploads"): s3_uploads.list_uploads,
    ("POST", "delete"): s3_delete.delete_objects,
}
BUCKET = {
    "PUT": s3_buckets.create,
    "HEAD": s3_buckets.head,
    "DELETE": s3_buckets.remove,
    "GET": s3_listing.list_objects,
}
OBJECT_PARTS: dict[tuple[str, str], Answer] = {
    ("GET", "attributes"): s3_objects.attributes,
    ("GET", "tagging"): s3_objects.get_tagging,
    ("PUT", "tagging"): s3_objects.put_tagging,
    ("DELETE", "tagging"): s3_objects.delete_tagging,
    ("POST", "uploads"): s3_uploads.start,
    ("GET", "uploadId"): s3_parts.list_parts,
    ("PUT", "uploadId"): s3_parts.upload_part,
    ("POST", "uploadId"): s3_multipart.complete,
    ("DELETE", "uploadId"): s3_uploads.abort,
}
OBJECT: dict[str, Answer] = {
    "GET": s3_objects.get,
    "HEAD": s3_objects.get,
    "PUT": s3_objects.put,
    "DELETE": s3_delete.delete_object,
}
# What the server has and the stand-in has not: 501, never a wrong answer.
FOREIGN = set(
    "acl accelerate analytics cors encryption inventory intelligent-tiering legal-hold lifecycle logging metrics "
    "notification ownershipControls policyStatus publicAccessBlock replication requestPayment restore retention "
    "select torrent website".split()
)


def answer(store: Store, request: Request) -> Response:
    """The answer to a request whose signature is right. Raises ApiError."""
    bucket, slash, key = request.path.removeprefix("/").partition("/")
    call = Call(store, request, bucket, key)
    if not bucket:
        if slash or request.method != "GET":
            raise _not_allowed() if not slash else ApiError(400, "InvalidBucketName")
        return s3_buckets.list_buckets(call)
    check_bucket(bucket)
    check_length(key)
    parts, whole = (OBJECT_PARTS, OBJECT) if key else (BUCKET_PARTS, BUCKET)
    for name, _ in request.query:
        found = parts.get((request.method, name))
        if found:
            return found(call)
        if name in FOREIGN or (name in ("tagging", "uploads", "uploadId", "attributes") and request.method != "HEAD"):
            raise ApiError(501, "NotImplemented", f"the stand-in has no {request.method} of ?{name}")
    if request.method not in whole:
        raise _not_allowed()
    return whole[request.method](call)


def _not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
