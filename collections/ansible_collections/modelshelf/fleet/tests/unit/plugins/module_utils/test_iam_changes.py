# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What putting an archive back changes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._iam_changes import (
    names,
    told_changes,
    without_policies,
)

ARCHIVE: dict[str, Any] = {
    "users.json": {"reader": {"secretKey": "canary-1", "status": "enabled"}},
    "user_mappings.json": {"reader": {"policy": "read", "version": 1}},
    "groups.json": {"all": {"members": ["reader"], "status": "enabled"}},
    "group_mappings.json": {},
    "policies.json": {"read": {"Version": "2012-10-17", "Statement": [1]}},
    "svcaccts.json": {"key-1": {"secretKey": "canary-2", "parent": "reader"}},
}
ALL = [("users", "reader"), ("groups", "all"), ("policies", "read"), ("access keys", "key-1")]


def done(there: dict[str, Any], wanted: dict[str, Any] | None = None) -> list[tuple[str, str, list[str]]]:
    """What is changed; ARCHIVE is wanted unless told otherwise."""
    told = told_changes(wanted or ARCHIVE, there)
    assert "canary" not in str(told)
    assert [(item["kind"], item["name"]) for item in told["results"]] == ALL
    changed = [(item["kind"], item["name"], item["actions"]) for item in told["results"] if item["changed"]]
    assert told["changed"] is bool(changed)
    assert (told["diff"]["before"] != told["diff"]["after"]) is bool(changed)
    return changed


def test_an_empty_store_gets_all_of_it() -> None:
    assert done({}) == [(kind, name, ["create"]) for kind, name in ALL]
    diff = told_changes(ARCHIVE, {})["diff"]
    assert diff["before"] == {"users": [], "groups": [], "policies": [], "access keys": []}
    assert diff["after"] == {"users": ["reader"], "groups": ["all"], "policies": ["read"], "access keys": ["key-1"]}


def test_a_store_that_has_all_of_it_and_more_is_left_alone() -> None:
    more = {**ARCHIVE, "users.json": {**ARCHIVE["users.json"], "other": {}}, "stsuser_mappings.json": {"x": {}}}
    assert done(ARCHIVE) == done(more) == []
    assert names(more, "users") == ["other", "reader"]


@pytest.mark.parametrize(
    ("file", "content", "changed"),
    [
        ("users.json", {"reader": {"secretKey": "canary-3", "status": "enabled"}}, "users"),
        ("users.json", {"reader": {"secretKey": "canary-1", "status": "disabled"}}, "users"),
        ("user_mappings.json", {}, "users"),
        ("groups.json", {"all": {"members": [], "status": "enabled"}}, "groups"),
        ("policies.json", {"read": {"Version": "2012-10-17", "Statement": [2]}}, "policies"),
        ("svcaccts.json", {"key-1": {"secretKey": "canary-3", "parent": "reader"}}, "access keys"),
    ],
)
def test_what_is_otherwise_becomes_that_of_the_file(file: str, content: Any, changed: str) -> None:
    name = dict(ALL)[changed]
    there = {**ARCHIVE, file: content}
    assert done(there) == [(changed, name, ["update"])]
    diff = told_changes(ARCHIVE, there)["diff"]
    assert diff["before"][changed] == [f"{name} (other than in the file)"]
    assert diff["after"][changed] == [name]


@pytest.mark.parametrize("group", [{"members": ["reader", "x"], "status": "enabled"}, {"members": ["reader"]}])
def test_what_a_restore_does_not_take_back_is_no_change(group: dict[str, Any]) -> None:
    assert done({**ARCHIVE, "groups.json": {"all": group}}) == []


def test_policies_that_the_file_does_not_give_are_taken() -> None:
    there = {**ARCHIVE, "group_mappings.json": {"all": {"policy": "read"}}}
    assert done(there) == [("groups", "all", ["update"])]
    assert without_policies(ARCHIVE, there) == [("groups", "all")]
    silent = {name: content for name, content in ARCHIVE.items() if name != "group_mappings.json"}
    assert done(there, silent) == [], "an archive without the file says nothing of it"
    assert done({**ARCHIVE, "group_mappings.json": {"all": {"policy": ""}}}) == []


def test_a_group_that_is_off_in_the_file_is_switched_off() -> None:
    off = {**ARCHIVE, "groups.json": {"all": {"members": ["reader"], "status": "disabled"}}}
    assert done(ARCHIVE, off) == [("groups", "all", ["update"])]
    assert done(off) == []
