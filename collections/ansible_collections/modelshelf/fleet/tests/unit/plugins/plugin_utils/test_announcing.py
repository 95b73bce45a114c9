# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task of a dry run hears of earlier ones, and leaves for later ones."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.plugins.action import ActionBase

from ansible_collections.modelshelf.fleet.plugins.action import (
    rustfs_access_key,
    rustfs_group,
    rustfs_policy,
    rustfs_user,
)
from ansible_collections.modelshelf.fleet.plugins.plugin_utils._announcing import FACT, AnnouncingAction

CREATED = {"results": [{"name": "new", "actions": ["create"]}, {"name": "old", "actions": ["update policy"]}]}


@pytest.fixture(autouse=True)
def quiet_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ActionBase, "run", lambda _self, _tmp, _task_vars: {})


def act(
    plugin: type[AnnouncingAction], fact: Any = None, *, check_mode: bool = True, answer: Any = None, **arguments: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments that the module gets, and the result of the task."""
    action: Any = plugin.__new__(plugin)
    action._task = SimpleNamespace(args=arguments, check_mode=check_mode, async_val=0)
    given: dict[str, Any] = {}

    def execute(module_args: dict[str, Any], **_others: Any) -> dict[str, Any]:
        given.update(module_args)
        return dict(answer or CREATED)

    action._execute_module = execute
    return given, action.run(None, {"ansible_facts": {FACT: fact} if fact else {}})


def fact(**names: Any) -> dict[str, Any]:
    return {"run": os.getppid(), "names": names}


def told(plugin: type[AnnouncingAction], results: dict[str, list[str]], **names: Any) -> dict[str, Any]:
    """What is known after a task with these actions by name."""
    answer = {"results": [{"name": name, "actions": actions} for name, actions in results.items()]}
    found: dict[str, Any] = act(plugin, fact(**names), answer=answer)[1]["ansible_facts"][FACT]["names"]
    return found


def test_what_would_be_made_is_added_to_what_is_known() -> None:
    given, result = act(rustfs_policy.ActionModule, fact(policies=["first"], users=["alice"]), name="new")
    assert given == {"name": "new", "announced": {"policies": ["first"], "users": ["alice"]}}
    assert result["ansible_facts"] == {FACT: fact(policies=["first", "new"], users=["alice"], gone={"policies": []})}
    given, result = act(rustfs_user.ActionModule, fact(policies=["first"]), name="new")
    assert given == {"name": "new", "announced": {"policies": ["first"]}}
    known = {"policies": ["first"], "users": ["new"], "gone": {"users": []}, "moved": {"users": {}}}
    assert result["ansible_facts"] == {FACT: fact(**known)}


def test_what_would_be_removed_is_gone_until_it_is_made_again() -> None:
    known = told(rustfs_policy.ActionModule, {"p": ["detach from the user 'a'", "remove"]}, policies=["p", "q"])
    assert known == {"policies": ["q"], "gone": {"policies": ["p"]}}
    assert told(rustfs_policy.ActionModule, {"p": ["create"]}, **known) == {
        "policies": ["p", "q"],
        "gone": {"policies": []},
    }
    assert told(rustfs_user.ActionModule, {"a": ["remove"]}, **known)["gone"] == {"policies": ["p"], "users": ["a"]}


def test_policies_that_users_and_groups_get_and_lose_are_known() -> None:
    known = told(rustfs_user.ActionModule, {"a": ["create", "attach p"], "b": ["detach p", "attach q"], "c": []})
    assert known["moved"] == {"users": {"a": {"p": True}, "b": {"p": False, "q": True}}}
    known = told(rustfs_group.ActionModule, {"g": ["add member a", "attach p"]}, **known)
    assert known["moved"]["groups"] == {"g": {"p": True}}
    known = told(rustfs_user.ActionModule, {"a": ["detach p"], "b": ["remove"]}, **known)
    assert known["moved"] == {"users": {"a": {"p": False}}, "groups": {"g": {"p": True}}}


def test_keys_that_are_removed_are_gone() -> None:
    given, _result = act(rustfs_access_key.ActionModule, fact(users=["alice"]))
    assert given == {"announced": {"users": ["alice"]}}
    known = told(rustfs_access_key.ActionModule, {"k": ["remove"], "l": ["create", "set status disabled"]})
    assert known == {"access_keys": ["l"], "gone": {"access_keys": ["k"]}}


def test_a_real_run_knows_and_leaves_nothing() -> None:
    given, result = act(rustfs_user.ActionModule, fact(policies=["first"]), check_mode=False, name="new")
    assert given == {"name": "new"}
    assert "ansible_facts" not in result


def test_a_fact_of_another_run_a_failure_and_a_given_value_are_left_alone() -> None:
    old = {**fact(policies=["first"]), "run": -1}
    assert act(rustfs_user.ActionModule, old)[0] == {"announced": {}}
    assert "ansible_facts" not in act(rustfs_user.ActionModule, answer={"failed": True})[1]
    assert act(rustfs_user.ActionModule, announced={"policies": ["mine"]})[0] == {"announced": {"policies": ["mine"]}}
