# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof that a store takes, keeps and gives back an object: its readiness alone proves none of that."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    ClockSkew,
    NotFound,
    NotPermitted,
    NotTrusted,
    StoreError,
    Unavailable,
    Unsupported,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection, make_client, translated

BUCKET = "modelshelf-canary"
PREFIX = "canary-"
SIZE = 128 * 1024
"""Bytes of the object: enough that it is written to the drives and not beside its metadata."""

_FINAL = (NotPermitted, NotTrusted, ClockSkew, Unsupported)
"""What does not get better by waiting."""

_OF_THE_DRIVES = (StoreError, Unavailable)
"""What a store says when its drives fail it; it has narrower classes for everything else."""

_ADVICE = "Look for a full disk, for drives that are gone, and at the owner of the volumes"

_PAUSE = 1.0


def prove_write(
    connection: Connection,
    deadline: float,
    *,
    client: Any = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> list[str]:
    """Writes, reads and deletes a random object in the connection's bucket; returns the steps, for the report.

    The bucket is made for it and removed again, with all canaries in it. What fails is tried again for `deadline`
    seconds: a server that has just started may refuse writes. Raises StoreError with the last failure.
    """
    s3 = client or make_client(connection)
    start, steps = clock(), []

    def step(name: str, call: Callable[[], None]) -> None:
        tries = 0
        while True:
            tries += 1
            try:
                call()
                break
            except StoreError as error:
                spent = clock() - start
                if isinstance(error, _FINAL) or spent + _PAUSE > deadline:
                    advice = f". {_ADVICE}" if error.__class__ in _OF_THE_DRIVES else ""
                    raise type(error)(
                        f"the proof that the store stores failed at the step '{name}' (tried {tries} times in"
                        f" {spent:.0f} s): {error}{advice}"
                    ) from error
                sleep(_PAUSE)
        steps.append(name)

    content, key, bucket = secrets.token_bytes(SIZE), f"{PREFIX}{secrets.token_hex(8)}", connection.bucket

    def make_bucket() -> None:
        with translated(connection, "make the bucket of"):
            s3.create_bucket(Bucket=bucket)

    def put() -> None:
        with translated(connection, "write", key):
            s3.put_object(Bucket=bucket, Key=key, Body=content)

    def get() -> None:
        with translated(connection, "read", key):
            found = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        if found != content:
            raise StoreError(
                f"{connection.url(key)} gave back {len(found)} bytes that are not the {SIZE} bytes written"
            )

    def delete() -> None:
        with translated(connection, "delete", key):
            s3.delete_object(Bucket=bucket, Key=key)
        with suppress(NotFound):
            with translated(connection, "read", key):
                s3.head_object(Bucket=bucket, Key=key)
            raise StoreError(f"{connection.url(key)} is still there after it was deleted")

    step("make bucket", make_bucket)
    try:
        step("put", put)
        step("get", get)
        step("delete", delete)
    finally:
        _clean(s3, connection)
    return steps


def _clean(s3: Any, connection: Connection) -> None:
    """Removes the bucket with what is in it; another proof that is under way keeps it alive and is not disturbed."""
    # The failure that led here is the one to be told; an empty bucket that stays does no harm.
    with suppress(StoreError), translated(connection, "remove the canaries of"):
        for item in s3.list_objects_v2(Bucket=connection.bucket, Prefix=PREFIX).get("Contents", ()):
            if time.time() - item["LastModified"].timestamp() > 600:
                s3.delete_object(Bucket=connection.bucket, Key=item["Key"])
    with suppress(StoreError), translated(connection, "remove"):
        s3.delete_bucket(Bucket=connection.bucket)
