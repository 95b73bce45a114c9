# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store as this collection uses it: one bucket, spoken to with boto3."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_quota import (
    Quota,
    patient,
    read_limit,
    read_quota,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import StoreError, Unreachable, Unsupported
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import (
    BOTO3_ERROR,
    Connection,
    make_client,
    translated,
)

if BOTO3_ERROR is None:
    from boto3.s3.transfer import TransferConfig, create_transfer_manager

HASH_METADATA = "modelshelf-sha256"
"""The user metadata in which an object carries the hash of its file: an ETag is none when a file went up in parts."""

MIB = 1024 * 1024
SMALLEST_PART = 5 * MIB
MOST_PARTS = 10_000
_READ_TIMEOUT = 120
"""Seconds until a part of a large object must be answered for."""


@dataclass(frozen=True)
class Upload:
    """A file on its way to a key, with its size in bytes and the hash that the object will carry."""

    location: Path
    key: str
    size: int
    sha256: str


def part_size_for(size: int, wanted: int) -> int:
    """The part size in bytes for a file of `size` bytes: `wanted`, raised until S3's limits are kept.

    S3 takes at most 10,000 parts, all but the last of at least 5 MiB. The result is a whole number of MiB where
    `wanted` had to be raised for the number of parts.
    """
    part_size = max(wanted, SMALLEST_PART)
    if part_size * MOST_PARTS >= size:
        return part_size
    return -(-size // (MOST_PARTS * MIB)) * MIB


class Store:
    """One bucket. All methods raise StoreError or a narrower class of it."""

    def __init__(self, connection: Connection, concurrency: int = 8) -> None:
        self.connection = connection
        self.concurrency = concurrency
        self.client: Any = make_client(connection, concurrency, _READ_TIMEOUT)

    def quota(self) -> Quota | None:
        """The bucket's quota in bytes; None when there is none, or this server or this key cannot tell.

        Raises Unreachable when there is one and the server does not tell in time how much is used.
        """
        keys = self.connection
        if not keys.access_key or not keys.secret_key:
            return None
        admin = Admin(
            endpoint=keys.endpoint,
            access_key=keys.access_key,
            secret_key=keys.secret_key,
            region=keys.region,
            ca_file=keys.ca_file,
            validate_certs=keys.validate_certs,
            deadline=keys.timeout,
        )
        client = Client(admin)
        try:
            limited = read_limit(client, keys.bucket) > 0
            return read_quota(patient(client), keys.bucket) if limited else None
        except Unreachable:
            raise
        except StoreError:  # not permitted, or another S3 server, which takes the path for a key
            return None

    def list_objects(self, prefix: str) -> dict[str, int]:
        """Key and size in bytes of every object whose key begins with `prefix`."""
        with translated(self.connection, "list", prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.connection.bucket, Prefix=prefix)
            return {item["Key"]: item["Size"] for page in pages for item in page.get("Contents", ())}

    def list_folders(self, prefix: str) -> list[str]:
        """The next segments of keys below `prefix` (empty, or with a final slash), sorted."""
        with translated(self.connection, "list", prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.connection.bucket, Prefix=prefix, Delimiter="/"
            )
            found = (item["Prefix"] for page in pages for item in page.get("CommonPrefixes", ()))
            return sorted(name[len(prefix) :].rstrip("/") for name in found)

    def recorded_hash(self, key: str) -> str:
        """The hash that the object carries; empty when it has none."""
        with translated(self.connection, "look at", key):
            metadata = self.client.head_object(Bucket=self.connection.bucket, Key=key).get("Metadata", {})
            return str({name.lower(): value for name, value in metadata.items()}.get(HASH_METADATA, ""))

    def read(self, key: str) -> bytes:
        """The content of a small object."""
        with translated(self.connection, "read", key):
            return bytes(self.client.get_object(Bucket=self.connection.bucket, Key=key)["Body"].read())

    def write_new(self, key: str, content: bytes) -> None:
        """Writes an object that must not be there yet. Raises AlreadyThere where the server can tell."""
        request = {"Bucket": self.connection.bucket, "Key": key, "Body": content, "ContentType": "application/json"}
        try:
            with translated(self.connection, "write", key):
                self.client.put_object(**request, IfNoneMatch="*")
        except Unsupported:
            with translated(self.connection, "write", key):
                self.client.put_object(**request)

    def upload(self, uploads: Sequence[Upload], part_size: int, sent: Callable[[int], None]) -> None:
        """Sends files in parallel, large ones in parts, and ends at the first failure.

        `sent` is called with numbers of bytes, from several threads, as they leave. `part_size` is in bytes.
        """
        settings = TransferConfig(
            multipart_threshold=part_size,
            multipart_chunksize=part_size,
            max_concurrency=self.concurrency,
            preferred_transfer_client="classic",
        )
        manager: Any = create_transfer_manager(self.client, settings)
        finished: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        with manager:  # leaving it by an error cancels what is under way
            for item in uploads:
                manager.upload(
                    str(item.location),
                    self.connection.bucket,
                    item.key,
                    extra_args={"Metadata": {HASH_METADATA: item.sha256}},
                    subscribers=[_Watcher(item.key, sent, finished.put)],
                )
            for _count in uploads:
                key, future = finished.get()
                with translated(self.connection, "upload", key):
                    future.result()


class _Watcher:
    """What s3transfer tells about one upload, passed on."""

    def __init__(self, key: str, sent: Callable[[int], None], finished: Callable[[tuple[str, Any]], None]) -> None:
        self._key, self._sent, self._finished = key, sent, finished

    def on_progress(self, bytes_transferred: int, **_others: Any) -> None:
        self._sent(bytes_transferred)

    def on_done(self, future: Any, **_others: Any) -> None:
        self._finished((self._key, future))
