# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups on a server: the twelve steps, and their life in every order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_group, rustfs_group_info, rustfs_policy
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server)
    for letter in "abc":
        body = {"secretKey": "secret-of-a-member", "status": "enabled"}
        found.ask("PUT", "add-user", {"accessKey": found.name(letter)}, body)
    for letter in "pq":
        found.ask("PUT", "add-canned-policy", {"name": found.name(letter)}, readonly_prefix_policy("models", letter))
    yield found
    found.clear()


def named(bench: Bench, **params: Any) -> dict[str, Any]:
    """Parameters for the test's group, with members and policies by their letters."""
    lists = {key: [bench.name(item) for item in params[key]] for key in ("members", "policies") if key in params}
    return {"name": bench.name("group"), **params, **lists}


def group(bench: Bench) -> Mapping[str, Any]:
    """The group as the server has it, with names cut to their letters."""
    found = bench.ask("GET", "group", {"group": bench.name("group")})
    cut = len(bench.prefix) + 1
    policies = sorted(name[cut:] for name in found["policy"].split(",") if name)
    return {"status": found["status"], "members": sorted(item[cut:] for item in found["members"]), "policies": policies}


def test_twelve_steps_of_one_group(bench: Bench) -> None:
    created, modified, removed = bench.twelve_steps(
        rustfs_group,
        create=named(bench, members="ab", policies="p"),
        modify=named(bench, members="bc", policies="q", status="disabled"),
        delete=named(bench, state="absent"),
    )
    a, b, c, p, q = (bench.name(letter) for letter in "abcpq")
    assert created["results"][0]["actions"] == ["create", f"add member {a}", f"add member {b}", f"attach {p}"]
    changes = [f"add member {c}", f"remove member {a}", "set status disabled", f"attach {q}", f"detach {p}"]
    assert modified["results"][0]["actions"] == changes
    removals = [f"remove member {b}", f"remove member {c}", f"detach {q}", "remove"]
    assert removed["results"][0]["actions"] == removals


def test_twelve_steps_of_a_list(bench: Bench) -> None:
    names = [bench.name("one"), bench.name("two")]
    bench.twelve_steps(
        rustfs_group,
        create={"groups": [{"name": name, "members": [bench.name("a")]} for name in names]},
        modify={"groups": [{"name": name, "members": []} for name in names]},
        delete={"groups": [{"name": name} for name in names], "state": "absent"},
    )


LIVES: dict[str, Sequence[tuple[dict[str, Any], Mapping[str, Any]]]] = {
    "members come and go": [
        ({"members": "ab"}, {"status": "enabled", "members": ["a", "b"], "policies": []}),
        ({"members": "c", "purge_members": False}, {"status": "enabled", "members": ["a", "b", "c"], "policies": []}),
        ({"members": "c"}, {"status": "enabled", "members": ["c"], "policies": []}),
        ({"members": ""}, {"status": "enabled", "members": [], "policies": []}),
    ],
    "empty, with a policy, then disabled": [
        ({}, {"status": "enabled", "members": [], "policies": []}),
        ({"policies": "p"}, {"status": "enabled", "members": [], "policies": ["p"]}),
        ({"status": "disabled"}, {"status": "disabled", "members": [], "policies": ["p"]}),
        ({"members": "a"}, {"status": "disabled", "members": ["a"], "policies": ["p"]}),
        ({"policies": "q", "purge_policies": False}, {"status": "disabled", "members": ["a"], "policies": ["p", "q"]}),
        ({"status": "enabled", "policies": ""}, {"status": "enabled", "members": ["a"], "policies": []}),
    ],
    "disabled from the start": [
        ({"status": "disabled", "members": "a"}, {"status": "disabled", "members": ["a"], "policies": []}),
        ({"policies": "pq"}, {"status": "disabled", "members": ["a"], "policies": ["p", "q"]}),
        ({"policies": "q"}, {"status": "disabled", "members": ["a"], "policies": ["q"]}),
    ],
}


@pytest.mark.parametrize("life", LIVES)
def test_a42_a_group_lives_and_ends_with_check_mode_telling_the_truth(bench: Bench, life: str) -> None:
    for params, becomes in LIVES[life]:
        wanted = named(bench, **params)
        before = bench.state()
        announced = bench.done(rustfs_group, check_mode=True, **wanted)
        assert bench.state() == before
        done = bench.done(rustfs_group, **wanted)
        assert (done["results"], done["diff"]) == (announced["results"], announced["diff"])
        assert group(bench) == becomes
        assert bench.done(rustfs_group, **wanted)["changed"] is False
    ends = named(bench, state="absent")
    announced = bench.done(rustfs_group, check_mode=True, **ends)
    assert bench.done(rustfs_group, **ends)["results"] == announced["results"]
    assert bench.name("group") not in bench.state()["groups"]
    assert bench.done(rustfs_group, **ends)["changed"] is False


def test_a42_a_policy_of_a_group_can_be_taken_from_it_and_removed(bench: Bench) -> None:
    policy = bench.name("p")
    bench.done(rustfs_group, **named(bench, members="a", policies="p"))
    assert "the group" in bench.failure(rustfs_policy, name=policy, state="absent")
    bench.done(rustfs_group, **named(bench, policies=""))
    assert bench.done(rustfs_policy, name=policy, state="absent")["changed"] is True


@pytest.mark.parametrize("name", ["with/slash", "группа", "a.b", "with:colon"])
def test_a42_unusual_names_live_and_end(bench: Bench, name: str) -> None:
    wanted = {"name": bench.name(name), "members": [bench.name("a")]}
    assert [bench.done(rustfs_group, **wanted)["changed"] for _time in range(2)] == [True, False]
    assert bench.done(rustfs_group, name=wanted["name"], state="absent")["changed"] is True
    assert wanted["name"] not in bench.state()["groups"]


def test_info_tells_members_and_policies(bench: Bench) -> None:
    bench.done(rustfs_group, **named(bench, members="a", policies="p"))
    line = {
        "name": bench.name("group"),
        "status": "enabled",
        "members": [bench.name("a")],
        "policies": [bench.name("p")],
    }
    assert bench.done(rustfs_group_info, name=bench.name("group"))["groups"] == [line]
    assert line in bench.done(rustfs_group_info)["groups"]
    assert bench.done(rustfs_group_info, name=bench.name("nothing"))["groups"] == []
