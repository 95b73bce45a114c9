# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies on a server: the twelve steps, every recorded form, removal of what is in use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_policy, rustfs_policy_info
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server
from tests.support.rustfs_server import RunningServer, running_server

RECORDED = Path(__file__).parent / "recorded" / "policies.json"
ONE = readonly_prefix_policy("models", "opt-125m")
TWO = readonly_prefix_policy("models", ["opt-125m", "qwen2-7b"], versioned=True)


def recorded_forms() -> dict[str, Any]:
    """Every document that a real server took, by the note on it."""
    exchanges = json.loads(RECORDED.read_text())["exchanges"]
    return {
        item["note"].removeprefix("put "): json.loads(item["body"])
        for item in exchanges
        if item["path"].endswith("/add-canned-policy") and item["response"]["status"] == 200
        if not item["note"].startswith("name ")
    }


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server)
    yield found
    found.clear()


def test_twelve_steps_of_one_policy(bench: Bench) -> None:
    name = bench.name("reader")
    created, modified, removed = bench.twelve_steps(
        rustfs_policy,
        create={"name": name, "policy": ONE},
        modify={"name": name, "policy": TWO},
        delete={"name": name, "state": "absent"},
    )
    assert [item["results"][0]["actions"] for item in (created, modified, removed)] == [
        ["create"],
        ["update policy"],
        ["remove"],
    ]
    assert created["diff"]["before"] == f"{name}: absent\n"
    assert "qwen2-7b/*" in modified["diff"]["after"]
    assert "qwen2-7b/*" not in modified["diff"]["before"]


def test_twelve_steps_of_a_list(bench: Bench) -> None:
    names = [bench.name(letter) for letter in "abc"]
    created, modified, _removed = bench.twelve_steps(
        rustfs_policy,
        create={"policies": [{"name": name, "policy": ONE} for name in names]},
        modify={"policies": [{"name": name, "policy": ONE if name == names[0] else TWO} for name in names]},
        delete={"policies": [{"name": name} for name in names], "state": "absent"},
    )
    assert created["calls"]["GET list-canned-policies"] == 1
    assert [item["changed"] for item in modified["results"]] == [False, True, True]
    assert names[0] not in modified["diff"]["after"]


@pytest.mark.parametrize("form", recorded_forms())
def test_a41_every_recorded_form_is_written_once(bench: Bench, form: str) -> None:
    name, policy = bench.name("form"), recorded_forms()[form]
    assert bench.done(rustfs_policy, name=name, policy=policy)["changed"] is True
    for check_mode in (True, False):
        again = bench.done(rustfs_policy, check_mode=check_mode, name=name, policy=policy)
        assert (again["changed"], again["diff"]) == (False, {"before": "", "after": ""})
    read = bench.done(rustfs_policy_info, name=name)["policies"][0]["policy"]
    assert bench.done(rustfs_policy, name=name, policy=read)["changed"] is False, "the info module's form is not taken"


