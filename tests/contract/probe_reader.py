# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reader whose policy a test chooses, and the probe with its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_access_probe
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server

SECRET = "canary-of-the-reader"
PREFIX = "opt-125m"
OBJECT = f"{PREFIX}/v1/config.json"


@dataclass(frozen=True)
class Reader:
    """A bucket with two models, and a user whose policy a test chooses."""

    bench: Bench
    versioned: bool = False

    @property
    def bucket(self) -> str:
        return self.bench.name("models")

    @property
    def name(self) -> str:
        return self.bench.name("reader")

    def policy(self) -> dict[str, Any]:
        """The right one."""
        return readonly_prefix_policy(self.bucket, PREFIX, self.versioned)

    def give(self, *statements: dict[str, Any], right: bool = True) -> None:
        """The reader's policy: the right one and more, or these alone."""
        own = self.policy()["Statement"] if right else []
        policy = {"Version": "2012-10-17", "Statement": [*own, *statements]}
        self.bench.ask("PUT", "add-canned-policy", {"name": self.name}, policy)

    def probe(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """What the module says."""
        server = self.bench.server
        arguments = {
            "bucket": self.bucket,
            "access_key": self.name,
            "secret_key": SECRET,
            "prefixes": [PREFIX],
            "versioned": self.versioned,
            "cleanup_access_key": server.access_key,
            "cleanup_secret_key": server.secret_key,
        }
        return self.bench.run(rustfs_access_probe, check_mode=check_mode, **{**arguments, **params})

    def content(self) -> list[tuple[Any, ...]]:
        """Every version, delete marker and open upload of the bucket."""
        client = self.bench.server.client()
        versions = client.list_object_versions(Bucket=self.bucket)
        uploads = client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", ())
        kept = [*versions.get("Versions", ()), *versions.get("DeleteMarkers", ())]
        return sorted(
            [(item["Key"], item["VersionId"]) for item in kept] + [(item["Key"], "upload") for item in uploads]
        )


def reader_on(server: Server, versioned: bool = False) -> Reader:
    """A reader with the right policy, on a bucket with a model of its own and one of somebody else."""
    reader = Reader(bench_on(server, [SECRET]), versioned)
    client = server.client()
    client.create_bucket(Bucket=reader.bucket)
    if versioned:
        client.put_bucket_versioning(Bucket=reader.bucket, VersioningConfiguration={"Status": "Enabled"})
    for key in (OBJECT, "opt-125m-v2/v1/config.json", "opt/v1/config.json", "qwen/v1/config.json"):
        client.put_object(Bucket=reader.bucket, Key=key, Body=b"{}")
    reader.give()
    reader.bench.ask("PUT", "add-user", {"accessKey": reader.name}, {"secretKey": SECRET, "status": "enabled"})
    query = {"policyName": reader.name, "userOrGroup": reader.name, "isGroup": "false"}
    reader.bench.ask("PUT", "set-user-or-group-policy", query)
    return reader


def listing(bucket: str, operator: str = "StringLike", **condition: Any) -> dict[str, Any]:
    """A statement that lets list; `prefix` and `delimiter` are the conditions."""
    rules = {operator: {f"s3:{name}": value for name, value in condition.items()}} if condition else {}
    return allowing("s3:ListBucket", bucket, **({"Condition": rules} if rules else {}))


def allowing(action: str | list[str], resource: str, **more: Any) -> dict[str, Any]:
    actions = [action] if isinstance(action, str) else action
    return {"Effect": "Allow", "Action": actions, "Resource": [f"arn:aws:s3:::{resource}"], **more}
