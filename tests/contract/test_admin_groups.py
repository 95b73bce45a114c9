# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls for groups, as RustFS answers them (rustfs.md 1.3)."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.contract.replay.calls import Calls, Reply


def info(root: Calls, group: str) -> Reply:
    return root.admin("GET", "group", group=group)


def test_groups_lists_names_and_group_tells_all_about_one(root: Calls, fresh_name: str) -> None:
    root.add_user(f"{fresh_name}-user")
    root.add_members(fresh_name, f"{fresh_name}-user").ok()
    assert fresh_name in root.admin("GET", "groups").ok().json
    found = info(root, fresh_name).ok().json
    assert {**found, "updatedAt": ""} == {
        "name": fresh_name,
        "status": "enabled",
        "members": [f"{fresh_name}-user"],
        "policy": "",
        "updatedAt": "",
    }


def test_group_of_nothing_is_404(root: Calls, fresh_name: str) -> None:
    assert info(root, fresh_name).error == (404, "NoSuchResource", f"group '{fresh_name}' does not exist")


def test_adding_members_is_a_union_and_makes_the_group(root: Calls, fresh_name: str) -> None:
    for user in ("one", "two"):
        root.add_user(f"{fresh_name}-{user}")
        root.add_members(fresh_name, f"{fresh_name}-{user}").ok()
        root.add_members(fresh_name, f"{fresh_name}-{user}").ok()
    assert sorted(info(root, fresh_name).ok().json["members"]) == [f"{fresh_name}-one", f"{fresh_name}-two"]
    root.add_members(f"{fresh_name}-empty").ok()
    assert info(root, f"{fresh_name}-empty").ok().json["members"] == []


@pytest.mark.parametrize("field", ["group", "members", "groupStatus", "isRemove"])
def test_all_four_fields_of_members_are_needed(root: Calls, fresh_name: str, field: str) -> None:
    body = {"group": fresh_name, "members": [], "groupStatus": "enabled", "isRemove": False}
    del body[field]
    assert root.admin("PUT", "update-group-members", body).refusal == (400, "InvalidRequest")


def test_the_status_in_the_members_call_is_not_applied(root: Calls, fresh_name: str) -> None:
    body = {"group": fresh_name, "members": [], "groupStatus": "disabled", "isRemove": False}
    root.admin("PUT", "update-group-members", body).ok()
    assert info(root, fresh_name).ok().json["status"] == "enabled"
    assert root.admin("PUT", "update-group-members", {**body, "groupStatus": ""}).status == 200


def test_unknown_members_and_root_are_404_and_a_service_account_is_500(root: Calls, fresh_name: str) -> None:
    for member in (f"{fresh_name}-nobody", root.access_key):
        error = root.add_members(fresh_name, member).error
        assert error == (404, "NoSuchResource", f"user '{member}' does not exist")
    root.add_user(f"{fresh_name}-user")
    key = root.add_key(f"{fresh_name}-user", f"{fresh_name}-key")
    assert root.add_members(fresh_name, key.access_key).status in (405, 500)


@pytest.mark.parametrize("letters", ["a,b", "a=b", "a b"])
def test_letters_that_a_group_name_may_not_have(root: Calls, fresh_name: str, letters: str) -> None:
    assert root.add_members(f"{fresh_name}{letters}").refusal == (400, "InvalidArgument")


def test_a_group_needs_a_name(root: Calls) -> None:
    status, code, message = root.add_members("").error
    assert (status, code) == (500, "InternalError") and "invalid arguments specified" in message


def test_set_group_status_and_what_it_refuses(root: Calls, fresh_name: str) -> None:
    root.add_members(fresh_name).ok()
    root.admin("PUT", "set-group-status", group=fresh_name, status="disabled").ok()
    assert info(root, fresh_name).ok().json["status"] == "disabled"
    refused = root.admin("PUT", "set-group-status", group=fresh_name, status="off")
    assert refused.refusal == (400, "InvalidArgument")
    unknown = root.admin("PUT", "set-group-status", group=f"{fresh_name}-x", status="enabled")
    assert unknown.refusal == (404, "NoSuchResource")


