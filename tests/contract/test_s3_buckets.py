# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Buckets and what they are told."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator

import pytest

from tests.contract.s3_server import Server, Shelf
from tests.contract.test_s3_objects import refused


def new_name(start: str = "bucket") -> str:
    return f"{start}-{secrets.token_hex(6)}"


@pytest.fixture
def user(server: Server) -> Iterator[tuple[str, str]]:
    """A user of the built-in policy `readwrite`."""
    name, secret = new_name("user"), secrets.token_hex(20)
    body = json.dumps({"secretKey": secret, "status": "enabled"}).encode()
    assert server.ask("PUT", "/rustfs/admin/v3/add-user", {"accessKey": name}, body).status == 200
    query = {"policyName": "readwrite", "userOrGroup": name, "isGroup": "false"}
    assert server.ask("PUT", "/rustfs/admin/v3/set-user-or-group-policy", query).status == 200
    yield name, secret
    server.ask("DELETE", "/rustfs/admin/v3/remove-user", {"accessKey": name})


@pytest.mark.parametrize(
    "name", ["ab", "Upper", "under_score", "-lead", "trail-", "a" * 64, "192.168.1.1", "a..b", "a.-b", "rustfs"]
)
def test_names_that_no_bucket_has(server: Server, name: str) -> None:
    answer = server.ask("PUT", f"/{name}")
    assert (answer.status, answer.code) == (400, "InvalidBucketName")


def test_made_listed_and_removed(server: Server) -> None:
    client, name = server.client(), new_name("with.dot")
    assert refused(client.head_bucket, Bucket=name)[0] == 404
    client.create_bucket(Bucket=name)
    client.head_bucket(Bucket=name)
    assert name in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]
    client.put_object(Bucket=name, Key="k", Body=b"")
    assert refused(client.delete_bucket, Bucket=name) == (409, "BucketNotEmpty")
    client.delete_object(Bucket=name, Key="k")
    client.delete_bucket(Bucket=name)
    assert refused(client.delete_bucket, Bucket=name) == (404, "NoSuchBucket")


def test_making_it_again_says_nothing_to_root_and_no_to_others(
    server: Server, shelf: Shelf, user: tuple[str, str]
) -> None:
    server.client().put_object(Bucket=shelf.bucket, Key="k", Body=b"kept")
    assert server.ask("PUT", f"/{shelf.bucket}").status == 200
    assert shelf.content("k") == b"kept"
    answer = server.ask("PUT", f"/{shelf.bucket}", key=user)
    assert (answer.status, answer.code) == (409, "BucketAlreadyExists")


def test_location_and_versioning(server: Server, shelf: Shelf) -> None:
    client, bucket = server.client(), shelf.bucket
    assert b"us-east-1</LocationConstraint>" in server.ask("GET", f"/{bucket}", {"location": ""}).body
    assert "Status" not in client.get_bucket_versioning(Bucket=bucket)
    for status in ("Enabled", "Suspended", "Enabled"):
        client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})
        assert client.get_bucket_versioning(Bucket=bucket)["Status"] == status


def test_object_lock_is_for_buckets_made_with_it(server: Server, shelf: Shelf) -> None:
    client, name = server.client(), new_name()
    none = refused(client.get_object_lock_configuration, Bucket=shelf.bucket)
    assert none == (404, "ObjectLockConfigurationNotFoundError")
    client.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
    said = client.get_object_lock_configuration(Bucket=name)["ObjectLockConfiguration"]
    assert said == {"ObjectLockEnabled": "Enabled"}
    assert client.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    suspend = {"Bucket": name, "VersioningConfiguration": {"Status": "Suspended"}}
    assert refused(client.put_bucket_versioning, **suspend) == (409, "InvalidBucketState")
    rule = {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}
    lock = {"ObjectLockEnabled": "Enabled", "Rule": rule}
    client.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration=lock)
    assert client.get_object_lock_configuration(Bucket=name)["ObjectLockConfiguration"] == lock
    version = client.put_object(Bucket=name, Key="k", Body=b"")["VersionId"]
    assert refused(client.delete_object, Bucket=name, Key="k", VersionId=version)[0] == 403
    client.delete_object(Bucket=name, Key="k", VersionId=version, BypassGovernanceRetention=True)
    client.delete_bucket(Bucket=name)


def test_tags(server: Server, shelf: Shelf) -> None:
    client, bucket = server.client(), shelf.bucket
    assert refused(client.get_bucket_tagging, Bucket=bucket) == (404, "NoSuchTagSet")
    tags = [{"Key": "team", "Value": "ml"}, {"Key": "<&>", "Value": ""}]
    client.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags})
    assert client.get_bucket_tagging(Bucket=bucket)["TagSet"] == tags
    client.delete_bucket_tagging(Bucket=bucket)
    assert refused(client.get_bucket_tagging, Bucket=bucket) == (404, "NoSuchTagSet")


def bucket_policy(bucket: str, effect: str, actions: list[str], resource: str) -> str:
    statement = {"Effect": effect, "Principal": {"AWS": ["*"]}, "Action": actions}
    return json.dumps({"Version": "2012-10-17", "Statement": [{**statement, "Resource": [resource]}]})


def test_a_bucket_policy_reads_back_as_sent_and_opens_its_prefix(server: Server, shelf: Shelf) -> None:
    client, bucket = server.client(), shelf.bucket
    assert refused(client.get_bucket_policy, Bucket=bucket) == (404, "NoSuchBucketPolicy")
    policy = bucket_policy(bucket, "Allow", ["s3:GetObject"], f"arn:aws:s3:::{bucket}/public/*")
    client.put_bucket_policy(Bucket=bucket, Policy=policy)
    assert client.get_bucket_policy(Bucket=bucket)["Policy"] == policy
    for key in ("public/x", "private/x"):
        client.put_object(Bucket=bucket, Key=key, Body=b"x")
    assert server.ask("GET", f"/{bucket}/public/x", signed=False).body == b"x"
    assert server.ask("GET", f"/{bucket}/private/x", signed=False).status == 403
    assert server.ask("PUT", f"/{bucket}/public/y", body=b"y", signed=False).status == 403
    client.delete_bucket_policy(Bucket=bucket)
    assert server.ask("GET", f"/{bucket}/public/x", signed=False).status == 403


def test_a_denial_in_a_bucket_policy_holds_for_root(server: Server, shelf: Shelf) -> None:
    client, bucket = server.client(), shelf.bucket
    client.put_object(Bucket=bucket, Key="k", Body=b"x")
    policy = bucket_policy(bucket, "Deny", ["s3:GetObject"], f"arn:aws:s3:::{bucket}/*")
    client.put_bucket_policy(Bucket=bucket, Policy=policy)
    assert refused(client.get_object, Bucket=bucket, Key="k") == (403, "AccessDenied")
    client.delete_bucket_policy(Bucket=bucket)
    assert shelf.content("k") == b"x"


def test_a_bucket_policy_without_principal_is_malformed(server: Server, shelf: Shelf) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{shelf.bucket}/*"}
    body = json.dumps({"Version": "2012-10-17", "Statement": [statement]}).encode()
    answer = server.ask("PUT", f"/{shelf.bucket}", {"policy": ""}, body)
    assert (answer.status, answer.code) == (400, "MalformedPolicy")
