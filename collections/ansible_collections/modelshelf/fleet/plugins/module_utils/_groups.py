# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups: the plan of the module rustfs_group, and what rustfs_group_info says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils import _identity_rules as rules
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound, Refused
from ansible_collections.modelshelf.fleet.plugins.module_utils._policies import list_policies
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_mappings import (
    Principal,
    mapping_steps,
    names_in,
    refuse_missing_policies,
    set_policies,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import Kind
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import (
    ANNOUNCED,
    REMOVE_OTHERS,
    Change,
    Step,
    Task,
)

OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"type": "str"},
    "members": {"type": "list", "elements": "str"},
    "purge_members": {"type": "bool", "default": True},
    "status": {"type": "str", "choices": ["enabled", "disabled"]},
    "policies": {"type": "list", "elements": "str"},
    "purge_policies": {"type": "bool", "default": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


@dataclass(frozen=True)
class Group:
    """A group as the server has it, or will."""

    status: str = "enabled"
    members: frozenset[str] = frozenset()
    policies: frozenset[str] = frozenset()

    def shown(self) -> dict[str, Any]:
        return {"status": self.status, "members": sorted(self.members), "policies": sorted(self.policies)}


@dataclass(frozen=True)
class Wanted:
    """A group as it should be; None leaves a field alone."""

    name: str
    absent: bool
    members: frozenset[str] | None
    purge_members: bool
    status: str | None
    policies: frozenset[str] | None
    purge_policies: bool

    def after(self, found: Group) -> Group:
        """What becomes of `found`."""
        return Group(
            self.status or found.status,
            _merged(found.members, self.members, self.purge_members),
            _merged(found.policies, self.policies, self.purge_policies),
        )


def _merged(found: frozenset[str], wanted: frozenset[str] | None, purge: bool) -> frozenset[str]:
    if wanted is None:
        return found
    return wanted if purge else wanted | found


def read_group(client: Client, name: str) -> Group | None:
    """A group of the server; None where there is none."""
    try:
        item = client.get("group", {"group": name}, doing=f"read the group {name!r}")
    except NotFound:
        return None
    return Group(str(item.get("status", "")), frozenset(item.get("members") or ()), names_in(item.get("policy")))


def plan(task: Task, entries: Sequence[Mapping[str, Any]]) -> list[Change]:
    """What it takes to bring groups to what is wanted. Raises Refused, NotFound and what the client raises.

    One request for each group, since no listing tells status and members. For a list one listing more, and at most two
    others: the users when members join, the policies when sets of them change.
    """
    wanted = [_wanted(entry) for entry in entries]
    names = (task.client.get("groups", doing="list the groups") or ()) if task.listed else ()
    wanted += [_removed(name) for name in task.others(names, [item.name for item in wanted])]
    found = {item.name: _left(task, read_group(task.client, item.name)) for item in wanted}
    _check_members(task, wanted, found)
    _check_policies(task, wanted, found)
    return [_change(task.client, item, found[item.name]) for item in wanted]


def describe(client: Client, name: str | None) -> list[dict[str, Any]]:
    """The groups of the server, sorted by name; only the one named `name`, if it is there."""
    names = [name] if name else sorted(client.get("groups", doing="list the groups") or ())
    found = {key: read_group(client, key) for key in names}
    return [{"name": key, **group.shown()} for key, group in found.items() if group is not None]


def _left(task: Task, found: Group | None) -> Group | None:
    """What is left of a group after what earlier tasks of a dry run would have removed."""
    if found is None:
        return None
    return Group(found.status, task.staying("users", found.members), task.staying("policies", found.policies))


def _wanted(entry: Mapping[str, Any]) -> Wanted:
    name = rules.check_group(entry["name"])
    members = entry["members"]
    for member in members or ():
        rules.check_access_key(f"group {name!r}: the member", member)
    return Wanted(
        name=name,
        absent=entry["state"] == "absent",
        members=None if members is None else frozenset(members),
        purge_members=entry["purge_members"],
        status=entry["status"],
        policies=rules.check_policies(f"group {name!r}", entry["policies"]),
        purge_policies=entry["purge_policies"],
    )


def _removed(name: str) -> Wanted:
    return Wanted(name, True, None, purge_members=True, status=None, policies=None, purge_policies=True)


def _check_members(task: Task, wanted: Sequence[Wanted], found: Mapping[str, Group | None]) -> None:
    joining = {
        item.name: item.after(found[item.name] or Group()).members - (found[item.name] or Group()).members
        for item in wanted
        if not item.absent
    }
    users = task.client.get("list-users", doing="list the users") or {} if any(joining.values()) else {}
    for name, members in joining.items():
        missing = sorted(members - task.staying("users", users))
        if task.client.admin.access_key in missing:
            raise Refused(f"group {name!r}: members has {task.client.admin.access_key!r}; the root user joins no group")
        task.missing(
            "users",
            missing,
            partial(_no_such_user, name, task.client.admin.where),
        )


def _no_such_user(group: str, where: str, names: str) -> str:
    advice = "Make it with rustfs_user first, or correct the name"
    return f"group {group!r}: members has {names}, and there is no such user on the store {where}. {advice}"


def _check_policies(task: Task, wanted: Sequence[Wanted], found: Mapping[str, Group | None]) -> None:
    moving = {
        item.name: item.policies
        for item in wanted
        if not item.absent and item.policies
        if item.after(found[item.name] or Group()).policies != (found[item.name] or Group()).policies
    }
    there = list_policies(task.client) if moving else {}
    for name, policies in moving.items():
        refuse_missing_policies(task, f"group {name!r}", policies, there)


def _change(client: Client, wanted: Wanted, found: Group | None) -> Change:
    name = wanted.name
    if wanted.absent:
        return _removal(client, name, found)
    before = found or Group()
    after = wanted.after(before)
    steps: list[Step] = []
    joining, leaving = after.members - before.members, before.members - after.members
    if found is None:
        actions = ("create", *(f"add member {member}" for member in sorted(joining)))
        steps.append(Step(actions, _members(client, name, joining, remove=False)))
    elif joining:
        actions = tuple(f"add member {member}" for member in sorted(joining))
        steps.append(Step(actions, _members(client, name, joining, remove=False)))
    if leaving:
        actions = tuple(f"remove member {member}" for member in sorted(leaving))
        steps.append(Step(actions, _members(client, name, leaving, remove=True)))
    if after.status != before.status:
        query = {"group": name, "status": after.status}
        doing = f"set the status of the group {name!r}"
        steps.append(Step((f"set status {after.status}",), lambda: client.put("set-group-status", query, doing=doing)))
    steps += mapping_steps(client, Principal("group", name), before.policies, after.policies, wanted.purge_policies)
    return Change(name, tuple(steps), found.shown() if found else {}, after.shown())


def _removal(client: Client, name: str, found: Group | None) -> Change:
    """Members and policies go first: RustFS removes no group with members, and a mapping would outlive it."""
    if found is None:
        return Change(name, (), {}, {})
    steps: list[Step] = []
    if found.members:
        actions = tuple(f"remove member {member}" for member in sorted(found.members))
        steps.append(Step(actions, _members(client, name, found.members, remove=True)))
    if found.policies:
        actions = tuple(f"detach {policy}" for policy in sorted(found.policies))
        steps.append(Step(actions, lambda: set_policies(client, Principal("group", name), ())))
    # Not DELETE group/<name>, which takes no name with a slash.
    steps.append(Step(("remove",), _members(client, name, (), remove=True)))
    return Change(name, tuple(steps), found.shown(), {})


def _members(client: Client, name: str, members: Iterable[str], *, remove: bool) -> Callable[[], Any]:
    """The call for members. Adding makes the group; removing nobody removes a group that has no members."""
    body = {"group": name, "members": sorted(members), "groupStatus": "enabled", "isRemove": remove}
    doing = f"{'remove' if remove and not body['members'] else 'change the members of'} the group {name!r}"
    return lambda: client.put("update-group-members", body=body, doing=doing)


KIND = Kind("groups", OPTIONS, plan, extra={**REMOVE_OTHERS, **ANNOUNCED})
