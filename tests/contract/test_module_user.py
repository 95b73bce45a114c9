# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users on a server: the twelve steps, every field, secrets, and several policies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_user, rustfs_user_info
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server
from tests.support.rustfs_server import running_server

FIRST, SECOND = "first-secret-of-a-user", "second-secret-of-a-user"


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server, hidden=(FIRST, SECOND))
    make_policies(found)
    yield found
    found.clear()


def make_policies(bench: Bench) -> None:
    for letter in "pqr":
        bench.ask("PUT", "add-canned-policy", {"name": bench.name(letter)}, readonly_prefix_policy("models", letter))


def policies_of(bench: Bench, user: str) -> set[str]:
    found = bench.ask("GET", "user-info", {"accessKey": user}).get("policyName", "")
    return set(filter(None, found.split(",")))


def test_twelve_steps_of_one_user(bench: Bench) -> None:
    name, p, q = bench.name("user"), bench.name("p"), bench.name("q")
    created, modified, removed = bench.twelve_steps(
        rustfs_user,
        create={"name": name, "secret": FIRST, "policies": [p]},
        modify={"name": name, "secret": SECOND, "rotate_secret": True, "policies": [q, p], "status": "disabled"},
        delete={"name": name, "state": "absent"},
        also=lambda: (bench.signs(name, FIRST), bench.signs(name, SECOND)),
    )
    assert created["results"][0]["actions"] == ["create", f"attach {p}"]
    assert modified["results"][0]["actions"] == ["update secret", "set status disabled", f"attach {q}"]
    assert removed["results"][0]["actions"] == ["remove"]


def test_twelve_steps_of_a_list_without_secrets(bench: Bench) -> None:
    names = [bench.name(f"user{number}") for number in range(3)]
    p, q = bench.name("p"), bench.name("q")
    created, modified, _removed = bench.twelve_steps(
        rustfs_user,
        create={"users": [{"name": name, "policies": [p]} for name in names]},
        modify={"users": [{"name": name, "policies": [q] if name == names[1] else [p]} for name in names]},
        delete={"users": [{"name": name} for name in names], "state": "absent"},
    )
    assert created["calls"]["GET list-users"] == 1
    assert [item["changed"] for item in modified["results"]] == [False, True, False]
    assert modified["results"][1]["actions"] == [f"attach {q}", f"detach {p}"]


@pytest.mark.parametrize(
    ("before", "after", "actions"),
    [
        ({}, {"status": "disabled"}, ["set status disabled"]),
        ({"status": "disabled"}, {"status": "enabled"}, ["set status enabled"]),
        ({"policies": ["p"]}, {"policies": []}, ["detach p"]),
        ({"policies": ["p"]}, {"policies": ["q"]}, ["attach q", "detach p"]),
        ({"policies": ["p"]}, {"policies": ["q"], "purge_policies": False}, ["attach q"]),
        ({"secret": FIRST}, {"secret": SECOND, "rotate_secret": True}, ["update secret"]),
        ({"policies": ["p"]}, {"secret": SECOND, "rotate_secret": True}, ["update secret"]),
        ({"status": "disabled", "secret": FIRST}, {"secret": SECOND, "rotate_secret": True}, ["update secret"]),
    ],
)
def test_a43_each_field_changes_once(
    bench: Bench, before: dict[str, Any], after: dict[str, Any], actions: list[str]
) -> None:
    name = bench.name("user")

    def named(params: dict[str, Any]) -> dict[str, Any]:
        policies = {"policies": [bench.name(item) for item in params["policies"]]} if "policies" in params else {}
        return {"name": name, **params, **policies}

    bench.done(rustfs_user, **named(before))
    done = bench.done(rustfs_user, **named(after))
    assert done["results"][0]["actions"] == [action.replace("ch ", f"ch {bench.prefix}-") for action in actions]
    for check_mode in (True, False):
        assert bench.done(rustfs_user, check_mode=check_mode, **named(after))["changed"] is False
    status = after.get("status", before.get("status", "enabled"))
    assert bench.ask("GET", "user-info", {"accessKey": name})["status"] == status


