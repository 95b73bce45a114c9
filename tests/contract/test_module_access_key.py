# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access keys on a server: the twelve steps, every field, secrets, what expires, and rotation by a second key."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import canonical, readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_access_key, rustfs_access_key_info
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server
from tests.support.rustfs_server import running_server

FIRST, SECOND = "first-secret-of-a-key", "second-secret-of-a-key"
NARROW, NARROWER = readonly_prefix_policy("models", ["a", "b"]), readonly_prefix_policy("models", "a")


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server, hidden=(FIRST, SECOND))
    make_user(found)
    yield found
    found.clear()


def make_user(bench: Bench) -> None:
    body = {"secretKey": "secret-of-the-owner", "status": "enabled"}
    for name in ("owner", "other"):
        bench.ask("PUT", "add-user", {"accessKey": bench.name(name)}, body)


def key(bench: Bench, **params: Any) -> dict[str, Any]:
    return {"key": bench.name("key"), "user": bench.name("owner"), **params}


def info(bench: Bench) -> dict[str, Any]:
    found: dict[str, Any] = bench.ask("GET", "info-service-account", {"accessKey": bench.name("key")})
    return found


def test_twelve_steps_of_one_key(bench: Bench) -> None:
    name = bench.name("key")
    created, modified, removed = bench.twelve_steps(
        rustfs_access_key,
        create=key(
            bench, secret=FIRST, policy=NARROW, name="mount", description="reads", expiration="2098-01-01T00:00:00Z"
        ),
        modify=key(
            bench,
            secret=SECOND,
            rotate_secret=True,
            policy=NARROWER,
            name="mount-2",
            description="reads less",
            expiration="2099-01-01T01:00:00+01:00",
            status="disabled",
        ),
        delete={"key": name, "state": "absent"},
        also=lambda: (bench.signs(name, FIRST), bench.signs(name, SECOND)),
    )
    assert created["results"][0]["actions"] == ["create"]
    changes = ["secret", "policy", "name", "description", "expiration"]
    assert modified["results"][0]["actions"] == [*(f"update {item}" for item in changes), "set status disabled"]
    assert modified["calls"]["POST update-service-account"] == 1
    assert removed["results"][0]["actions"] == ["remove"]


def test_twelve_steps_of_a_list(bench: Bench) -> None:
    names = [bench.name(f"key{number}") for number in range(3)]

    def entries(**last: Any) -> list[dict[str, Any]]:
        found = [{"key": name, "secret": FIRST, "user": bench.name("owner")} for name in names]
        return [*found[:2], {**found[2], **last}]

    created, modified, _removed = bench.twelve_steps(
        rustfs_access_key,
        create={"access_keys": entries()},
        modify={"access_keys": entries(policy=NARROW)},
        delete={"access_keys": [{"key": name} for name in names], "state": "absent"},
    )
    assert created["calls"]["GET list-access-keys-bulk"] == 1
    assert [item["changed"] for item in modified["results"]] == [False, False, True]


FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "own policy": ({}, {"policy": NARROW}, ["update policy"]),
    "other policy": ({"policy": NARROW}, {"policy": NARROWER}, ["update policy"]),
    "inherits again": ({"policy": NARROW}, {"policy": {}}, ["inherit the policy"]),
    "name": ({}, {"name": "mount"}, ["update name"]),
    "no name": ({"name": "mount"}, {"name": ""}, ["update name"]),
    "description": ({"description": "one"}, {"description": "two"}, ["update description"]),
    "no description": ({"description": "one"}, {"description": ""}, ["update description"]),
    "expiration": ({}, {"expiration": "2099-01-01T00:00:00Z"}, ["update expiration"]),
    "later": ({"expiration": "2098-01-01T00:00:00Z"}, {"expiration": "2099-01-01T00:00:00Z"}, ["update expiration"]),
    "off": ({}, {"status": "disabled"}, ["set status disabled"]),
    "on": ({"status": "disabled"}, {"status": "enabled"}, ["set status enabled"]),
    "on, with a policy": ({"status": "disabled", "policy": NARROW}, {"status": "enabled", "policy": NARROW}, []),
    "secret": ({}, {"secret": SECOND, "rotate_secret": True}, ["update secret"]),
    "secret of one that is off": (
        {"status": "disabled"},
        {"secret": SECOND, "rotate_secret": True},
        ["update secret"],
    ),
    "secret of one with a policy": (
        {"policy": NARROW},
        {"secret": SECOND, "rotate_secret": True},
        ["update secret"],
    ),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("secret_given", [True, False])
