# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An S3 server that tests talk to, and a bucket on it."""

from __future__ import annotations

import hashlib
import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import boto3
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The error code in an XML body, "" without one."""
        return self.body.partition(b"<Code>")[2].partition(b"</Code>")[0].decode()


@dataclass(frozen=True)
class Server:
    """An S3 server and a key that may do everything on it. `binary` is the program, where the test started it."""

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    binary: str = ""

    def client(self, access_key: str = "", secret_key: str = "", **settings: Any) -> Any:
        """A client with nothing of the product's own settings but what keeps requests on this server."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=access_key or self.access_key,
            aws_secret_access_key=secret_key or self.secret_key,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, **settings),
        )

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        key: tuple[str, str] | None = None,
        signed: bool = True,
    ) -> Answer:
        """One request as it is written here: `path` is unencoded, nothing is added but a signature over the body."""
        parts = urlsplit(self.endpoint)
        target = quote(path, safe="/-_.~") + (f"?{urlencode(query, quote_via=quote)}" if query else "")
        given = {name.lower(): value for name, value in (headers or {}).items()}
        given.setdefault("x-amz-content-sha256", hashlib.sha256(body).hexdigest())
        request = AWSRequest(method, f"{self.endpoint}{target}", headers=given, data=body)
        if signed:
            request.context["payload_signing_enabled"] = True
            credentials = Credentials(*(key or (self.access_key, self.secret_key)))
            _FixedHash(credentials, "s3", "us-east-1").add_auth(request)
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        try:
            connection.request(method, target, body=body, headers=dict(request.headers.items()))
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()


class _FixedHash(S3SigV4Auth):
    """Signs the x-amz-content-sha256 that is there, right or wrong."""

    def payload(self, request: AWSRequest) -> str:
        return str(request.headers["x-amz-content-sha256"])

    def _modify_request_before_signing(self, request: AWSRequest) -> None:
        kept = request.headers["x-amz-content-sha256"]
        base: Any = super()  # the method is in no stub
        base._modify_request_before_signing(request)
        del request.headers["x-amz-content-sha256"]
        request.headers["x-amz-content-sha256"] = kept


@dataclass(frozen=True)
class Shelf:
    """A bucket of its own for one test."""

    server: Server
    bucket: str

    def parameters(self) -> dict[str, Any]:
        """The connection options of the modules."""
        return {
            "endpoint": self.server.endpoint,
            "bucket": self.bucket,
            "access_key": self.server.access_key,
            "secret_key": self.server.secret_key,
            "region": "us-east-1",
            "ca_file": None,
            "validate_certs": True,
            "timeout": 30,
        }

    def keys(self) -> dict[str, int]:
        """Every key with the size of its object in bytes."""
        pages = self.server.client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        return {item["Key"]: item["Size"] for page in pages for item in page.get("Contents", ())}

    def content(self, key: str) -> bytes:
        """The content of an object."""
        content: bytes = self.server.client().get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return content
