# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What policies allow, as RustFS evaluates them (rustfs.md 0 and 2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.replay.calls import VERSION, Calls, allow, deny

DENIED = (403, "AccessDenied")
OBJECTS = ("opt/v1/config", "opt/", "opt-v2/v1/config", "optX", "qwen/v1/config")


@pytest.fixture
def bucket(root: Calls, fresh_name: str) -> str:
    root.put(fresh_name).ok()
    for key in OBJECTS:
        root.put(f"{fresh_name}/{key}", key).ok()
    return fresh_name


@pytest.fixture
def user(root: Calls, bucket: str) -> Calls:
    """A user without any right, named as the bucket; `give` gives it some."""
    return root.add_user(bucket)


def give(root: Calls, user: Calls, *statements: dict[str, Any]) -> None:
    root.attach(root.add_policy(user.access_key, *statements), user.access_key)


def reader(bucket: str, *prefixes: str) -> list[dict[str, Any]]:
    condition = {"StringLike": {"s3:prefix": list(prefixes)}}
    return [allow("s3:ListBucket", bucket, Condition=condition), allow("s3:GetObject", f"{bucket}/opt/*")]


def test_nothing_is_allowed_without_a_policy(bucket: str, user: Calls) -> None:
    for reply in (user.get(""), user.list(bucket), user.get(f"{bucket}/optX"), user.put(f"{bucket}/new")):
        assert reply.refusal == DENIED


@pytest.mark.parametrize(
    ("prefix", "status"),
    [(None, 403), ("", 403), ("opt", 403), ("opt/", 200), ("opt/v1", 200), ("opt-v2/", 403), ("optX", 403), ("o", 403)],
)
@pytest.mark.parametrize("how", [{"list-type": "2"}, {}, {"versions": ""}], ids=["v2", "v1", "versions"])
def test_a_reader_lists_below_its_prefix_alone(
    root: Calls, bucket: str, user: Calls, prefix: str | None, status: int, how: dict[str, str]
) -> None:
    give(root, user, *reader(bucket, "opt/*"))
    query = how if prefix is None else {**how, "prefix": prefix}
    reply = user.send("GET", f"/{bucket}", query)
    assert reply.status == status
    if status == 403:
        assert reply.refusal == DENIED


def test_a_reader_does_nothing_else(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, *reader(bucket, "opt/*"))
    assert user.get(f"{bucket}/opt/v1/config").status == 200
    assert user.send("HEAD", f"/{bucket}/opt/v1/config").status == 200
    assert user.get(f"{bucket}/opt/v1/none").refusal == (404, "NoSuchKey")
    for key in ("opt", "opt/", "opt-v2/v1/config", "optX", "qwen/v1/config", "qwen/v1/none"):
        assert user.get(f"{bucket}/{key}").refusal == DENIED, key
        assert user.send("HEAD", f"/{bucket}/{key}").status == 403, key
    assert user.send("HEAD", f"/{bucket}").status == 403
    refused = [
        user.put(f"{bucket}/opt/new"),
        user.send("DELETE", f"/{bucket}/opt/v1/config"),
        user.send("POST", f"/{bucket}/opt/new", {"uploads": ""}),
        user.send("PUT", f"/{bucket}/opt/copy", headers={"x-amz-copy-source": f"/{bucket}/opt/v1/config"}),
        user.send("PUT", f"/{bucket}/opt/v1/config", {"tagging": ""}, "<Tagging><TagSet></TagSet></Tagging>"),
        user.get(f"{bucket}/opt/v1/config", tagging=""),
        user.get(f"{bucket}/opt/v1/config", versionId="null"),
        user.send("GET", f"/{bucket}/opt/v1/config", {"attributes": ""}, headers={"x-amz-object-attributes": "ETag"}),
        user.get(bucket, uploads="", prefix="opt/"),
        user.get(bucket, location=""),
        user.get(""),
        user.put(f"{bucket}-new"),
    ]
    assert [reply.refusal for reply in refused] == [DENIED] * len(refused)


def test_a_batch_delete_without_the_right_is_200_with_an_error_per_key(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, *reader(bucket, "opt/*"))
    body = "<Delete><Object><Key>opt/v1/config</Key></Object></Delete>"
    answer = user.send("POST", f"/{bucket}", {"delete": ""}, body).answer
    assert answer.status == 200 and b"<Code>AccessDenied</Code>" in answer.body
    assert root.get(f"{bucket}/opt/v1/config").status == 200