@pytest.mark.parametrize(
    ("condition", "change"),
    [
        ({"StringLike": {"s3:prefix": ["b/*", "a/*", "c/*", "d/*"]}}, {"StringLike": {"s3:prefix": ["a/*", "b/*"]}}),
        ({"NumericLessThan": {"s3:max-keys": 100}}, {"NumericLessThan": {"s3:max-keys": "101"}}),
        ({"Bool": {"aws:SecureTransport": ["true"]}}, {"Bool": {"aws:SecureTransport": False}}),
        ({"IpAddress": {"aws:SourceIp": "10.0.0.1"}}, {"IpAddress": {"aws:SourceIp": ["10.0.0.1", "10.0.0.2/32"]}}),
        (
            {"DateLessThan": {"aws:CurrentTime": "2099-01-01T01:00:00+01:00"}},
            {"DateLessThan": {"aws:CurrentTime": "2099-01-01T01:00:00Z"}},
        ),
        ({"StringEquals": {"s3:VersionId": "x"}}, {"StringNotEquals": {"s3:VersionId": "x"}}),
    ],
)
def test_a41_conditions_of_every_kind(bench: Bench, condition: dict[str, Any], change: dict[str, Any]) -> None:
    name = bench.name("condition")

    def policy(value: dict[str, Any]) -> dict[str, Any]:
        statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::m/*", "Condition": value}
        return {"Version": "2012-10-17", "Statement": [statement]}

    changed = [
        bench.done(rustfs_policy, name=name, policy=policy(value))["changed"]
        for value in (condition, condition, change, change)
    ]
    assert changed == [True, False, True, False]


def test_a42_removing_a_policy_in_use_names_who_has_it(bench: Bench) -> None:
    name, user, group = bench.name("used"), bench.name("user"), bench.name("group")
    bench.done(rustfs_policy, name=name, policy=ONE)
    attach(bench, name, user, group)
    for check_mode in (True, False):
        message = bench.failure(rustfs_policy, check_mode=check_mode, name=name, state="absent")
        assert re.search(f"in use by the user '{user}' and the group '{group}'", message)
    wanted = {"name": name, "state": "absent", "detach": True}
    before = bench.state()
    announced = bench.done(rustfs_policy, check_mode=True, **wanted)
    assert bench.state() == before
    done = bench.done(rustfs_policy, **wanted)
    assert done["results"] == announced["results"]
    assert done["results"][0]["actions"] == [
        f"detach from the user '{user}'",
        f"detach from the group '{group}'",
        "remove",
    ]
    assert name not in bench.state()["policies"]
    assert bench.ask("GET", "user-info", {"accessKey": user}).get("policyName", "") == bench.name("other")
    assert bench.done(rustfs_policy, **wanted)["changed"] is False


def attach(bench: Bench, policy: str, user: str, group: str) -> None:
    """Gives the policy to a user that has another one, too, and to a group."""
    bench.ask("PUT", "add-user", {"accessKey": user}, {"secretKey": "secret-of-a-user", "status": "enabled"})
    other = bench.name("other")
    bench.ask("PUT", "add-canned-policy", {"name": other}, ONE)
    body = {"group": group, "members": [user], "groupStatus": "enabled", "isRemove": False}
    bench.ask("PUT", "update-group-members", body=body)
    for names, principal, is_group in ((f"{policy},{other}", user, "false"), (policy, group, "true")):
        query = {"policyName": names, "userOrGroup": principal, "isGroup": is_group}
        bench.ask("PUT", "set-user-or-group-policy", query)


def test_built_in_policies_cannot_be_removed(bench: Bench) -> None:
    for check_mode in (True, False):
        message = bench.failure(rustfs_policy, check_mode=check_mode, name="readonly", state="absent")
        assert "built into RustFS" in message
    assert bench.server.ask("DELETE", "/rustfs/admin/v3/remove-canned-policy", {"name": "readonly"}).status == 500


def test_info_tells_who_has_a_policy_and_is_quiet_about_others(bench: Bench) -> None:
    name, user, group = bench.name("used"), bench.name("user"), bench.name("group")
    bench.done(rustfs_policy, name=name, policy=ONE)
    attach(bench, name, user, group)
    found = bench.done(rustfs_policy_info, name=name)
    assert (found["policies"][0]["users"], found["policies"][0]["groups"]) == ([user], [group])
    assert bench.done(rustfs_policy_info, name=bench.name("nothing"))["policies"] == []
    everything = {item["name"]: item for item in bench.done(rustfs_policy_info)["policies"]}
    assert everything["readonly"]["built_in"] is True
    assert everything[name]["built_in"] is False


@pytest.fixture
def old_bench(standin: Path, tmp_path: Path) -> Iterator[Bench]:
    """A server like one before 1.0.0-alpha.87, which lacks the calls for attaching and for asking who has a policy."""
    lacking = "idp/builtin/policy/attach,idp/builtin/policy/detach,idp/builtin/policy-entities"
    with running_server(tmp_path / "old", standin, STANDIN_LACKS=lacking) as running:
        assert isinstance(running, RunningServer)
        yield bench_on(running)


def test_a10_an_older_server_is_read_and_its_sets_replaced(old_bench: Bench) -> None:
    bench = old_bench
    assert bench.server.ask("GET", "/rustfs/admin/v3/idp/builtin/policy-entities").status == 501
    name, user, group = bench.name("used"), bench.name("user"), bench.name("group")
    bench.done(rustfs_policy, name=name, policy=ONE)
    attach(bench, name, user, group)
    assert f"the user '{user}'" in bench.failure(rustfs_policy, name=name, state="absent")
    assert bench.done(rustfs_policy, name=name, state="absent", detach=True)["changed"] is True
    assert bench.ask("GET", "user-info", {"accessKey": user})["policyName"] == bench.name("other")
    assert bench.ask("GET", "group", {"group": group})["policy"] == ""
