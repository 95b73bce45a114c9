# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One S3 call: the request, where it points, and what its caller may do."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .database import Database
from .policy_document import parse_bucket_policy
from .s3_blobs import BlobStore
from .settings import Settings
from .wire import ApiError, Request

if TYPE_CHECKING:
    from .iam_access import Identities
    from .s3_quota import BucketQuotas

LISTING = ("s3:ListBucket", "s3:ListBucketVersions", "s3:ListBucketMultipartUploads")


@dataclass(frozen=True)
class Store:
    """What every call works on."""

    database: Database
    blobs: BlobStore
    identities: Identities
    quotas: BucketQuotas
    settings: Settings


@lru_cache(maxsize=256)
def _policy(document: str) -> dict[str, Any]:
    return parse_bucket_policy(document.encode())


def no_such_bucket() -> ApiError:
    return ApiError(404, "NoSuchBucket", "The specified bucket does not exist")


def no_such_key() -> ApiError:
    return ApiError(404, "NoSuchKey", "The specified key does not exist.")


@dataclass(frozen=True)
class Call:
    """A call on `bucket` and `key` (each may be empty)."""

    store: Store
    request: Request
    bucket: str
    key: str

    def find(self, name: str | None = None, connection: sqlite3.Connection | None = None) -> sqlite3.Row | None:
        """The bucket's row, or None. `connection` is given inside a transaction."""
        reading = connection or self.store.database.read()
        row: sqlite3.Row | None = reading.execute(
            "SELECT * FROM buckets WHERE name = ?", (self.bucket if name is None else name,)
        ).fetchone()
        return row

    def here(self, connection: sqlite3.Connection | None = None) -> sqlite3.Row:
        """The bucket's row. Raises ApiError 404."""
        row = self.find(connection=connection)
        if row is None:
            raise no_such_bucket()
        return row

    def allowed(self, action: str, bucket: str | None = None, key: str | None = None, **conditions: str) -> bool:
        """Whether the caller may do this here, or on another bucket and key."""
        bucket, key = self.bucket if bucket is None else bucket, self.key if key is None else key
        row = self.find(bucket) if bucket else None
        policy = _policy(row["policy"]) if row and row["policy"] else None
        values = self._conditions(action) | {name: [value] for name, value in conditions.items()}
        return self.store.identities.allowed(self.request.caller, action, bucket, key, values, policy)

    def require(self, action: str, bucket: str | None = None, key: str | None = None, **conditions: str) -> None:
        """Raises ApiError 403 unless `allowed`."""
        if not self.allowed(action, bucket, key, **conditions):
            raise ApiError(403, "AccessDenied", "Access Denied")

    def _conditions(self, action: str) -> dict[str, list[str]]:
        request = self.request
        values = {"SourceIp": [request.address], "SecureTransport": [str(request.secure).lower()]}
        values |= {name: [value] for name, value in request.headers.items() if name.startswith("x-amz-")}
        for name in ("referer", "user-agent"):
            if name in request.headers:
                values["Referer" if name == "referer" else "UserAgent"] = [request.headers[name]]
        if action in LISTING:
            for name in ("prefix", "delimiter", "max-keys"):
                value = request.argument(name)
                if value is not None:
                    values[name] = [value]
        version = request.argument("versionId")
        if version:
            values["versionid"] = [version]
        return values

    def number(self, name: str, default: int, most: int, message: str) -> int:
        """A number of the query, at most `most`. Raises ApiError when it is none, or negative."""
        text = self.request.argument(name)
        if not text:
            return default
        try:
            value = int(text)
        except ValueError:
            value = -1
        if value < 0:
            raise ApiError(400, "InvalidArgument", message)
        return min(value, most)