def test_the_bare_prefix_in_the_condition_shows_siblings(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, *reader(bucket, "opt", "opt/*"))
    listed = user.list(bucket, prefix="opt").ok().answer.body
    assert b"opt-v2/v1/config" in listed and b"optX" in listed


def test_dots_and_double_slashes(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, *reader(bucket, "opt/*"))
    assert user.send("GET", f"/{bucket}/opt/../qwen/v1/config", raw=True).refusal == DENIED
    assert user.send("GET", f"/{bucket}/opt//v1/config", raw=True).refusal == (400, "InvalidArgument")
    assert user.list(bucket, prefix="opt/../qwen/").refusal == (400, "InvalidArgument")
    assert root.send("GET", f"/{bucket}/opt//v1/config", raw=True).refusal == (400, "InvalidArgument")


def test_versions_need_rights_of_their_own(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, *reader(bucket, "opt/*"))
    on = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    root.send("PUT", f"/{bucket}", {"versioning": ""}, on).ok()
    version = root.put(f"{bucket}/opt/v1/config", "second").ok().answer.headers["x-amz-version-id"]
    path = f"{bucket}/opt/v1/config"
    assert user.get(path).ok().answer.body == b"second"
    assert user.get(path, versionId=version).refusal == DENIED
    assert user.send("HEAD", f"/{path}", {"versionId": version}).status == 200
    give(root, user, *reader(bucket, "opt/*"), allow("s3:GetObjectVersion", f"{bucket}/opt/*"))
    assert user.get(path, versionId=version).status == 200
    give(root, user, allow("s3:DeleteObject", f"{bucket}/opt/*"))
    assert user.send("DELETE", f"/{path}", {"versionId": version}).refusal == DENIED
    give(root, user, allow("s3:DeleteObject s3:DeleteObjectVersion", f"{bucket}/opt/*"))
    assert user.send("DELETE", f"/{path}", {"versionId": version}).status == 204


def test_bucket_actions_match_the_bucket_and_not_its_keys(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, allow("s3:ListBucket s3:GetBucketLocation", f"{bucket}/*"))
    assert user.list(bucket).refusal == DENIED and user.get(bucket, location="").refusal == DENIED
    give(root, user, allow("s3:ListBucket s3:GetBucketLocation", bucket))
    assert user.list(bucket).status == 200 and user.get(bucket, location="").status == 200


@pytest.mark.parametrize(
    ("pattern", "status"),
    [("{}/*", 200), ("{}/?pt/v1/config", 200), ("{}/opt/?/config", 403), ("{}*", 200), ("*", 200)],
)
def test_wildcards_in_resources(root: Calls, bucket: str, user: Calls, pattern: str, status: int) -> None:
    give(root, user, allow("s3:GetObject", pattern.format(bucket)))
    assert user.get(f"{bucket}/opt/v1/config").status == status


def test_a_deny_wins_over_every_allow(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, allow("s3:*", bucket, f"{bucket}/*"), deny("s3:GetObject", f"{bucket}/opt/*"))
    assert user.get(f"{bucket}/opt/v1/config").refusal == DENIED
    assert user.get(f"{bucket}/qwen/v1/config").status == 200


def test_not_action_and_not_resource(root: Calls, bucket: str, user: Calls) -> None:
    arn = f"arn:aws:s3:::{bucket}"
    give(root, user, {"Effect": "Allow", "NotAction": ["s3:DeleteObject"], "Resource": [f"{arn}/*"]})
    assert user.get(f"{bucket}/optX").status == 200
    assert user.send("DELETE", f"/{bucket}/optX").refusal == DENIED
    give(root, user, {"Effect": "Allow", "Action": ["s3:GetObject"], "NotResource": [f"{arn}/opt/*"]})
    assert user.get(f"{bucket}/optX").status == 200
    assert user.get(f"{bucket}/opt/v1/config").refusal == DENIED


