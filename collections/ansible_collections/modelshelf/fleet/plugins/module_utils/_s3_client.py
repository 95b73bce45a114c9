# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A boto3 client for the store, with this collection's rule for trying again and its family of errors."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._answers import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    error_for,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._clock import greet
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    NotTrusted,
    StoreError,
    Unreachable,
    Unsupported,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import (
    Admin,
    check_connection,
    connection_options,
)

try:
    import boto3
    import botocore.exceptions
    from botocore.config import Config
except ImportError:
    BOTO3_ERROR: str | None = traceback.format_exc()
else:
    BOTO3_ERROR = None
    # Nobody answered, or not to the end. Other failures of sending are our own.
    _NO_ANSWER: tuple[type[Exception], ...] = (
        botocore.exceptions.ConnectionError,
        botocore.exceptions.ConnectionClosedError,
        botocore.exceptions.ReadTimeoutError,
        botocore.exceptions.ResponseStreamingError,
    )

_TRIED = "modelshelf_tried"


@dataclass(frozen=True)
class Connection:
    """Where a bucket is and who asks. Empty keys leave the choice to boto3's own chain of credentials.

    `timeout`: for how many seconds a request is tried while the store cannot be reached or is busy.
    """

    endpoint: str
    bucket: str
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    region: str = "us-east-1"
    ca_file: str = ""
    validate_certs: bool = True
    timeout: float = 30

    def url(self, key: str = "") -> str:
        """How messages name an object or a prefix."""
        place = f"s3://{self.bucket}/{key} " if self.bucket else ""
        return f"{place}(endpoint {self.endpoint})"


def connection_arguments() -> dict[str, dict[str, Any]]:
    """The options of the modules that work on one bucket; the fragment `connection` documents them.

    They are those of all modules for the store, with the bucket, and with keys that may be left to boto3.
    """
    options = connection_options()
    for name in ("access_key", "secret_key"):
        del options[name]["required"]
    return {**options, "bucket": {"type": "str", "required": True}}


def connection_from(params: Mapping[str, Any]) -> Connection:
    """The connection that a module's parameters describe. Raises StoreError for values that cannot work."""
    check_connection(params)
    if params["ca_file"] and not Path(params["ca_file"]).is_file():
        raise StoreError(f"ca_file is {params['ca_file']}: there is no such file on the machine that runs the module")
    values = {name: params.get(name) or "" for name in ("bucket", "access_key", "secret_key", "region", "ca_file")}
    return Connection(
        endpoint=params["endpoint"].rstrip("/"),
        validate_certs=params["validate_certs"],
        timeout=params["timeout"],
        **values,
    )


def connection_of(admin: Admin, bucket: str) -> Connection:
    """The connection of an administrator to one bucket."""
    return Connection(
        endpoint=admin.endpoint,
        bucket=bucket,
        access_key=admin.access_key,
        secret_key=admin.secret_key,
        region=admin.region,
        ca_file=admin.ca_file,
        validate_certs=admin.validate_certs,
        timeout=admin.deadline,
    )


def make_client(connection: Connection, concurrency: int = 8, read_timeout: float = 0, hasty: bool = False) -> Any:
    """A boto3 S3 client with `concurrency` connections. `read_timeout` is in seconds; 0: as the connection's timeout.

    Connection errors and the answers 429, 502, 503 and 504 are tried again until the connection's timeout; botocore's
    own rule is off, since it repeats every 500, of which RustFS has many that only say no. `hasty`: once.
    """
    with translated(connection, "connect to"):
        session = boto3.session.Session(
            aws_access_key_id=connection.access_key or None,
            aws_secret_access_key=connection.secret_key or None,
            region_name=connection.region,
        )
        client: Any = session.client(
            "s3",
            endpoint_url=connection.endpoint,
            verify=(connection.ca_file or True) if connection.validate_certs else False,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                # Newer SDKs add checksums that some S3 servers refuse for multipart uploads.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                retries={"total_max_attempts": 1, "mode": "standard"},
                proxies={},  # the store is in the same network; a proxy in the environment is for other things
                connect_timeout=min(10, connection.timeout),
                read_timeout=read_timeout or connection.timeout,
                max_pool_connections=concurrency + 4,
            ),
        )
    again = _Again(connection.timeout, hasty)
    client.meta.events.register("before-call.s3", again.begin)
    client.meta.events.register("needs-retry.s3", again.pause)
    return client


