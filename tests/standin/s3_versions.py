# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of a key: which one is meant, what a new one replaces, what a deletion leaves."""

from __future__ import annotations

import datetime
import json
import sqlite3
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from .s3_blobs import Blobs
from .s3_call import Call, no_such_key
from .wire import ApiError

NULL = "null"  # the id of a version that was written while versioning was off


@dataclass(frozen=True)
class NewObject:
    """What is to be stored. `checksums` by algorithm, base64; the entry `type` is FULL_OBJECT or COMPOSITE."""

    size: int
    etag: str
    headers: dict[str, str]
    blobs: Blobs
    checksums: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] | None = None


@dataclass(frozen=True)
class Deleted:
    """What a deletion did: the version that went or the marker that came ("" for none), whether it is a marker, and
    whether there was anything."""

    version: str
    marker: bool
    existed: bool
    blobs: tuple[str, ...] = ()


def latest(connection: sqlite3.Connection, bucket: str, key: str) -> sqlite3.Row | None:
    """The newest version, which may be a delete marker."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM versions WHERE bucket = ? AND key = ? AND latest = 1", (bucket, key)
    ).fetchone()
    return row


def by_id(connection: sqlite3.Connection, bucket: str, key: str, version: str) -> sqlite3.Row | None:
    """One version."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM versions WHERE bucket = ? AND key = ? AND version = ?", (bucket, key, version)
    ).fetchone()
    return row


def wanted(call: Call, bucket: str, key: str, version: str | None) -> sqlite3.Row:
    """The object that a read means. Raises ApiError 404, or 405 for a delete marker that is asked for by its id."""
    connection = call.store.database.read()
    if call.find(bucket) is None:
        raise ApiError(404, "NoSuchBucket", "The specified bucket does not exist")
    if not version:
        row = latest(connection, bucket, key)
        if row is None or row["marker"]:
            raise no_such_key()
        return row
    row = by_id(connection, bucket, key, version)
    if row is None:
        raise ApiError(404, "NoSuchVersion", "The specified version does not exist.")
    if row["marker"]:
        raise ApiError(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
    return row


def blob_list(row: sqlite3.Row) -> list[tuple[str, int]]:
    """The files of a version."""
    return [(name, size) for name, size in json.loads(row["blobs"])]


def check_write(connection: sqlite3.Connection, call: Call, size: int) -> sqlite3.Row:
    """The bucket's row when a write of `size` bytes may go on: its conditions hold, and the quota has room.

    Asked before the body is read, and again in the transaction that stores it. Raises ApiError.
    """
    bucket = call.here(connection)
    row = latest(connection, call.bucket, call.key)
    found = None if row is None or row["marker"] else row["etag"]
    unless, only = (call.request.headers.get(name) for name in ("if-none-match", "if-match"))
    if only is not None:
        if found is None:
            raise no_such_key()
        if only != "*" and found not in _tags(only):
            raise precondition_failed()
    if unless is not None and found is not None and (unless == "*" or found in _tags(unless)):
        raise precondition_failed()
    call.store.quotas.check(bucket, size)
    return bucket


def _tags(header: str) -> list[str]:
    return [tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")]


def precondition_failed() -> ApiError:
    message = "At least one of the pre-conditions you specified did not hold"
    return ApiError(412, "PreconditionFailed", message)


def store(connection: sqlite3.Connection, bucket: sqlite3.Row, key: str, new: NewObject) -> tuple[str, list[str]]:
    """Make it the latest version: its id and the files that no version has any more."""
    version, gone = NULL, list[str]()
    if bucket["versioning"] == "Enabled":
        version = str(uuid.uuid4())
    else:
        gone = _drop(connection, by_id(connection, bucket["name"], key, NULL))
    headers = new.headers | _retention(bucket, new.headers)
    _insert(connection, bucket["name"], key, version, new, headers, marker=False)
    return version, gone


def _insert(
    connection: sqlite3.Connection,
    bucket: str,
    key: str,
    version: str,
    new: NewObject,
    headers: Mapping[str, str],
    *,
    marker: bool,
) -> None:
    connection.execute("UPDATE versions SET latest = 0 WHERE bucket = ? AND key = ? AND latest = 1", (bucket, key))
    tags = json.dumps(new.tags) if new.tags else None
    values = (new.size, new.etag, time.time(), json.dumps(headers), json.dumps(new.checksums), tags)
    connection.execute(
        "INSERT INTO versions(bucket, key, version, latest, marker, size, etag, modified, headers, checksums, tags,"
        " blobs) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)",
        (bucket, key, version, marker, *values, json.dumps(list(new.blobs))),
    )


def _drop(connection: sqlite3.Connection, row: sqlite3.Row | None) -> list[str]:
    if row is None:
        return []
    connection.execute("DELETE FROM versions WHERE sequence = ?", (row["sequence"],))
    if row["latest"]:
        connection.execute(
            "UPDATE versions SET latest = 1 WHERE sequence ="
            " (SELECT max(sequence) FROM versions WHERE bucket = ? AND key = ?)",
            (row["bucket"], row["key"]),
        )
    return [name for name, _ in blob_list(row)]


def delete(
    connection: sqlite3.Connection, bucket: sqlite3.Row, key: str, version: str | None, *, bypass: bool = False
) -> Deleted:
    """Delete a key, or one version for good. Raises ApiError 403 for a version under retention."""
    name = bucket["name"]
    if version:
        row = by_id(connection, name, key, version)
        if row is None:
            return Deleted(version, False, False)
        _check_retention(row, bypass)
        return Deleted(version, bool(row["marker"]), True, tuple(_drop(connection, row)))
    if not bucket["versioning"]:
        row = by_id(connection, name, key, NULL)
        return Deleted("", False, row is not None, tuple(_drop(connection, row)))
    gone, marker = list[str](), str(uuid.uuid4())
    if bucket["versioning"] == "Suspended":
        gone, marker = _drop(connection, by_id(connection, name, key, NULL)), NULL
    _insert(connection, name, key, marker, NewObject(0, "", {}, ()), {}, marker=True)
    return Deleted(marker, True, True, tuple(gone))


def _retention(bucket: sqlite3.Row, headers: Mapping[str, str]) -> dict[str, str]:
    lock = json.loads(bucket["object_lock"] or "{}")
    if "Mode" not in lock or "x-amz-object-lock-mode" in headers:
        return {}
    days = int(lock["Days"]) if "Days" in lock else int(lock["Years"]) * 365
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    return {
        "x-amz-object-lock-mode": lock["Mode"],
        "x-amz-object-lock-retain-until-date": f"{until:%Y-%m-%dT%H:%M:%S}.000Z",
    }


def _check_retention(row: sqlite3.Row, bypass: bool) -> None:
    headers = json.loads(row["headers"])
    held = headers.get("x-amz-object-lock-legal-hold") == "ON"
    until = headers.get("x-amz-object-lock-retain-until-date")
    if until and not (bypass and headers.get("x-amz-object-lock-mode") == "GOVERNANCE"):
        held = held or datetime.datetime.fromisoformat(until) > datetime.datetime.now(datetime.UTC)
    if held:
        raise ApiError(403, "AccessDenied", "Object is WORM protected and cannot be overwritten")