@pytest.mark.parametrize(
    ("condition", "query", "status"),
    [
        ({"StringLikeIfExists": {"s3:prefix": "opt/*"}}, {}, 200),
        ({"StringLikeIfExists": {"s3:prefix": "opt/*"}}, {"prefix": ""}, 403),
        ({"StringNotLike": {"s3:prefix": "qwen/*"}}, {}, 200),
        ({"StringNotLike": {"s3:prefix": "qwen/*"}}, {"prefix": "qwen/"}, 403),
        ({"StringEquals": {"s3:prefix": ["", "opt/"]}}, {"prefix": ""}, 200),
        ({"StringEquals": {"s3:prefix": ["", "opt/"]}}, {}, 403),
        ({"StringEqualsIgnoreCase": {"s3:prefix": "OPT/"}}, {"prefix": "opt/"}, 200),
        ({"StringEquals": {"s3:delimiter": "/"}}, {"delimiter": "/"}, 200),
        ({"StringEquals": {"s3:delimiter": "/"}}, {}, 403),
        ({"NumericLessThanEquals": {"s3:max-keys": "10"}}, {"max_keys": "10"}, 200),
        ({"NumericLessThanEquals": {"s3:max-keys": "10"}}, {"max_keys": "11"}, 403),
        ({"NumericLessThanEquals": {"s3:max-keys": "10"}}, {}, 403),
        ({"StringLike": {"s3:prefix": "opt/*"}, "StringEquals": {"s3:delimiter": "/"}}, {"prefix": "opt/"}, 403),
        ({"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}}, {}, 200),
        ({"NotIpAddress": {"aws:SourceIp": "127.0.0.0/8"}}, {}, 403),
        ({"Bool": {"aws:SecureTransport": "true"}}, {}, 403),
        ({"Null": {"s3:prefix": "true"}}, {}, 200),
        ({"Null": {"s3:prefix": "true"}}, {"prefix": "opt/"}, 403),
        ({"DateLessThan": {"aws:CurrentTime": "2099-01-01T00:00:00Z"}}, {}, 200),
        ({"DateGreaterThan": {"aws:CurrentTime": "2099-01-01T00:00:00Z"}}, {}, 403),
        ({"ForAnyValue:StringLike": {"s3:prefix": "opt/*"}}, {"prefix": "opt/"}, 200),
        ({"ForAnyValue:StringLike": {"s3:prefix": "opt/*"}}, {}, 403),
        ({"ForAllValues:StringLike": {"s3:prefix": "opt/*"}}, {}, 200),
    ],
    ids=str,
)
def test_conditions(root: Calls, bucket: str, user: Calls, condition: dict, query: dict, status: int) -> None:
    give(root, user, allow("s3:ListBucket", bucket, Condition=condition))
    assert user.list(bucket, **query).status == status


def test_a_user_sees_the_buckets_that_it_may_list_or_locate(root: Calls, bucket: str, user: Calls) -> None:
    give(root, user, *reader(bucket, "opt/*"))
    assert user.get("").refusal == DENIED
    give(root, user, *reader(bucket, "opt/*"), allow("s3:GetBucketLocation", bucket))
    assert f"<Name>{bucket}</Name>".encode() in user.get("").ok().answer.body


def test_built_in_readonly_does_not_list(root: Calls, bucket: str, user: Calls) -> None:
    root.attach("readonly", user.access_key)
    assert user.get(f"{bucket}/optX").status == 200 and user.get("").status == 200
    assert user.list(bucket).refusal == DENIED and user.put(f"{bucket}/new").refusal == DENIED
    assert user.send("HEAD", f"/{bucket}").status == 403


def set_bucket_policy(root: Calls, bucket: str, *statements: dict[str, Any]) -> None:
    document = {"Version": VERSION, "Statement": [{"Principal": "*", **statement} for statement in statements]}
    root.send("PUT", f"/{bucket}", {"policy": ""}, json.dumps(document)).ok()


def test_a_bucket_policy_allows_where_no_policy_of_the_user_does(root: Calls, bucket: str, user: Calls) -> None:
    set_bucket_policy(root, bucket, allow("s3:GetObject", f"{bucket}/opt/*"))
    nobody = Calls(root.endpoint, "", "")
    assert nobody.get(f"{bucket}/opt/v1/config").status == user.get(f"{bucket}/opt/v1/config").status == 200
    assert nobody.get(f"{bucket}/optX").refusal == user.get(f"{bucket}/optX").refusal == DENIED


def test_a_bucket_policys_deny_hits_root_but_for_the_policy_itself(root: Calls, bucket: str, user: Calls) -> None:
    root.attach("readwrite", user.access_key)
    set_bucket_policy(root, bucket, deny("s3:*", bucket, f"{bucket}/*"))
    assert user.get(f"{bucket}/optX").refusal == root.get(f"{bucket}/optX").refusal == DENIED
    assert root.get(bucket, policy="").status == 200
    root.send("DELETE", f"/{bucket}", {"policy": ""}).ok()
    assert user.get(f"{bucket}/optX").status == root.get(f"{bucket}/optX").status == 200
