# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The probe with real keys: what a right one gets, and that every right too many or too few is found and cleaned up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from tests.contract.probe_reader import OBJECT, PREFIX, Reader, allowing, listing, reader_on
from tests.contract.s3_server import Server


@pytest.fixture
def reader(server: Server) -> Iterator[Reader]:
    made = reader_on(server)
    yield made
    made.bench.clear()


@pytest.fixture
def versioned(server: Server) -> Iterator[Reader]:
    made = reader_on(server, versioned=True)
    yield made
    made.bench.clear()


def found(result: dict[str, Any], action: str) -> set[tuple[str, str]]:
    return {(item["expected"], item["found"]) for item in result["probes"] if item["action"] == action}


@pytest.mark.parametrize("kind", ["reader", "versioned"])
def test_a1_a_reader_reads_its_prefix_and_is_proved(kind: str, request: pytest.FixtureRequest) -> None:
    either: Reader = request.getfixturevalue(kind)
    before = either.content()
    result = either.probe()
    assert not result.get("failed"), result["msg"]
    assert result["changed"] is False
    assert all(item["right"] for item in result["probes"])
    assert {"expected": "allowed", "found": "206"}.items() <= next(
        item for item in result["probes"] if item["target"].endswith(OBJECT)
    ).items()
    assert found(result, "put") == found(result, "delete") == {("403 AccessDenied", "403 AccessDenied")}
    assert found(result, "batch delete") == {("AccessDenied for the key", "AccessDenied for the key")}
    assert either.content() == before


def test_a1_the_reader_of_an_unversioned_bucket_lacks_a_right_on_a_versioned_one(versioned: Reader) -> None:
    policy = readonly_prefix_policy(versioned.bucket, PREFIX)
    versioned.bench.ask("PUT", "add-canned-policy", {"name": versioned.name}, policy)
    said = versioned.probe()["msg"]
    assert "get of a version of" in said and OBJECT in said
    assert "expected allowed, found 403 AccessDenied" in said
    assert "s3:GetObjectVersion" in said and repr(versioned.name) in said
    assert "RustFS " in said


def test_an_empty_prefix_is_proved_by_a_key_that_is_not_there(reader: Reader) -> None:
    result = reader.probe(prefixes=["nothing-yet"])
    assert "list of s3://" in result["msg"]
    reader.give(*readonly_prefix_policy(reader.bucket, "nothing-yet")["Statement"])
    result = reader.probe(prefixes=["nothing-yet", PREFIX])
    assert not result.get("failed"), result["msg"]
    assert ("404 NoSuchKey", "404 NoSuchKey") in found(result, "get")


def test_a_folder_marker_is_not_taken_for_an_object(reader: Reader) -> None:
    client = reader.bench.server.client()
    client.put_object(Bucket=reader.bucket, Key=f"{PREFIX}/", Body=b"")
    assert not reader.probe().get("failed")
    client.delete_object(Bucket=reader.bucket, Key=OBJECT)
    result = reader.probe()
    assert not result.get("failed"), result["msg"]
    assert ("404 NoSuchKey", "404 NoSuchKey") in found(result, "get")