def test_a43_each_field_changes_once(bench: Bench, field: str, secret_given: bool) -> None:
    before, after, actions = FIELDS[field]
    bench.done(rustfs_access_key, **key(bench, **{"secret": FIRST, **before}))
    wanted = key(bench, **({"secret": FIRST, **after} if secret_given else after))
    start = bench.state()
    announced = bench.done(rustfs_access_key, check_mode=True, **wanted)
    assert bench.state() == start
    done = bench.done(rustfs_access_key, **wanted)
    assert (done["results"], done["diff"]) == (announced["results"], announced["diff"])
    assert done["results"][0]["actions"] == (actions or ["set status enabled"])
    for check_mode in (True, False):
        assert bench.done(rustfs_access_key, check_mode=check_mode, **wanted)["changed"] is False


def test_a43_what_is_not_given_stays(bench: Bench) -> None:
    given = {"name": "mount", "description": "reads", "expiration": "2099-01-01T00:00:00Z", "status": "disabled"}
    bench.done(rustfs_access_key, **key(bench, secret=FIRST, policy=NARROW, **given))
    before = info(bench)
    assert bench.done(rustfs_access_key, key=bench.name("key"))["changed"] is False
    assert bench.done(rustfs_access_key, **key(bench, secret=FIRST))["changed"] is False
    assert info(bench) == before


def test_a43_a_secret_that_does_not_sign_fails_unless_it_is_to_be_rotated(bench: Bench) -> None:
    bench.done(rustfs_access_key, **key(bench, secret=FIRST, policy=NARROW))
    before = info(bench)
    for params in ({}, {"policy": NARROW}):
        for check_mode in (True, False):
            message = bench.failure(rustfs_access_key, check_mode=check_mode, **key(bench, secret=SECOND, **params))
            assert "secret is not the one that the store has" in message
            assert "set rotate_secret (role rustfs_config: rustfs_config_rotate_secrets)" in message
    bench.done(rustfs_access_key, **key(bench, secret=SECOND, rotate_secret=True))
    assert (bench.signs(bench.name("key"), FIRST), bench.signs(bench.name("key"), SECOND)) == (403, 200)
    assert info(bench) == before, "rotation touched something else"


def test_a_key_of_another_user_is_not_taken(bench: Bench) -> None:
    bench.done(rustfs_access_key, **key(bench, secret=FIRST))
    for check_mode in (True, False):
        message = bench.failure(
            rustfs_access_key, check_mode=check_mode, key=bench.name("key"), user=bench.name("other")
        )
        assert f"belongs to '{bench.name('owner')}'" in message


def test_a_key_of_a_disabled_user_is_left_as_it_is(bench: Bench) -> None:
    wanted = key(bench, secret=FIRST)
    bench.done(rustfs_access_key, **wanted)
    bench.ask("PUT", "set-user-status", {"accessKey": bench.name("owner"), "status": "disabled"})
    assert bench.done(rustfs_access_key, **wanted)["changed"] is False
    assert "rotate_secret" in bench.failure(rustfs_access_key, **{**wanted, "secret": SECOND})


def test_a_key_of_the_root_user(bench: Bench) -> None:
    wanted = {"key": bench.name("key"), "secret": FIRST, "user": bench.server.access_key, "policy": NARROW}
    assert [bench.done(rustfs_access_key, **wanted)["changed"] for _time in range(2)] == [True, False]
    assert bench.done(rustfs_access_key, key=wanted["key"], state="absent")["changed"] is True


