# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store of the test hosts as its clients see it: with the root key, and with a reader's."""

from __future__ import annotations

import json
from typing import Any

import boto3
from botocore.config import Config

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin
from lab.settings import SECRETS
from tests.support.fleet import ADDRESSES
from tests.support.serving import CANARIES

ENDPOINT = f"http://{ADDRESSES['store1']}:9000"


def pair(who: str) -> tuple[str, str]:
    """Access key and secret of `root`, `writer` or `reader` in the test inventory."""
    made = json.loads(SECRETS.read_text())
    return made[f"{who}_access_key"], CANARIES.get(f"modelshelf_{who}_secret_key", made[f"{who}_secret_key"])


def s3(access_key: str, secret_key: str) -> Any:
    """An S3 client that tries once."""
    return boto3.client(
        "s3",
        endpoint_url=ENDPOINT,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, read_timeout=20),
    )


def admin() -> Client:
    """The admin API, with the root key."""
    return Client(Admin(ENDPOINT, *pair("root"), deadline=10))


def shelf_keys() -> list[str]:
    """The key of every object in the bucket of the models."""
    pages = s3(*pair("root")).get_paginator("list_objects_v2").paginate(Bucket="models")
    return [item["Key"] for page in pages for item in page.get("Contents", ())]