TOO_WIDE: dict[str, tuple[str, Any]] = {
    "list everything": ("list of", lambda b: listing(b)),
    "list an empty prefix": ("with an empty prefix", lambda b: listing(b, "StringEquals", prefix="")),
    "list if there is a condition": (
        "without a prefix",
        lambda b: listing(b, "StringLikeIfExists", prefix="opt-125m/*"),
    ),
    "list all but another": ("without a prefix", lambda b: listing(b, "StringNotLike", prefix="qwen/*")),
    "list folders": ("list of folders", lambda b: listing(b, "StringEquals", delimiter="/")),
    "list the prefix without its slash": (f"/{PREFIX}: ", lambda b: listing(b, prefix=PREFIX)),
    "list what begins like it": (f"/{PREFIX}: ", lambda b: listing(b, prefix=f"{PREFIX}*")),
    "list a longer sibling": ("/opt-125m-v2/: ", lambda b: listing(b, prefix="opt-125m-v2/*")),
    "list a shorter sibling": ("/opt/: ", lambda b: listing(b, prefix="opt/*")),
    "list uploads": ("list of uploads", lambda b: allowing("s3:ListBucketMultipartUploads", b)),
    "get everything": ("get of", lambda b: allowing("s3:GetObject", f"{b}/*")),
    "get what begins like it": (f"get of s3://{{b}}/{PREFIX}", lambda b: allowing("s3:GetObject", f"{b}/{PREFIX}*")),
    "get a longer sibling": ("/opt-125m-v2/", lambda b: allowing("s3:GetObject", f"{b}/opt-125m-v2/*")),
    "get a shorter sibling": ("/opt/", lambda b: allowing("s3:GetObject", f"{b}/opt/*")),
    "put below": ("put of s3://{b}/opt-125m/", lambda b: allowing("s3:PutObject", f"{b}/{PREFIX}/*")),
    "put beside": ("put of s3://{b}/opt-125m-", lambda b: allowing("s3:PutObject", f"{b}/{PREFIX}-*")),
    "put anywhere": ("start of a multipart upload", lambda b: allowing("s3:PutObject", f"{b}/*")),
    "tag": ("tagging of", lambda b: allowing("s3:PutObjectTagging", f"{b}/{PREFIX}/*")),
    "delete below": ("delete of s3://{b}/opt-125m/", lambda b: allowing("s3:DeleteObject", f"{b}/{PREFIX}/*")),
    "delete beside": ("batch delete of s3://{b}/opt-125m-", lambda b: allowing("s3:DeleteObject", f"{b}/{PREFIX}-*")),
    "list other buckets": ("without a prefix", lambda b: listing("*")),
    "get from other buckets": ("get of s3://modelshelf-probe-", lambda b: allowing("s3:GetObject", f"*/{PREFIX}/*")),
    "administer": (
        "list of users of the server",
        lambda _b: {"Effect": "Allow", "Action": ["admin:ListUsers"]},
    ),
    "everything": ("put of", lambda b: allowing("s3:*", "*")),
}


WRITING = [right for right in TOO_WIDE if right.startswith(("put", "delete", "tag", "everything"))]


@pytest.mark.parametrize(
    ("kind", "right"), [("reader", right) for right in TOO_WIDE] + [("versioned", right) for right in WRITING]
)
def test_each_right_too_many_is_named_and_leaves_nothing_behind(
    kind: str, right: str, request: pytest.FixtureRequest
) -> None:
    reader: Reader = request.getfixturevalue(kind)
    named, statement = TOO_WIDE[right]
    reader.give(statement(reader.bucket))
    before = reader.content()
    result = reader.probe()
    assert result.get("failed"), f"a key that may {right} passed"
    assert named.replace("{b}", reader.bucket) in result["msg"]
    assert repr(reader.name) in result["msg"]
    assert [item for item in result["probes"] if not item["right"]]
    assert result["left_behind"] == []
    assert reader.content() == before


@pytest.mark.parametrize(
    ("right", "action", "resource"),
    [
        ("get of a version", "s3:GetObjectVersion", "/opt-125m-*"),
        ("delete of a version", ["s3:DeleteObject", "s3:DeleteObjectVersion"], "/opt-125m/*"),
    ],
)
def test_rights_to_versions_too_many(versioned: Reader, right: str, action: Any, resource: str) -> None:
    versioned.give(allowing(action, f"{versioned.bucket}{resource}"))
    before = versioned.content()
    result = versioned.probe()
    assert f"{right} of s3://" in result["msg"]
    assert (result["left_behind"], versioned.content()) == ([], before)


def test_what_a_group_or_a_bucket_policy_adds_is_found_too(reader: Reader) -> None:
    client = reader.bench.server.client()
    policy = {
        "Version": "2012-10-17",
        "Statement": [{**allowing("s3:GetObject", f"{reader.bucket}/*"), "Principal": "*"}],
    }
    client.put_bucket_policy(Bucket=reader.bucket, Policy=json.dumps(policy))
    assert "get of s3://" in reader.probe()["msg"]
    client.delete_bucket_policy(Bucket=reader.bucket)
    assert not reader.probe().get("failed")


@pytest.mark.parametrize(
    ("statement", "named"),
    [(0, f"list of s3://{{b}}/{PREFIX}/: expected allowed"), (1, "expected allowed, found 403 AccessDenied")],
)
def test_a_right_too_few_is_named(reader: Reader, statement: int, named: str) -> None:
    kept = [item for number, item in enumerate(reader.policy()["Statement"]) if number != statement]
    reader.give(*kept, right=False)
    result = reader.probe()
    assert named.replace("{b}", reader.bucket) in result["msg"]
    assert "s3:ListBucket for the prefix, s3:GetObject" in result["msg"]
