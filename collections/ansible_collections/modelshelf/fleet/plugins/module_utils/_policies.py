# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Canned policies: the plan of the module rustfs_policy, and what rustfs_policy_info says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import InUse, Refused
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import (
    PolicyFault,
    canonical,
    check_name,
    parse,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_mappings import Users, detach, policy_users
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import Kind
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import (
    ANNOUNCED,
    REMOVE_OTHERS,
    Change,
    Step,
    Task,
)

BUILT_IN = (
    "KMSAuditor",
    "KMSKeyAdministrator",
    "KMSKeyUser",
    "consoleAdmin",
    "diagnostics",
    "readonly",
    "readwrite",
    "writeonly",
)
"""Policies that every server has. They can be overwritten, and never be removed."""

OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"type": "str"},
    "policy": {"type": "dict"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "detach": {"type": "bool", "default": False},
}

_LARGEST = 1024 * 1024
"""Bytes. The server's limit for the body of an admin call (crates/config: body_limits)."""


@dataclass(frozen=True)
class Wanted:
    """A policy as it should be: `document` is what is sent, `value` its canonical form. Empty for an absent one."""

    name: str
    document: Mapping[str, Any]
    value: Mapping[str, Any]
    detach: bool

    @property
    def absent(self) -> bool:
        return not self.value


def plan(task: Task, entries: Sequence[Mapping[str, Any]]) -> list[Change]:
    """What it takes to bring policies to what is wanted. Raises Refused, InUse and what the client raises.

    Two listings at most: the policies, and who has them when one goes.
    """
    wanted = [_wanted(entry) for entry in entries]
    listed = list_policies(task.client)
    found = {name: canonical(listed[name]) for name in task.staying("policies", listed)}
    others = task.others(set(found) - set(BUILT_IN), [item.name for item in wanted])
    wanted += [Wanted(name, {}, {}, detach=True) for name in others]
    leaving = [item.name for item in wanted if item.absent and item.name in found]
    users = policy_users(task.client) if leaving else {}
    return [_change(task.client, item, found.get(item.name), _users_of(task, item.name, users)) for item in wanted]


def list_policies(client: Client) -> dict[str, Mapping[str, Any]]:
    """Every policy of the server, built-in ones included, as it gives them."""
    return dict(client.get("list-canned-policies", doing="list the policies") or {})


def describe(client: Client, name: str | None) -> list[dict[str, Any]]:
    """The policies of the server with who has them, sorted by name; only the one named `name`, if it is there."""
    found = {key: document for key, document in list_policies(client).items() if name in (None, key)}
    users = policy_users(client) if found else {}
    return [
        {
            "name": key,
            "policy": canonical(found[key]),
            "built_in": key in BUILT_IN,
            "users": sorted(users.get(key, Users()).users),
            "groups": sorted(users.get(key, Users()).groups),
        }
        for key in sorted(found)
    ]


def _users_of(task: Task, policy: str, users: Mapping[str, Users]) -> Users:
    """Who has a policy, after what earlier tasks of a dry run would have done."""
    found = users.get(policy, Users())
    return Users(
        sorted(task.holding("users", found.users, policy)), sorted(task.holding("groups", found.groups, policy))
    )


def _wanted(entry: Mapping[str, Any]) -> Wanted:
    name, document = entry["name"], entry["policy"]
    try:
        check_name(name)
        if entry["state"] == "absent":
            if document is not None:
                raise Refused(f"policy {name!r}: state is absent, and a policy is given. Leave one of them out")
            if name in BUILT_IN:
                raise Refused(f"policy {name!r}: it is built into RustFS, which does not let it be removed")
            return Wanted(name, {}, {}, entry["detach"])
        value = parse(document)
    except PolicyFault as fault:
        raise Refused(f"policy {name!r}: {fault}") from fault
    size = len(json.dumps(document).encode())
    if size > _LARGEST:
        raise Refused(f"policy {name!r}: it has {size} bytes; RustFS takes at most {_LARGEST} in a request")
    return Wanted(name, document, value, entry["detach"])


def _change(client: Client, wanted: Wanted, found: Mapping[str, Any] | None, users: Users) -> Change:
    name, query = wanted.name, {"name": wanted.name}
    if not wanted.absent:
        if found == wanted.value:
            return Change(name, (), found, found)
        body = json.dumps(wanted.document).encode()
        doing = f"write the policy {name!r}"
        step = Step(
            ("create" if found is None else "update policy",),
            lambda: client.put("add-canned-policy", query, body, doing=doing),
        )
        return Change(name, (step,), found or {}, wanted.value)
    if found is None:
        return Change(name, (), {}, {})
    steps = []
    holders = users.principals()
    if holders and not wanted.detach:
        by = " and ".join(str(holder) for holder in holders)
        raise InUse(
            f"could not remove the policy {name!r} {client.admin.where}: it is in use by {by}. Take it from them first,"
            " or set detach"
        )
    for holder in holders:
        steps.append(Step((f"detach from {holder}",), partial(detach, client, holder, [name])))
    doing = f"remove the policy {name!r}"
    steps.append(Step(("remove",), lambda: client.delete("remove-canned-policy", query, doing=doing)))
    before = {**found, **({"users": sorted(users.users), "groups": sorted(users.groups)} if holders else {})}
    return Change(name, tuple(steps), before, {})


KIND = Kind("policies", OPTIONS, plan, extra={**REMOVE_OTHERS, **ANNOUNCED})
