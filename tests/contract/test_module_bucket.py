# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Buckets on a server: the twelve steps, and what cannot be done. Quotas and what is read are beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_bucket
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server


def public(bucket: str, **changes: Any) -> dict[str, Any]:
    """A bucket policy that lets everybody read one prefix."""
    resource = f"arn:aws:s3:::{bucket}/public/*"
    statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": resource, **changes}
    return {"Version": "2012-10-17", "Statement": [statement]}


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server)
    yield found
    found.clear()


def settings(bench: Bench) -> dict[str, list[tuple[int, bytes]]]:
    """What the server answers about each bucket of the test, read without the product."""
    names = [item["Name"] for item in bench.server.client().list_buckets()["Buckets"]]
    asked = ("versioning", "tagging", "policy", "object-lock")
    found: dict[str, list[tuple[int, bytes]]] = {}
    for name in names:
        if name.startswith(bench.prefix):
            answers = [bench.server.ask("GET", f"/{name}", {what: ""}) for what in asked]
            answers.append(bench.server.ask("GET", "/rustfs/admin/v3/get-bucket-quota", {"bucket": name}))
            found[name] = [(answer.status, answer.body) for answer in answers]
    return found


def test_twelve_steps_of_a_bucket(bench: Bench) -> None:
    name = bench.name("models")
    created, modified, removed = bench.twelve_steps(
        rustfs_bucket,
        create={
            "name": name,
            "versioning": "enabled",
            "quota": "1GiB",
            "tags": {"team": "ml", "year": 2026},
            "policy": public(name),
        },
        modify={"name": name, "versioning": "suspended", "quota": "0", "tags": {"team": "ops"}, "policy": {}},
        delete={"name": name, "state": "absent"},
        also=lambda: settings(bench),
    )
    assert [item["results"][0]["actions"] for item in (created, modified, removed)] == [
        ["create", "enable versioning", "set quota to 1073741824 bytes", "set tags", "set policy"],
        ["suspend versioning", "remove quota", "set tags", "remove policy"],
        ["remove"],
    ]
    assert created["diff"]["before"] == f"{name}: absent\n"
    assert '"quota": 1073741824' in modified["diff"]["before"]
    assert '"quota": 0' in modified["diff"]["after"]
    assert created["calls"]["S3 ListBuckets"] == 1


def test_twelve_steps_of_a_list_with_a_bucket_that_stays(bench: Bench) -> None:
    names = [bench.name(letter) for letter in "abc"]
    created, modified, _removed = bench.twelve_steps(
        rustfs_bucket,
        create={"buckets": [{"name": name} for name in names]},
        modify={"buckets": [{"name": name, "tags": {"n": name} if name != names[0] else None} for name in names]},
        delete={
            "buckets": [{"name": names[0], "state": "present"}, *({"name": name} for name in names[1:])],
            "state": "absent",
        },
        also=lambda: settings(bench),
    )
    assert [item["changed"] for item in created["results"]] == [True, True, True]
    assert [item["changed"] for item in modified["results"]] == [False, True, True]
    assert created["calls"]["S3 ListBuckets"] == 1
    assert list(settings(bench)) == [names[0]]


def test_others_are_reported_and_left_alone(bench: Bench) -> None:
    mine, other = bench.name("mine"), bench.name("other")
    bench.done(rustfs_bucket, name=other)
    done = bench.done(rustfs_bucket, buckets=[{"name": mine}])
    assert other in done["others"] and mine not in done["others"]
    assert set(settings(bench)) == {mine, other}


