# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching policies to users and groups, as RustFS answers (rustfs.md 1.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.replay.calls import Calls, Reply, allow

ATTACH, DETACH = "idp/builtin/policy/attach", "idp/builtin/policy/detach"


@pytest.fixture
def user(root: Calls, fresh_name: str) -> str:
    """A user, and policies of its name with 1, 2 and 3 behind."""
    root.add_user(fresh_name)
    for number in (1, 2, 3):
        root.add_policy(f"{fresh_name}-{number}", allow("s3:GetObject", "models/*"))
    return fresh_name


def change(root: Calls, call: str, *policies: str, **whom: str) -> Reply:
    return root.admin("POST", call, {"policies": policies, **whom})


def attached(root: Calls, user: str) -> str | None:
    found: str | None = root.admin("GET", "user-info", accessKey=user).ok().json.get("policyName")
    return found


def test_set_replaces_all_and_nothing_clears(root: Calls, user: str) -> None:
    root.attach(f"{user}-1", user)
    root.attach(f"{user}-2,{user}-3", user)
    assert attached(root, user) == f"{user}-2,{user}-3"
    root.attach("", user)
    assert attached(root, user) is None


def test_set_takes_other_spellings(root: Calls, user: str) -> None:
    query = {"policy": f"{user}-1", "user-or-group": user, "is-group": "false"}
    root.admin("PUT", "set-user-or-group-policy", **query).ok()
    assert attached(root, user) == f"{user}-1"


@pytest.mark.parametrize("policies", ["{0}-1,{0}-x", "{0}-1, {0}-2", "{0}-x"])
def test_set_with_one_unknown_name_changes_nothing(root: Calls, user: str, policies: str) -> None:
    root.attach(f"{user}-3", user)
    query = {"policyName": policies.format(user), "userOrGroup": user, "isGroup": "false"}
    refused = root.admin("PUT", "set-user-or-group-policy", **query)
    assert refused.error == (500, "InternalError", "policy does not exist")
    assert attached(root, user) == f"{user}-3"


def test_set_for_nobody_no_group_root_or_without_saying_which(root: Calls, user: str) -> None:
    def refused(**query: str) -> tuple[int, str]:
        return root.admin("PUT", "set-user-or-group-policy", policyName=f"{user}-1", **query).refusal

    assert refused(userOrGroup=f"{user}-x", isGroup="false") == (400, "InvalidArgument")
    assert refused(userOrGroup=f"{user}-x", isGroup="true") == (404, "NoSuchResource")
    assert refused(userOrGroup=root.access_key, isGroup="false") == (400, "InvalidArgument")
    assert refused(userOrGroup=user) == (400, "InvalidArgument")
    assert refused(userOrGroup=user, isGroup="0") == (400, "InvalidArgument")


def test_attach_adds_and_tells_what_changed(root: Calls, user: str) -> None:
    assert change(root, ATTACH, f"{user}-1", user=user).ok().json["policiesAttached"] == [f"{user}-1"]
    assert "policiesAttached" not in change(root, ATTACH, f"{user}-1", user=user).ok().json
    both = change(root, ATTACH, f"{user}-1", f"{user}-2", user=user)
    assert both.ok().json["policiesAttached"] == [f"{user}-2"]
    assert attached(root, user) == f"{user}-1,{user}-2"


def test_detach_removes_and_tells_what_changed(root: Calls, user: str) -> None:
    root.attach(f"{user}-1,{user}-2", user)
    assert change(root, DETACH, f"{user}-1", user=user).ok().json["policiesDetached"] == [f"{user}-1"]
    for name in (f"{user}-1", f"{user}-unknown"):
        assert "policiesDetached" not in change(root, DETACH, name, user=user).ok().json
    assert attached(root, user) == f"{user}-2"


def test_attach_and_detach_for_groups(root: Calls, user: str) -> None:
    root.add_members(f"{user}-group").ok()
    change(root, ATTACH, f"{user}-1", f"{user}-2", group=f"{user}-group").ok()
    change(root, DETACH, f"{user}-1", group=f"{user}-group").ok()
    assert root.admin("GET", "group", group=f"{user}-group").ok().json["policy"] == f"{user}-2"


@pytest.mark.parametrize("call", [ATTACH, DETACH])
def test_what_attach_and_detach_refuse(root: Calls, user: str, call: str) -> None:
    def refused(*policies: str, **whom: Any) -> tuple[int, str]:
        return change(root, call, *policies, **whom).refusal

    assert refused(f"{user}-1", user=f"{user}-x") == (400, "InvalidArgument")
    assert refused(f"{user}-1", group=f"{user}-x") == (404, "NoSuchResource")
    assert refused(f"{user}-1", user=user, group="g") == (400, "InvalidArgument")
    assert refused(f"{user}-1") == (400, "InvalidArgument")
    assert refused(user=user) == (400, "InvalidArgument")
    assert refused(f"{user}-1", user=root.access_key) == (400, "InvalidArgument")


def test_attach_of_an_unknown_policy_is_500(root: Calls, user: str) -> None:
    error = change(root, ATTACH, f"{user}-x", user=user).error
    assert error == (500, "InternalError", "policy does not exist")


def test_entities_by_user_group_and_policy(root: Calls, user: str) -> None:
    root.attach(f"{user}-1", user)
    root.add_members(f"{user}-group", user).ok()
    root.attach(f"{user}-2", f"{user}-group", group=True)
    in_group = {"group": f"{user}-group", "policies": [f"{user}-2"]}

    def entities(**query: str) -> dict[str, Any]:
        found: dict[str, Any] = root.admin("GET", "idp/builtin/policy-entities", **query).ok().json
        assert found.pop("timestamp")
        return found

    mapping = {"user": user, "policies": [f"{user}-1"], "memberOfMappings": [in_group]}
    assert entities(user=user) == {"userMappings": [mapping]}
    assert entities(group=f"{user}-group") == {"groupMappings": [in_group]}
    used = {"policy": f"{user}-2", "users": [], "groups": [f"{user}-group"]}
    assert entities(policy=f"{user}-2") == {"policyMappings": [used]}
    assert used in entities()["policyMappings"]
    assert entities(user=f"{user}-x") == {}
