# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users: the plan of the module rustfs_user, and what rustfs_user_info says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils import _identity_rules as rules
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import AlreadyThere, Refused, StoreError
from ansible_collections.modelshelf.fleet.plugins.module_utils._key_listing import parents_of_keys
from ansible_collections.modelshelf.fleet.plugins.module_utils._policies import list_policies
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_mappings import (
    Principal,
    mapping_steps,
    names_in,
    refuse_missing_policies,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client, KeyState
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
    "secret": {"type": "str", "no_log": True},
    "status": {"type": "str", "choices": ["enabled", "disabled"]},
    "policies": {"type": "list", "elements": "str"},
    "purge_policies": {"type": "bool", "default": True},
    "rotate_secret": {"type": "bool", "default": False, "no_log": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


@dataclass(frozen=True)
class Wanted:
    """A user as it should be; None leaves a field alone."""

    name: str
    absent: bool
    secret: str | None = field(default=None, repr=False)
    status: str | None = None
    policies: frozenset[str] | None = None
    purge: bool = True
    rotate: bool = False


@dataclass(frozen=True)
class User:
    """A user as the server has it."""

    status: str
    policies: frozenset[str]
    groups: frozenset[str]

    def shown(self) -> dict[str, Any]:
        return {"status": self.status, "policies": sorted(self.policies)}


def list_users(client: Client) -> dict[str, User]:
    """Every user of the server; the root user is none of them."""
    return {
        name: User(
            status=str(item.get("status", "")),
            policies=names_in(item.get("policyName")),
            groups=frozenset(item.get("memberOf") or ()),
        )
        for name, item in (client.get("list-users", doing="list the users") or {}).items()
    }


def plan(task: Task, entries: Sequence[Mapping[str, Any]]) -> list[Change]:
    """What it takes to bring users to what is wanted. Raises Refused, NotFound and what the client raises.

    One listing when nothing changes, and a request to prove each given secret. At most two more: the policies when
    sets of them change, and the access keys when users come, go or are disabled.
    """
    wanted = [_wanted(entry) for entry in entries]
    found = list_users(task.client)
    found = {
        name: replace(found[name], policies=task.staying("policies", found[name].policies))
        for name in task.staying("users", found)
    }
    others = task.others(set(found) - {task.client.admin.access_key}, [item.name for item in wanted])
    comes_or_goes = [item for item in wanted if (item.name in found) == item.absent]
    ends = [item for item in wanted if item.status == "disabled" and found.get(item.name, item).status != "disabled"]
    parents = parents_of_keys(task.client) if comes_or_goes or ends or others else {}
    owner = parents.get(task.client.admin.access_key)
    for item in wanted:
        _check_signer(task.client, item, item.name in found, owner)
    wanted += [Wanted(name, absent=True) for name in others if name != owner]
    parents = {key: parents[key] for key in task.staying("access_keys", parents)}
    _check_policies(task, wanted, found)
    return [_change(task.client, item, found.get(item.name), parents) for item in wanted]


def describe(client: Client, name: str | None) -> list[dict[str, Any]]:
    """The users of the server, sorted by name; only the one named `name`, if it is there."""
    found = list_users(client)
    return [
        {"name": key, **found[key].shown(), "groups": sorted(found[key].groups)}
        for key in sorted(found)
        if name in (None, key)
    ]


def _wanted(entry: Mapping[str, Any]) -> Wanted:
    what = f"user {entry['name']!r}"
    name = rules.check_access_key("the user", entry["name"])
    rules.check_rotation(what, entry)
    if entry["state"] == "absent":
        return Wanted(name, absent=True)
    if entry["secret"] is not None:
        rules.check_signing(what, name)
    return Wanted(
        name=name,
        absent=False,
        secret=rules.check_secret(what, entry["secret"]),
        status=entry["status"],
        policies=rules.check_policies(what, entry["policies"]),
        purge=entry["purge_policies"],
        rotate=entry["rotate_secret"],
    )


def _check_signer(client: Client, wanted: Wanted, found: bool, owner: str | None) -> None:
    """Raises Refused for what would end the key that signs: RustFS refuses it, or the rest of the run would fail.

    `owner` is the user whose access key signs, None where it is no access key or where nothing can end it.
    """
    own = wanted.name == client.admin.access_key
    if not own and wanted.name != owner:
        return
    if not found:
        raise Refused(f"user {wanted.name!r}: it is the root user, which is set where the server is started")
    if wanted.absent or wanted.status == "disabled" or (own and wanted.rotate):
        raise Refused(f"user {wanted.name!r}: its key signs these requests. Use another administrator's for this")


def _after(wanted: Wanted, found: frozenset[str]) -> frozenset[str]:
    """The policies that a user or group with `found` will have."""
    if wanted.policies is None:
        return found
    return wanted.policies if wanted.purge else wanted.policies | found


def _check_policies(task: Task, wanted: Sequence[Wanted], found: Mapping[str, User]) -> None:
    before = {item.name: found[item.name].policies if item.name in found else frozenset() for item in wanted}
    moving = [item for item in wanted if not item.absent and _after(item, before[item.name]) != before[item.name]]
    there = list_policies(task.client) if any(item.policies for item in moving) else {}
    for item in moving:
        refuse_missing_policies(task, f"user {item.name!r}", item.policies or frozenset(), there)


def _change(client: Client, wanted: Wanted, found: User | None, parents: Mapping[str, str]) -> Change:
    name, query = wanted.name, {"accessKey": wanted.name}
    if wanted.absent:
        if found is None:
            return Change(name, (), {}, {})
        keys = sorted(key for key, parent in parents.items() if parent == name)
        step = Step(("remove",), lambda: _remove(client, name))
        return Change(name, (step,), {**found.shown(), "access_keys": keys}, {})
    if found is None:
        return _creation(client, wanted, parents)
    steps: list[Step] = []
    before, after = found.shown(), found.shown()
    status = wanted.status or found.status
    if wanted.secret is not None and not _secret_is_right(client, wanted, wanted.secret):
        body = {"secretKey": wanted.secret, "status": status}
        actions = ("update secret", *([] if status == found.status else [f"set status {status}"]))
        steps.append(Step(actions, _put(client, "add-user", query, body, f"change the secret of the user {name!r}")))
        before, after = {**before, "secret": rules.OLD_SECRET}, {**after, "secret": rules.NEW_SECRET}
    elif status != found.status:
        doing = f"set the status of the user {name!r}"
        steps.append(
            Step((f"set status {status}",), _put(client, "set-user-status", {**query, "status": status}, None, doing))
        )
    policies = _after(wanted, found.policies)
    steps += mapping_steps(client, Principal("user", name), found.policies, policies, wanted.purge)
    return Change(name, tuple(steps), before, {**after, "status": status, "policies": sorted(policies)})


def _put(client: Client, path: str, query: Mapping[str, str], body: Any, doing: str) -> Callable[[], Any]:
    return lambda: client.put(path, query, body, doing=doing)


def _remove(client: Client, name: str) -> None:
    client.delete("remove-user", {"accessKey": name}, doing=f"remove the user {name!r}")


def _creation(client: Client, wanted: Wanted, parents: Mapping[str, str]) -> Change:
    name = wanted.name
    if name in parents:
        raise AlreadyThere(
            f"could not create the user {name!r} {client.admin.where}: {parents[name]!r} has an access key of that name"
        )
    status = wanted.status or "enabled"
    body = {"secretKey": wanted.secret or rules.random_secret(), "status": status}
    policies = wanted.policies or frozenset()
    create = Step(("create",), _put(client, "add-user", {"accessKey": name}, body, f"create the user {name!r}"))
    steps = [create, *mapping_steps(client, Principal("user", name), frozenset(), policies, wanted.purge)]
    return Change(name, tuple(steps), {}, {"status": status, "policies": sorted(policies)})


def _secret_is_right(client: Client, wanted: Wanted, secret: str) -> bool:
    """Whether the secret signs. Raises Refused where it does not and no rotation is asked for."""
    state = client.signs(wanted.name, secret)
    if state not in (KeyState.WRONG_SECRET, KeyState.UNKNOWN):
        return True
    if state is KeyState.UNKNOWN:
        raise StoreError(
            f"user {wanted.name!r}: the server lists it, but {state.value} {client.admin.where}. Try again"
        )
    if not wanted.rotate:
        raise Refused(
            f"user {wanted.name!r}: secret is not the one that the store has {client.admin.where}. Correct it, or set"
            " rotate_secret to make it the new one"
        )
    return False


KIND = Kind("users", OPTIONS, plan, extra={**REMOVE_OTHERS, **ANNOUNCED})