def test_rotation_by_a_second_key_leaves_the_first_alone(bench: Bench) -> None:
    old, new = bench.name("old"), bench.name("new")
    wanted = {"user": bench.name("owner")}
    bench.done(rustfs_access_key, key=old, secret=FIRST, **wanted)
    before = bench.state()
    bench.done(rustfs_access_key, key=new, secret=SECOND, **wanted)
    assert (bench.signs(old, FIRST), bench.signs(new, SECOND)) == (200, 200)
    bench.done(rustfs_access_key, key=old, state="absent")
    assert (bench.signs(old, FIRST), bench.signs(new, SECOND)) == (403, 200)
    after = bench.state()
    assert {kind: before[kind] for kind in ("users", "policies", "groups")} == {
        kind: after[kind] for kind in ("users", "policies", "groups")
    }


def test_what_expires_soon_is_reported(bench: Bench) -> None:
    soon = datetime.now(UTC) + timedelta(days=10, hours=1)
    moment = f"{soon:%Y-%m-%dT%H:%M:%SZ}"
    wanted = key(bench, secret=FIRST, expiration=moment)
    line = {"key": bench.name("key"), "expiration": moment, "days": 10}
    for check_mode in (True, False, False):
        result = bench.done(rustfs_access_key, check_mode=check_mode, **wanted, expires_within_days=30)
        assert result["expiring"] == [line]
        assert any(moment in text and "10 days" in text for text in map(str, result["warnings"]))
    assert bench.done(rustfs_access_key, **wanted, expires_within_days=9)["expiring"] == []
    assert "expiring" not in bench.done(rustfs_access_key, **wanted)
    assert line in bench.done(rustfs_access_key_info, expires_within_days=11)["expiring"]


def test_info_tells_status_and_policy(bench: Bench) -> None:
    one, two, owner = bench.name("one"), bench.name("two"), bench.name("owner")
    bench.done(rustfs_access_key, key=one, secret=FIRST, user=owner, policy=NARROW, name="mount", status="disabled")
    bench.done(rustfs_access_key, key=two, secret=FIRST, user=owner, description="all")
    rest = {"user": owner, "expiration": None}
    lines = [
        {"key": one, "name": "mount", "description": "", "status": "disabled", "policy": canonical(NARROW), **rest},
        {"key": two, "name": "", "description": "all", "status": "enabled", "policy": "inherited", **rest},
    ]
    assert bench.done(rustfs_access_key_info, user=owner)["access_keys"] == lines
    assert bench.done(rustfs_access_key_info, key=one)["access_keys"] == lines[:1]
    everything = bench.done(rustfs_access_key_info)["access_keys"]
    assert all(line in everything for line in lines)
    assert bench.done(rustfs_access_key_info, key=bench.name("no-such"))["access_keys"] == []
    assert bench.done(rustfs_access_key_info, user=bench.name("nobody"))["access_keys"] == []


def test_a10_an_older_server_has_other_names_for_the_calls(standin: Path, tmp_path: Path) -> None:
    lacking = "add-service-account,delete-service-account,list-access-keys-bulk,info-access-key"
    with running_server(tmp_path / "old", standin, STANDIN_LACKS=lacking) as running:
        bench = bench_on(running)
        make_user(bench)
        assert bench.server.ask("PUT", "/rustfs/admin/v3/add-service-account").status == 501
        wanted = key(bench, secret=FIRST, policy=NARROW)
        changed = [bench.done(rustfs_access_key, **wanted)["changed"] for _time in range(2)]
        changed.append(bench.done(rustfs_access_key, **key(bench, secret=FIRST, policy={}))["changed"])
        changed.append(bench.done(rustfs_access_key, **key(bench, secret=FIRST, policy={}))["changed"])
        changed.append(bench.done(rustfs_access_key, key=bench.name("key"), state="absent")["changed"])
        assert changed == [True, False, True, False, True]
        assert bench.signs(bench.name("key"), FIRST) == 403
