# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store as this collection uses it: one bucket, spoken to with boto3, its failures sorted by what helps."""

from __future__ import annotations

import queue
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    AlreadyThere,
    NotFound,
    NotPermitted,
    StoreError,
    Unreachable,
    Unsupported,
)

try:
    import boto3
    import botocore.exceptions
    from boto3.s3.transfer import TransferConfig, create_transfer_manager
    from botocore.config import Config
except ImportError:
    BOTO3_ERROR: str | None = traceback.format_exc()
else:
    BOTO3_ERROR = None

HASH_METADATA = "modelshelf-sha256"
"""The user metadata in which an object carries the hash of its file: an ETag is none when a file went up in parts."""

MIB = 1024 * 1024
SMALLEST_PART = 5 * MIB
MOST_PARTS = 10_000

_NOT_PERMITTED = ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Forbidden", "403")
_NOT_FOUND = ("NoSuchKey", "NoSuchBucket", "NotFound", "404")
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412")
_UNSUPPORTED = ("NotImplemented", "MethodNotAllowed", "501", "405")
_SKEWED = ("RequestTimeTooSkewed", "RequestExpired")


@dataclass(frozen=True)
class Connection:
    """Where a bucket is and who asks. Empty keys leave the choice to boto3's own chain of credentials."""

    endpoint: str
    bucket: str
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    region: str = "us-east-1"
    ca_file: str = ""

    def url(self, key: str = "") -> str:
        """How messages name an object or a prefix."""
        return f"s3://{self.bucket}/{key} (endpoint {self.endpoint})"


@dataclass(frozen=True)
class Upload:
    """A file on its way to a key, with its size in bytes and the hash that the object will carry."""

    location: Path
    key: str
    size: int
    sha256: str


def connection_arguments() -> dict[str, dict[str, Any]]:
    """The options that every module which talks to the store has; the fragment `connection` documents them."""
    return {
        "endpoint": {"type": "str", "required": True},
        "bucket": {"type": "str", "required": True},
        "access_key": {"type": "str", "no_log": False},
        "secret_key": {"type": "str", "no_log": True},
        "region": {"type": "str", "default": "us-east-1"},
        "ca_file": {"type": "path"},
    }


def connection_from(params: Mapping[str, Any]) -> Connection:
    """The connection that a module's parameters describe. Raises StoreError for an endpoint that is no http(s) URL."""
    if not re.fullmatch(r"https?://[^/@\s]+/?", params["endpoint"]):
        raise StoreError("the endpoint is not of the form http://host:port or https://host:port, without user and path")
    values = {key: params[key] or "" for key in connection_arguments()}
    return Connection(**{**values, "endpoint": values["endpoint"].rstrip("/")})


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
        with self._translated("connect to", ""):
            session = boto3.session.Session(
                aws_access_key_id=connection.access_key or None,
                aws_secret_access_key=connection.secret_key or None,
                region_name=connection.region,
            )
            self.client: Any = session.client(
                "s3",
                endpoint_url=connection.endpoint,
                verify=connection.ca_file or None,
                config=Config(
                    signature_version="s3v4",
                    s3={"addressing_style": "path"},
                    # Newer SDKs add checksums that some S3 servers refuse for multipart uploads.
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                    retries={"total_max_attempts": 4, "mode": "standard"},
                    connect_timeout=10,
                    read_timeout=120,
                    max_pool_connections=concurrency + 4,
                ),
            )

    def list_objects(self, prefix: str) -> dict[str, int]:
        """Key and size in bytes of every object whose key begins with `prefix`."""
        with self._translated("list", prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.connection.bucket, Prefix=prefix)
            return {item["Key"]: item["Size"] for page in pages for item in page.get("Contents", ())}

    def list_folders(self, prefix: str) -> list[str]:
        """The next segments of keys below `prefix` (empty, or with a final slash), sorted."""
        with self._translated("list", prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.connection.bucket, Prefix=prefix, Delimiter="/"
            )
            found = (item["Prefix"] for page in pages for item in page.get("CommonPrefixes", ()))
            return sorted(name[len(prefix) :].rstrip("/") for name in found)

    def recorded_hash(self, key: str) -> str:
        """The hash that the object carries; empty when it has none."""
        with self._translated("look at", key):
            metadata = self.client.head_object(Bucket=self.connection.bucket, Key=key).get("Metadata", {})
            return str({name.lower(): value for name, value in metadata.items()}.get(HASH_METADATA, ""))

    def read(self, key: str) -> bytes:
        """The content of a small object."""
        with self._translated("read", key):
            return bytes(self.client.get_object(Bucket=self.connection.bucket, Key=key)["Body"].read())

    def write_new(self, key: str, content: bytes) -> None:
        """Writes an object that must not be there yet. Raises AlreadyThere where the server can tell."""
        request = {"Bucket": self.connection.bucket, "Key": key, "Body": content, "ContentType": "application/json"}
        try:
            with self._translated("write", key):
                self.client.put_object(**request, IfNoneMatch="*")
        except Unsupported:
            with self._translated("write", key):
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
                with self._translated("upload", key):
                    future.result()

    @contextmanager
    def _translated(self, doing: str, key: str) -> Iterator[None]:
        try:
            yield
        except botocore.exceptions.ClientError as error:
            raise _answered(error, doing, key, self.connection) from error
        except (botocore.exceptions.HTTPClientError, botocore.exceptions.ConnectionError) as error:
            raise Unreachable(f"could not {doing} {self.connection.url(key)}: no answer: {error}") from error
        except (botocore.exceptions.BotoCoreError, OSError, ValueError) as error:
            raise StoreError(f"could not {doing} {self.connection.url(key)}: {error}") from error


class _Watcher:
    """What s3transfer tells about one upload, passed on."""

    def __init__(self, key: str, sent: Callable[[int], None], finished: Callable[[tuple[str, Any]], None]) -> None:
        self._key, self._sent, self._finished = key, sent, finished

    def on_progress(self, bytes_transferred: int, **_others: Any) -> None:
        self._sent(bytes_transferred)

    def on_done(self, future: Any, **_others: Any) -> None:
        self._finished((self._key, future))


def _answered(error: Any, doing: str, key: str, connection: Connection) -> StoreError:
    """The error that an answer of the server stands for. The code decides; texts differ between servers."""
    answer = error.response.get("Error", {})
    code, text = str(answer.get("Code", "")), str(answer.get("Message", ""))
    where = f"could not {doing} {connection.url(key)}"
    server = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("server", "unknown")
    if code in _SKEWED:
        return StoreError(f"{where}: the clocks of this machine and of the store differ too much. Set them right")
    if code in _NOT_PERMITTED:
        return NotPermitted(
            f"{where}: {code}: check the access key {connection.access_key!r}, its secret and its policy"
        )
    if code == "NoSuchBucket":
        return NotFound(f"{where}: there is no bucket {connection.bucket!r}. Create it first, or correct its name")
    if code in _NOT_FOUND:
        return NotFound(f"{where}: it is not there")
    if code in _TAKEN:
        return AlreadyThere(f"{where}: it is there already")
    if "checksum" in text.lower():
        setting = "a checksum although request_checksum_calculation is when_required"
        return Unsupported(f"{where}: the server ({server}) refused {setting}: {code}: {text}")
    if code in _UNSUPPORTED:
        return Unsupported(f"{where}: the server ({server}) does not support it: {code}: {text}")
    return StoreError(f"{where}: {code}: {text}")