def test_a_group_gives_its_policies_to_its_members_while_it_is_enabled(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name)
    root.put(fresh_name).ok()
    assert user.list(fresh_name).refusal == (403, "AccessDenied")
    root.add_members(f"{fresh_name}-group", fresh_name).ok()
    root.attach("readwrite", f"{fresh_name}-group", group=True)
    assert info(root, f"{fresh_name}-group").ok().json["policy"] == "readwrite"
    assert user.list(fresh_name).status == 200
    root.admin("PUT", "set-group-status", group=f"{fresh_name}-group", status="disabled").ok()
    assert user.list(fresh_name).refusal == (403, "AccessDenied")


def test_a_disabled_group_takes_the_rights_of_its_members_own_policies_too(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name)
    root.put(fresh_name).ok()
    root.attach("readwrite", fresh_name)
    root.add_members(f"{fresh_name}-group", fresh_name).ok()
    assert user.list(fresh_name).status == 200
    root.admin("PUT", "set-group-status", group=f"{fresh_name}-group", status="disabled").ok()
    assert user.list(fresh_name).refusal == (403, "AccessDenied")


def test_user_info_shows_groups_from_the_first_membership_on(root: Calls, fresh_name: str) -> None:
    root.add_user(fresh_name)
    assert "memberOf" not in root.admin("GET", "user-info", accessKey=fresh_name).ok().json
    root.add_members(f"{fresh_name}-group", fresh_name).ok()
    assert root.admin("GET", "user-info", accessKey=fresh_name).ok().json["memberOf"] == [f"{fresh_name}-group"]
    root.add_members(f"{fresh_name}-group", fresh_name, remove=True).ok()
    assert not root.admin("GET", "user-info", accessKey=fresh_name).ok().json.get("memberOf")


def test_removing_members_also_those_who_are_none(root: Calls, fresh_name: str) -> None:
    root.add_user(f"{fresh_name}-user")
    root.add_members(fresh_name).ok()
    root.add_members(fresh_name, f"{fresh_name}-user", remove=True).ok()
    unknown = root.add_members(fresh_name, f"{fresh_name}-nobody", remove=True)
    assert unknown.refusal == (404, "NoSuchResource")
    no_group = root.add_members(f"{fresh_name}-x", f"{fresh_name}-user", remove=True)
    assert no_group.refusal == (404, "NoSuchResource")


def test_removing_nobody_deletes_an_empty_group_alone(root: Calls, fresh_name: str) -> None:
    root.add_user(f"{fresh_name}-user")
    root.add_members(fresh_name, f"{fresh_name}-user").ok()
    assert root.add_members(fresh_name, remove=True).error == (500, "InternalError", "group not empty")
    root.add_members(fresh_name, f"{fresh_name}-user", remove=True).ok()
    root.add_members(fresh_name, remove=True).ok()
    assert info(root, fresh_name).status == 404


def test_delete_group_needs_it_empty_and_takes_its_policies_along(root: Calls, fresh_name: str) -> None:
    root.add_user(f"{fresh_name}-user")
    root.add_members(fresh_name, f"{fresh_name}-user").ok()
    root.attach("readonly", fresh_name, group=True)
    assert root.admin("DELETE", f"group/{fresh_name}").error == (400, "InvalidRequest", "group is not empty")
    root.add_members(fresh_name, f"{fresh_name}-user", remove=True).ok()
    root.admin("DELETE", f"group/{fresh_name}").ok()
    assert root.admin("DELETE", f"group/{fresh_name}").refusal == (404, "NoSuchResource")
    root.add_members(fresh_name).ok()
    assert info(root, fresh_name).ok().json["policy"] == ""


def test_delete_group_takes_no_slash(root: Calls, fresh_name: str) -> None:
    root.add_members(f"{fresh_name}/x").ok()
    path = f"/rustfs/admin/v3/group/{quote(f'{fresh_name}/x', safe='')}"
    assert root.send("DELETE", path, raw=True).refusal == (400, "InvalidArgument")
