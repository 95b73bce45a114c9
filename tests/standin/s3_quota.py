# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The quota of a bucket, and what the buckets hold (rustfs.md 1.7)."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .database import Database
from .settings import Settings
from .wire import ApiError, Request, Response, json_response

if TYPE_CHECKING:
    from .iam_access import Identities

LARGEST = (1 << 63) - 1  # the server takes twice as much; nobody has it


class BucketQuotas:
    """Limits are hard: a write over one is refused, a multipart upload only when it is completed."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings

    def check(self, bucket: sqlite3.Row, size: int) -> None:
        """Raises ApiError when `size` more bytes do not fit into this bucket."""
        quota, usage = bucket["quota"], bucket["usage"]
        if quota and usage + size > quota:
            reason = f"Bucket quota exceeded. Current usage: {usage} bytes, limit: {quota} bytes"
            raise ApiError(400, "InvalidRequest", reason)

    def buckets(self) -> list[dict[str, Any]]:
        """Every bucket: name, created (seconds), usage (bytes of all versions), objects (no markers)."""
        rows = self._database.read().execute(
            "SELECT name, created, usage, quota,"
            " (SELECT count(*) FROM versions WHERE bucket = name AND marker = 0) AS objects FROM buckets ORDER BY name"
        )
        return [dict(row) for row in rows]

    def space(self) -> tuple[int, int, int]:
        """Bytes of the volumes' file system: total, used, free."""
        found = os.statvfs(self._settings.volumes[0])
        total, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
        return total, (found.f_blocks - found.f_bfree) * found.f_frsize, free

    def handle(self, request: Request, identities: Identities) -> Response | None:
        """The answer to a quota call of the admin API; None for any other call."""
        path = request.path.partition("/v3/")[2]
        name, _, bucket = path.partition("/")
        compat = {("PUT", "set-bucket-quota"): self._set, ("GET", "get-bucket-quota"): self._get_compat}
        named: dict[tuple[str, str], Callable[[Request, str], Response]] = {
            ("GET", "quota"): self._get,
            ("PUT", "quota"): self._set,
            ("DELETE", "quota"): self._clear,
            ("GET", "quota-stats"): self._stats,
            ("POST", "quota-check"): self._check_operation,
        }
        found: Callable[[Request, str], Response]
        if (request.method, path) in compat:
            found, bucket = compat[request.method, path], request.argument("bucket") or ""
        elif bucket and (request.method, name) in named:
            found = named[request.method, name]
        else:
            return None
        if not bucket:
            raise ApiError(400, "InvalidRequest", "bucket name is required")
        writes = found in (self._set, self._clear)
        identities.require(request.caller, "admin:SetBucketQuota" if writes else "s3:GetBucketQuota", bucket)
        return found(request, bucket)

    @property
    def _warming_up(self) -> bool:
        return time.time() < self._settings.started + self._settings.quota_warmup_s

    def _row(self, bucket: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = (
            self._database.read().execute("SELECT * FROM buckets WHERE name = ?", (bucket,)).fetchone()
        )
        return row

    def _known(self, bucket: str) -> sqlite3.Row:
        row = self._row(bucket)
        if row is None:
            raise ApiError(404, "NoSuchBucket", f"bucket not found: {bucket}")
        return row

    def _counted(self, bucket: str) -> sqlite3.Row:
        row = self._known(bucket)
        if self._warming_up:
            raise ApiError(503, "ServiceUnavailable", "authoritative bucket usage is not available yet")
        return row

    def _answer(self, row: sqlite3.Row) -> Response:
        size = 0 if self._warming_up else row["usage"]
        said = {"bucket": row["name"], "quota": row["quota"], "size": size, "quota_type": "HARD"}
        return Response(200, {}, json_response(said).body)

    def _get(self, _request: Request, bucket: str) -> Response:
        return self._answer(self._counted(bucket))

    def _get_compat(self, _request: Request, bucket: str) -> Response:
        quota = self._known(bucket)["quota"] or 0
        said = {"quota": quota, "size": quota, "rate": 0, "requests": 0} | ({"quotatype": "hard"} if quota else {})
        return Response(200, {}, json_response(said).body)

    def _stats(self, _request: Request, bucket: str) -> Response:
        row = self._counted(bucket)
        quota, usage = row["quota"], row["usage"]
        said = {"bucket": bucket, "quota_limit": quota, "current_usage": usage}
        said["remaining_quota"] = None if quota is None else max(quota - usage, 0)
        said["usage_percentage"] = None if quota is None else usage / quota * 100
        return json_response(said)

    def _check_operation(self, request: Request, bucket: str) -> Response:
        body = _json(request.body.read_all())
        size, kind = body.get("operation_size"), body.get("operation_type")
        if not _is_size(size) or not isinstance(kind, str):
            raise ApiError(400, "InvalidRequest", "invalid JSON: operation_type and operation_size are required")
        row = self._counted(bucket)
        quota, usage = row["quota"], row["usage"]
        allowed = quota is None or kind.upper() in ("DELETE", "DELETEOBJECT") or usage + size <= quota
        said = {"bucket": bucket, "operation_type": kind, "operation_size": size, "allowed": allowed}
        said |= {"current_usage": usage, "quota_limit": quota}
        return json_response(said | {"remaining_quota": None if quota is None else max(quota - usage, 0)})

    def _capture(self, bucket: str) -> None:
        if self._row(bucket) is None:
            reason = f"failed to capture bucket incarnation: Bucket not found: {bucket}"
            raise ApiError(500, "InternalError", reason)

    def _set(self, request: Request, bucket: str) -> Response:
        self._capture(bucket)
        body = _json(request.body.read_all() or b"{}")
        kind = next((body[name] for name in ("quota_type", "quotatype", "quotaType") if body.get(name)), "HARD")
        sizes = [body.get(name) for name in ("size", "quota")]
        for size in sizes:
            if size is not None and not _is_size(size):
                raise ApiError(400, "InvalidRequest", f"invalid JSON: invalid value: `{size}`, expected u64")
        if not isinstance(kind, str) or kind.upper() != "HARD":
            raise ApiError(400, "InvalidArgument", "Only HARD quota type is supported")
        quota = next((size for size in sizes if size), None)
        if quota and self._warming_up:
            reason = "durable quota capability is not confirmed across the cluster"
            raise ApiError(503, "ServiceUnavailable", reason)
        self._write(bucket, quota)
        return Response() if request.path.endswith("/set-bucket-quota") else self._answer(self._known(bucket))

    def _clear(self, _request: Request, bucket: str) -> Response:
        self._capture(bucket)
        self._write(bucket, None)
        return self._answer(self._known(bucket))

    def _write(self, bucket: str, quota: int | None) -> None:
        with self._database.write() as connection:
            connection.execute("UPDATE buckets SET quota = ? WHERE name = ?", (quota, bucket))


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _json(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise ApiError(400, "InvalidRequest", f"invalid JSON: {error}") from None
    if not isinstance(found, dict):
        raise ApiError(400, "InvalidRequest", "invalid JSON: expected an object")
    return found
