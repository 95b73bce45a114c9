# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task of a dry run takes for done."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _access_keys, _groups, _policies, _users
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import InUse, NotFound, Refused
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import Kind
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import Task
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.fake_client import FakeClient

READ = {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}]}
STORE: dict[str, Any] = {
    "list_users": {"alice": {"status": "enabled", "policyName": "old,kept", "memberOf": ["team"]}},
    "group": {"status": "enabled", "members": ["alice", "bob"], "policy": "old,kept"},
    "list_canned_policies": {"old": READ, "kept": READ},
    "idp/builtin/policy_entities": {"policyMappings": [{"policy": "old", "users": ["alice"], "groups": ["team"]}]},
    "list_access_keys_bulk": {"alice": {"serviceAccounts": [{"accessKey": "key-1"}]}},
}
REMOVAL = ["remove member alice", "remove member bob", "detach kept", "detach old", "remove"]
REMOVAL_OF_THE_REST = ["remove member bob", "detach kept", "remove"]
GONE = {"gone": {"users": ["alice"], "policies": ["old"], "groups": []}}


def actions(kind: Kind, announced: Any, *, check_mode: bool = True, **entry: Any) -> list[str]:
    """What a task with one entry would do."""
    defaults = {name: option.get("default") for name, option in kind.options.items()}
    settings = {name: option.get("default") for name, option in kind.extra.items()} | {"announced": announced}
    task = Task(FakeClient(**STORE), check_mode, warn=lambda text: None, settings=settings)
    return kind.plan(task, [{**defaults, **entry}])[0].actions


@pytest.mark.parametrize(
    ("kind", "entry", "now", "then"),
    [
        (_groups.KIND, {"name": "team", "members": ["bob"]}, ["remove member alice"], []),
        (_groups.KIND, {"name": "team", "policies": ["kept"]}, ["detach old"], []),
        (_groups.KIND, {"name": "team", "state": "absent"}, REMOVAL, REMOVAL_OF_THE_REST),
        (_users.KIND, {"name": "alice", "policies": ["kept"]}, ["detach old"], ["create", "attach kept"]),
        (_users.KIND, {"name": "alice", "state": "absent"}, ["remove"], []),
        (_policies.KIND, {"name": "old", "policy": READ}, [], ["create"]),
        (_access_keys.KIND, {"key": "key-1", "state": "absent"}, ["remove"], []),
    ],
)
def test_a45_what_earlier_tasks_would_have_removed_is_not_there(
    kind: Kind, entry: dict[str, Any], now: list[str], then: list[str]
) -> None:
    assert actions(kind, {}, **entry) == now
    assert actions(kind, GONE, **entry) == then
    assert actions(kind, GONE, check_mode=False, **entry) == now, "a real run asks the store alone"


@pytest.mark.parametrize(
    ("kind", "entry", "said"),
    [
        (_groups.KIND, {"name": "team", "members": ["alice"]}, "members has alice, and there is no such user"),
        (_groups.KIND, {"name": "team", "policies": ["old"]}, "policies has old, which is not on the store"),
        (
            _access_keys.KIND,
            {"key": "key-1", "user": "alice", "secret": "canary-1"},
            "user is 'alice', and there is no",
        ),
    ],
)
def test_a45_a_dry_run_refuses_what_refers_to_something_gone(kind: Kind, entry: dict[str, Any], said: str) -> None:
    with pytest.raises(NotFound, match=said):
        actions(kind, GONE, **entry)


@pytest.mark.parametrize("entry", [{"state": "absent"}, {"status": "disabled"}])
def test_the_user_whose_access_key_signs_is_neither_removed_nor_disabled(entry: dict[str, Any]) -> None:
    store = {**STORE, "list_access_keys_bulk": {"alice": {"serviceAccounts": [{"accessKey": "root"}]}}}
    task = Task(FakeClient(**store), True, pytest.fail, settings={"announced": {}, "remove_others": False})
    defaults = {name: option.get("default") for name, option in _users.KIND.options.items()}
    with pytest.raises(Refused, match=r"user 'alice': its key signs these requests\. Use another"):
        _users.plan(task, [{**defaults, "name": "alice", **entry}])
    assert _users.plan(task, [{**defaults, "name": "alice", "policies": ["kept"]}])[0].actions == ["detach old"]


def test_a45_keys_that_are_gone_are_neither_others_nor_their_users_keys() -> None:
    gone = {"gone": {"access_keys": ["key-1"]}}
    assert actions(_access_keys.KIND, gone, key="key-1", state="absent") == []
    task = Task(FakeClient(**STORE), True, print, settings={"announced": gone, "remove_others": False})
    entry = {name: option.get("default") for name, option in _users.KIND.options.items()}
    change = _users.plan(task, [{**entry, "name": "alice", "state": "absent"}])[0]
    assert (change.actions, change.before["access_keys"]) == (["remove"], [])


def test_a45_who_has_a_policy_is_told_as_earlier_tasks_would_leave_it() -> None:
    old = {"name": "old", "state": "absent"}
    with pytest.raises(InUse, match="in use by the user 'alice' and the group 'team'"):
        actions(_policies.KIND, {}, **old)
    lost = {"users": {"alice": {"old": False}}, "groups": {"team": {"old": False, "kept": True}}}
    assert actions(_policies.KIND, {"moved": lost}, **old) == ["remove"]
    with pytest.raises(InUse, match=r"in use by the group 'team'\."):
        actions(_policies.KIND, {"gone": {"users": ["alice"]}}, **old)
    with pytest.raises(InUse, match=r"in use by the user 'carol'\."):
        actions(_policies.KIND, {"moved": {**lost, "users": {**lost["users"], "carol": {"old": True}}}}, **old)