def test_versions_that_nobody_asked_for_are_reported_and_left_alone(bench: Bench) -> None:
    plain, kept, told, ended = (bench.name(rest) for rest in ("plain", "kept", "told", "ended"))
    for name in (kept, told, ended):
        bench.done(rustfs_bucket, name=name, versioning="enabled")
    wanted = [{"name": plain}, {"name": kept}, {"name": told, "versioning": "enabled"}]
    for check_mode in (True, False):
        done = bench.done(rustfs_bucket, buckets=[*wanted, {"name": bench.name("new")}], check_mode=check_mode)
        assert done["versioned"] == [kept]
    suspended = bench.done(rustfs_bucket, buckets=[{"name": kept, "versioning": "suspended"}])
    assert (suspended["changed"], suspended["versioned"]) == (True, [])
    assert bench.done(rustfs_bucket, buckets=wanted)["versioned"] == []
    assert "versioned" not in bench.done(rustfs_bucket, name=ended)


def test_settings_that_are_not_given_stay(bench: Bench) -> None:
    name = bench.name("models")
    bench.done(rustfs_bucket, name=name, versioning="enabled", tags={"a": "b"}, policy=public(name), quota="5GB")
    before = settings(bench)
    for params in ({"tags": {"a": "b"}}, {"versioning": "enabled"}, {"policy": public(name)}, {}):
        assert bench.done(rustfs_bucket, name=name, **params)["changed"] is False
    assert settings(bench) == before


def test_object_lock_is_had_at_creation_alone(bench: Bench) -> None:
    plain, locked = bench.name("plain"), bench.name("locked")
    bench.done(rustfs_bucket, name=plain)
    done = bench.done(rustfs_bucket, name=locked, object_lock=True, versioning="enabled")
    assert done["results"][0]["actions"] == ["create with object lock"]
    assert bench.done(rustfs_bucket, name=locked, object_lock=True, versioning="enabled")["changed"] is False
    assert bench.done(rustfs_bucket, name=locked)["changed"] is False
    for check_mode in (True, False):
        said = bench.failure(rustfs_bucket, check_mode=check_mode, name=plain, object_lock=True)
        assert f"'{plain}'" in said and "only when a bucket is created" in said
        said = bench.failure(rustfs_bucket, check_mode=check_mode, name=locked, versioning="suspended")
        assert "versioning cannot be suspended" in said
    suspended = b"<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>"
    assert bench.server.ask("PUT", f"/{locked}", {"versioning": ""}, suspended).status == 409


def test_a_bucket_that_is_not_empty_is_not_removed(bench: Bench) -> None:
    client = bench.server.client()
    full, marked, open_one = (bench.name(rest) for rest in ("full", "marked", "open"))
    for name in (full, marked, open_one):
        bench.done(rustfs_bucket, name=name, versioning="enabled")
    for number in range(3):
        client.put_object(Bucket=full, Key=f"k{number}", Body=b"x")
    client.delete_object(Bucket=marked, Key="never-there")
    client.create_multipart_upload(Bucket=open_one, Key="half")
    for name, said in (
        (full, "holds 3 objects"),
        (marked, "holds 1 objects (old versions and delete markers counted)"),
        (open_one, "holds 1 open uploads"),
    ):
        for check_mode in (True, False):
            found = bench.failure(rustfs_bucket, check_mode=check_mode, name=name, state="absent")
            assert said in found and repr(name) in found
    assert set(settings(bench)) == {full, marked, open_one}


def test_many_objects_are_counted_at_least(bench: Bench) -> None:
    name, client = bench.name("many"), bench.server.client()
    bench.done(rustfs_bucket, name=name, versioning="enabled")
    for number in range(1001):
        client.put_object(Bucket=name, Key=f"k{number % 7}", Body=b"")
    assert "holds at least 1000 objects" in bench.failure(rustfs_bucket, name=name, state="absent")


@pytest.mark.parametrize("fault", ["unknown key", "wrong secret", "key without rights"])
@pytest.mark.parametrize("check_mode", [True, False])
def test_a40_a_refused_key_is_no_absent_bucket(bench: Bench, fault: str, check_mode: bool) -> None:
    name, user = bench.name("models"), bench.name("user")
    bench.done(rustfs_bucket, name=name)
    bench.ask("PUT", "add-user", {"accessKey": user}, {"secretKey": "secret-of-a-user", "status": "enabled"})
    keys = {
        "unknown key": {"access_key": "wrong-root"},
        "wrong secret": {"secret_key": "wrong-secret"},
        "key without rights": {"access_key": user, "secret_key": "secret-of-a-user"},
    }[fault]
    said = bench.failure(rustfs_bucket, check_mode=check_mode, name=name, state="absent", **keys)
    assert repr(keys.get("access_key", bench.server.access_key)) in said
    assert name in settings(bench)