@contextmanager
def translated(connection: Connection, doing: str, key: str = "") -> Iterator[None]:
    """Turns what boto3 raises inside into StoreError or a narrower class, naming the object and the action."""
    try:
        yield
    except botocore.exceptions.ClientError as error:
        raise _answered(error, doing, key, connection) from error
    except botocore.exceptions.SSLError as error:
        advice = "check ca_file, and the name in the certificate"
        raise NotTrusted(f"could not {doing} {connection.url(key)}: {error}: {advice}") from error
    except _NO_ANSWER as error:
        tried = getattr(error, _TRIED, "")
        raise Unreachable(f"could not {doing} {connection.url(key)}: no answer: {error}{tried}") from error
    except (botocore.exceptions.BotoCoreError, OSError, ValueError) as error:
        raise StoreError(f"could not {doing} {connection.url(key)}: {error}") from error


class _Again:
    """botocore asks this after every try whether, and after how many seconds, there is to be another."""

    def __init__(self, timeout: float, hasty: bool) -> None:
        self._timeout, self._hasty = timeout, hasty

    def begin(self, params: dict[str, Any], **_others: Any) -> None:
        params["context"]["modelshelf_begun"] = time.monotonic()

    def pause(
        self, response: Any, caught_exception: Any, request_dict: dict[str, Any], attempts: int, **_others: Any
    ) -> float | None:
        """The pause in seconds; None when the answer stands. Gives the rule of _answers.retried to each request."""
        if caught_exception is not None:
            unreachable = not self._hasty and _is_connection_error(caught_exception)
        else:
            unreachable = response is not None and _is_busy(response[1])
        if not unreachable:
            return None
        spent = time.monotonic() - request_dict["context"]["modelshelf_begun"]
        pause: float = min(FIRST_PAUSE * 2 ** (attempts - 1), LONGEST_PAUSE)
        if spent + pause <= self._timeout:
            return pause
        tried = f" (tried {attempts} times in {spent:.0f} s)"
        if caught_exception is not None:
            setattr(caught_exception, _TRIED, tried)
        else:
            response[1]["ResponseMetadata"][_TRIED] = tried
        return None


def _is_connection_error(error: Any) -> bool:
    return isinstance(error, _NO_ANSWER) and not isinstance(error, botocore.exceptions.SSLError)


def _is_busy(answer: Mapping[str, Any]) -> bool:
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 200)
    if status < 300:
        return False
    said = answer.get("Error", {})
    error = error_for(
        status, str(said.get("Code", "")), str(said.get("Message", "")), doing="", where="", access_key=""
    )
    return isinstance(error, Unreachable)


def _answered(error: Any, doing: str, key: str, connection: Connection) -> StoreError:
    """The error that an answer of the server stands for."""
    said, metadata = error.response.get("Error", {}), error.response.get("ResponseMetadata", {})
    status, code, text = (
        metadata.get("HTTPStatusCode", 0),
        str(said.get("Code", "")),
        str(said.get("Message", "")),
    )

    def found(server: str = "") -> StoreError:
        return error_for(
            status,
            code,
            text + metadata.get(_TRIED, ""),
            doing=doing,
            where=connection.url(key),
            access_key=connection.access_key,
            server=server,
            bucket=connection.bucket,
        )

    if not isinstance(found(), Unsupported):
        return found()
    refused = found(_server(connection, metadata))
    if "checksum" in text.lower():
        return Unsupported(f"{refused}. It was sent although request_checksum_calculation is when_required")
    return refused


def _server(connection: Connection, metadata: Mapping[str, Any]) -> str:
    """The name and version of the server, as far as it tells them."""
    name = str(metadata.get("HTTPHeaders", {}).get("server", ""))
    try:
        version = greet(
            connection.endpoint, ca_file=connection.ca_file, validate_certs=connection.validate_certs
        ).version
    except StoreError:
        version = ""
    return " ".join(part for part in (name, version and f"RustFS {version}") if part)
