# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An S3 server that tests talk to, and a bucket on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config


@dataclass(frozen=True)
class Server:
    """An S3 server and a key that may do everything on it."""

    endpoint: str
    access_key: str
    secret_key: str

    def client(self) -> Any:
        """A client with nothing of the product's own settings but what keeps requests on this server."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
        )


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