def test_a_bucket_of_somebody_else_is_a_clear_failure(bench: Bench) -> None:
    name, user = bench.name("models"), bench.name("user")
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": ["s3:CreateBucket"], "Resource": ["arn:aws:s3:::*"]},
            {"Effect": "Allow", "Action": ["s3:GetBucketLocation"], "Resource": [f"arn:aws:s3:::{bench.name('own')}"]},
        ],
    }
    bench.ask("PUT", "add-canned-policy", {"name": user}, policy)
    bench.ask("PUT", "add-user", {"accessKey": user}, {"secretKey": "secret-of-a-user", "status": "enabled"})
    bench.ask("PUT", "set-user-or-group-policy", {"policyName": user, "userOrGroup": user, "isGroup": "false"})
    bench.done(rustfs_bucket, buckets=[{"name": name}, {"name": bench.name("own")}])
    said = bench.failure(rustfs_bucket, name=name, access_key=user, secret_key="secret-of-a-user")
    assert name in said and "it is there already" in said


def test_a44_on_a_store_that_is_not_there_yet(bench: Bench) -> None:
    wanted = {"name": bench.name("models"), "quota": "1GiB", "endpoint": "http://127.0.0.1:9", "timeout": 1}
    announced = bench.done(rustfs_bucket, check_mode=True, **wanted)
    assert announced["results"][0]["actions"] == ["create", "set quota to 1073741824 bytes"]
    assert "taken for empty" in str(announced["warnings"])
    assert "no answer" in bench.failure(rustfs_bucket, **wanted)


@pytest.mark.parametrize("form", [{"Principal": {"AWS": ["*"]}}, {"Action": ["s3:GetObject"] * 2}, {"Sid": ""}])
def test_a41_policies_that_mean_the_same_are_no_change(bench: Bench, form: dict[str, Any]) -> None:
    name = bench.name("models")
    assert bench.done(rustfs_bucket, name=name, policy=public(name))["changed"] is True
    for check_mode in (True, False):
        again = bench.done(rustfs_bucket, check_mode=check_mode, name=name, policy=public(name, **form))
        assert (again["changed"], again["diff"]) == (False, {"before": "", "after": ""})


NAMES = ["ab", "Upper", "under_score", "-lead", "trail-", "a" * 64, "192.168.1.1", "rustfs"]
POLICIES: list[dict[str, Any]] = [
    {"Principal": None},
    {"Principal": "somebody"},
    {"Action": "s3:Get*"},
    {"Resource": "*"},
    {"Unknown": 1},
]


@pytest.mark.parametrize("name", NAMES)
def test_a45_names_are_refused_here_and_by_the_server(bench: Bench, name: str) -> None:
    for check_mode in (True, False):
        assert repr(name) in bench.failure(
            rustfs_bucket, check_mode=check_mode, buckets=[{"name": bench.name("good")}, {"name": name}]
        )
    assert settings(bench) == {}
    assert bench.server.ask("PUT", f"/{name}").status == 400


@pytest.mark.parametrize("change", POLICIES)
def test_a45_policies_are_refused_here_and_by_the_server(bench: Bench, change: dict[str, Any]) -> None:
    name = bench.name("models")
    policy = public(name, **change)
    for check_mode in (True, False):
        assert "policy" in bench.failure(rustfs_bucket, check_mode=check_mode, name=name, policy=policy)
    bench.done(rustfs_bucket, name=name)
    assert bench.server.ask("PUT", f"/{name}", {"policy": ""}, json.dumps(policy).encode()).status == 400
