# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which policies users and groups have, and the calls that change it.

Sets are replaced by set-user-or-group-policy, which every version has and which cannot lose an update of its own.
attach and detach came with 1.0.0-alpha.87; an older server answers 501, and the set is read and replaced instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound, Unsupported
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import Step, Task


@dataclass(frozen=True)
class Principal:
    """A user or a group."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"the {self.kind} {self.name!r}"


@dataclass
class Users:
    """Who has a policy."""

    users: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)

    def principals(self) -> list[Principal]:
        """All of them, users first."""
        return [
            *(Principal("user", name) for name in sorted(self.users)),
            *(Principal("group", name) for name in sorted(self.groups)),
        ]


def names_in(joined: Any) -> frozenset[str]:
    """The policies in the comma-joined string that the server gives; none for an absent one."""
    return frozenset(name.strip() for name in str(joined or "").split(",") if name.strip())


def set_policies(client: Client, principal: Principal, policies: Iterable[str]) -> None:
    """Gives a principal exactly these policies. Raises NotFound for a policy or a principal that is not there."""
    query = {
        "policyName": ",".join(sorted(policies)),
        "userOrGroup": principal.name,
        "isGroup": "true" if principal.kind == "group" else "false",
    }
    client.put("set-user-or-group-policy", query, doing=f"set the policies of {principal}")


def attach(client: Client, principal: Principal, policies: Iterable[str]) -> None:
    """Adds policies to those that a principal has."""
    _change(client, "attach", principal, sorted(policies))


def detach(client: Client, principal: Principal, policies: Iterable[str]) -> None:
    """Takes policies from those that a principal has; what it does not have is left out."""
    _change(client, "detach", principal, sorted(policies))


def policies_of(client: Client, principal: Principal) -> frozenset[str]:
    """The policies that a principal has itself. Raises NotFound for one that is not there."""
    doing = f"read {principal}"
    if principal.kind == "group":
        return names_in(client.get("group", {"group": principal.name}, doing=doing).get("policy"))
    return names_in(client.get("user-info", {"accessKey": principal.name}, doing=doing).get("policyName"))


def policy_users(client: Client) -> dict[str, Users]:
    """Who has which policy, by policy. One call, or on a server before 1.0.0-alpha.87 one for each group and two."""
    doing = "list who has which policy"
    try:
        answer = client.get("idp/builtin/policy-entities", doing=doing) or {}
    except Unsupported:
        return _collected(client, doing)
    return {
        str(item["policy"]): Users(list(item.get("users") or ()), list(item.get("groups") or ()))
        for item in answer.get("policyMappings") or ()
    }


def mapping_steps(
    client: Client, principal: Principal, before: frozenset[str], after: frozenset[str], purge: bool
) -> list[Step]:
    """The step that changes a set of policies; none where it is right. Added ones are attached, sets are replaced."""
    if before == after:
        return []
    actions = (
        *(f"attach {name}" for name in sorted(after - before)),
        *(f"detach {name}" for name in sorted(before - after)),
    )
    if purge:
        return [Step(actions, lambda: set_policies(client, principal, after))]
    return [Step(actions, lambda: attach(client, principal, after - before))]


def refuse_missing_policies(task: Task, what: str, policies: frozenset[str], there: Mapping[str, Any]) -> None:
    """Raises NotFound for policies that the server does not have; in check mode as Task.missing() does."""
    where = task.client.admin.where
    task.missing(
        "policies",
        policies - task.staying("policies", there),
        lambda names: (
            f"{what}: policies has {names}, which is not on the store {where}. Make it with rustfs_policy first, or"
            " correct the name"
        ),
    )


def _change(client: Client, verb: str, principal: Principal, policies: list[str]) -> None:
    doing = f"{verb} {', '.join(policies)} {'to' if verb == 'attach' else 'from'} {principal}"
    try:
        client.post(
            f"idp/builtin/policy/{verb}", body={"policies": policies, principal.kind: principal.name}, doing=doing
        )
    except Unsupported:
        there = policies_of(client, principal)
        after = there | set(policies) if verb == "attach" else there - set(policies)
        if after != there:
            set_policies(client, principal, after)


def _collected(client: Client, doing: str) -> dict[str, Users]:
    found: dict[str, Users] = {}
    users: Mapping[str, Any] = client.get("list-users", doing=doing) or {}
    for name, user in users.items():
        for policy in names_in(user.get("policyName")):
            found.setdefault(policy, Users()).users.append(name)
    for name in client.get("groups", doing=doing) or ():
        try:
            policies = policies_of(client, Principal("group", name))
        except NotFound:
            continue  # the list also has names that are left of mappings
        for policy in policies:
            found.setdefault(policy, Users()).groups.append(name)
    return found