def test_a43_a_secret_that_does_not_sign_fails_unless_it_is_to_be_rotated(bench: Bench) -> None:
    name, p = bench.name("user"), bench.name("p")
    bench.done(rustfs_user, name=name, secret=FIRST, policies=[p])
    for check_mode in (True, False):
        message = bench.failure(rustfs_user, check_mode=check_mode, name=name, secret=SECOND)
        assert "secret is not the one that the store has" in message and "rotate_secret" in message
    assert bench.signs(name, FIRST) == 200
    bench.done(rustfs_user, name=name, secret=SECOND, rotate_secret=True)
    assert (bench.signs(name, FIRST), bench.signs(name, SECOND)) == (403, 200)
    assert policies_of(bench, name) == {p}, "rotation touched the policies"


def test_a43_a_disabled_user_keeps_its_secret(bench: Bench) -> None:
    name = bench.name("user")
    wanted = {"name": name, "secret": FIRST, "status": "disabled"}
    assert bench.done(rustfs_user, **wanted)["changed"] is True
    assert bench.done(rustfs_user, **wanted)["changed"] is False
    assert "rotate_secret" in bench.failure(rustfs_user, **{**wanted, "secret": SECOND})


def test_removing_a_user_tells_which_access_keys_go_with_it(bench: Bench) -> None:
    name, key = bench.name("user"), bench.name("key")
    bench.done(rustfs_user, name=name)
    body = {"targetUser": name, "accessKey": key, "secretKey": FIRST}
    bench.ask("PUT", "add-service-account", body=body)
    announced = bench.done(rustfs_user, check_mode=True, name=name, state="absent")
    assert key in announced["diff"]["before"]
    bench.done(rustfs_user, name=name, state="absent")
    assert key not in bench.state()["keys"]


def test_a_name_that_an_access_key_has_is_refused(bench: Bench) -> None:
    name, key = bench.name("user"), bench.name("key")
    bench.done(rustfs_user, name=name)
    bench.ask("PUT", "add-service-account", body={"targetUser": name, "accessKey": key, "secretKey": FIRST})
    for check_mode in (True, False):
        assert "has an access key of that name" in bench.failure(rustfs_user, check_mode=check_mode, name=key)


def test_info_lists_users_with_policies_and_groups(bench: Bench) -> None:
    name, group, p = bench.name("user"), bench.name("group"), bench.name("p")
    bench.done(rustfs_user, name=name, policies=[p])
    body = {"group": group, "members": [name], "groupStatus": "enabled", "isRemove": False}
    bench.ask("PUT", "update-group-members", body=body)
    line = {"name": name, "status": "enabled", "policies": [p], "groups": [group]}
    assert bench.done(rustfs_user_info, name=name)["users"] == [line]
    assert line in bench.done(rustfs_user_info)["users"]
    assert bench.done(rustfs_user_info, name=bench.name("nobody"))["users"] == []


def keeps_the_first_policy(bench: Bench) -> None:
    name, p, q = bench.name("user"), bench.name("p"), bench.name("q")
    bench.done(rustfs_user, name=name, policies=[p])
    wanted = {"name": name, "policies": [q], "purge_policies": False}
    assert bench.done(rustfs_user, **wanted)["results"][0]["actions"] == [f"attach {q}"]
    assert policies_of(bench, name) == {p, q}
    assert bench.done(rustfs_user, **wanted)["changed"] is False
    assert bench.done(rustfs_user, name=name, policies=[p, q])["changed"] is False


def test_a10_a_second_policy_keeps_the_first(bench: Bench) -> None:
    keeps_the_first_policy(bench)


def test_a10_a_second_policy_keeps_the_first_on_an_older_server(standin: Path, tmp_path: Path) -> None:
    lacking = "idp/builtin/policy/attach,idp/builtin/policy/detach,list-access-keys-bulk"
    with running_server(tmp_path / "old", standin, STANDIN_LACKS=lacking) as running:
        bench = bench_on(running)
        make_policies(bench)
        assert bench.server.ask("GET", "/rustfs/admin/v3/list-access-keys-bulk", {"all": "true"}).status == 501
        keeps_the_first_policy(bench)


def test_a10_a_call_that_the_server_lacks_is_named_with_the_version_that_has_it(standin: Path, tmp_path: Path) -> None:
    with running_server(tmp_path / "old", standin, STANDIN_LACKS="list-users") as running:
        message = bench_on(running).run(rustfs_user, name="somebody")["msg"]
    assert "could not list the users" in message
    assert "RustFS 1.0.0-rc.3) does not support it" in message
