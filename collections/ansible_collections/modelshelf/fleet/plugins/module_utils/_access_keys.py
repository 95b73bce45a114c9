# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access keys: the plan of the module rustfs_access_key, and what rustfs_access_key_info says.

RustFS calls them service accounts. A key belongs to a user for ever and has its policies, or fewer by one of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils import _identity_rules as rules
from ansible_collections.modelshelf.fleet.plugins.module_utils._access_key_changes import (
    Wanted,
    creation,
    removal,
    update,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import AlreadyThere, NotFound, Refused
from ansible_collections.modelshelf.fleet.plugins.module_utils._key_listing import list_keys, list_keys_of
from ansible_collections.modelshelf.fleet.plugins.module_utils._key_state import (
    key_from,
    parse_time,
    read_key,
    shown_time,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import PolicyFault, parse
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import Kind
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import (
    ANNOUNCED,
    REMOVE_OTHERS,
    Change,
    Task,
)

OPTIONS: dict[str, dict[str, Any]] = {
    "key": {"type": "str", "no_log": False},
    "secret": {"type": "str", "no_log": True},
    "user": {"type": "str"},
    "policy": {"type": "dict"},
    "name": {"type": "str"},
    "description": {"type": "str"},
    "expiration": {"type": "str"},
    "status": {"type": "str", "choices": ["enabled", "disabled"]},
    "rotate_secret": {"type": "bool", "default": False, "no_log": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}
EXTRA: dict[str, dict[str, Any]] = {
    "expires_within_days": {"type": "int"},
    "of_users": {"type": "list", "elements": "str"},
    **REMOVE_OTHERS,
    **ANNOUNCED,
}

_RESERVED = "siteReplicatorSvcAcc"
_LARGEST_POLICY = 4096


def plan(task: Task, entries: Sequence[Mapping[str, Any]]) -> list[Change]:
    """What it takes to bring access keys to what is wanted. Raises Refused, NotFound and what the client raises.

    One listing, then one request for each secret, and one for each key with a policy of its own. One more listing, the
    users, when keys are made.
    """
    wanted = [_wanted(task.client, entry) for entry in entries]
    listed = list_keys(task.client)
    listed = {
        key: listed[key]
        for key in sorted(task.staying("access_keys", listed))
        if task.staying("users", [listed[key].get("parentUser", "")])  # the keys of a user go with it
    }
    changes, kept = [], []
    wanted += [Wanted(key, absent=True) for key in task.others(_in_reach(task, listed), [item.key for item in wanted])]
    coming = [item for item in wanted if not item.absent and item.key not in listed]
    _check_users(task, coming)
    for item in wanted:
        if item.absent:
            changes.append(removal(task.client, item.key, listed.get(item.key)))
            continue
        if item in coming:
            change, after = creation(task.client, item)
        else:
            change, after = update(task.client, item, listed[item.key])
        changes.append(change)
        kept.append((item.key, after.expiration))
    _report(task, kept)
    return changes


def describe(client: Client, key: str | None, user: str | None, within: int | None) -> dict[str, Any]:
    """The access keys of the server, of one user, or the one named `key` if it is there; sorted by their names."""
    if key is not None:
        try:
            found = {key: key_from(read_key(client, key))}
        except NotFound:
            found = {}
    else:
        users = [user] if user is not None else sorted({item["parentUser"] for item in list_keys(client).values()})
        rows = {name: item for owner in users for name, item in list_keys_of(client, owner).items()}
        found = {
            name: key_from(item if item.get("impliedPolicy") else {**item, **read_key(client, name)})
            for name, item in rows.items()
        }
    if user is not None:
        found = {name: item for name, item in found.items() if item.user == user}
    lines = [{"key": name, **found[name].shown()} for name in sorted(found)]
    return {
        "access_keys": lines,
        "expiring": expiring([(name, item.expiration) for name, item in sorted(found.items())], within),
    }


def expiring(keys: Sequence[tuple[str, datetime | None]], within: int | None) -> list[dict[str, Any]]:
    """Those of `keys` that expire within a number of days, or have expired, with the whole days that are left."""
    now = datetime.now(timezone.utc)
    return [
        {"key": key, "expiration": shown_time(moment), "days": (moment - now).days}
        for key, moment in keys
        if moment is not None and within is not None and moment - now <= timedelta(days=within)
    ]


def _in_reach(task: Task, listed: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The keys that a list may call others: those of the users given as of_users, and never the one that signs."""
    users = task.settings["of_users"]
    keys = {key for key, item in listed.items() if users is None or item.get("parentUser") in users}
    return keys - {task.client.admin.access_key}


def _wanted(client: Client, entry: Mapping[str, Any]) -> Wanted:
    key = rules.check_access_key("the access key", entry["key"], rules.LONGEST_KEY)
    wanted = Wanted(key, absent=entry["state"] == "absent")
    if key in (_RESERVED, client.admin.access_key):
        raise Refused(f"{wanted.what}: it is {'reserved' if key == _RESERVED else 'the one that signs these requests'}")
    rules.check_rotation(wanted.what, entry)
    if wanted.absent:
        return wanted
    rules.check_signing(wanted.what, key)
    if entry["user"] == key:
        raise Refused(f"{wanted.what}: user is {key!r}, too; an access key needs a name of its own")
    policy = entry["policy"]
    return replace(
        wanted,
        secret=rules.check_secret(wanted.what, entry["secret"], rules.LONGEST_KEY_SECRET),
        user=entry["user"],
        policy=policy,
        value=_checked_policy(wanted.what, policy or None),
        name=rules.check_key_name(wanted.what, entry["name"]),
        description=rules.check_description(wanted.what, entry["description"]),
        expiration=parse_time(wanted.what, entry["expiration"]) if entry["expiration"] is not None else None,
        enabled=None if entry["status"] is None else entry["status"] == "enabled",
        rotate=entry["rotate_secret"],
    )


def _checked_policy(what: str, policy: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if policy is None:
        return None
    try:
        value = parse(policy)
    except PolicyFault as fault:
        raise Refused(f"{what}: policy: {fault}") from fault
    size = len(json.dumps(value, separators=(",", ":")).encode())
    if size > _LARGEST_POLICY:
        raise Refused(f"{what}: policy has {size} bytes; RustFS takes at most {_LARGEST_POLICY} for an access key")
    return value


def _check_users(task: Task, coming: Sequence[Wanted]) -> None:
    """Raises for keys that cannot be made: without user or secret, for a user that is not there, or with its name."""
    for item in coming:
        for name in ("user", "secret"):
            if getattr(item, name) is None:
                raise Refused(f"{item.what}: it is not on the store yet, and to make it, {name} is needed")
    users = task.client.get("list-users", doing="list the users") or {} if coming else {}
    for item in coming:
        if item.key in users:
            raise AlreadyThere(
                f"could not create the access key {item.key!r} {task.client.admin.where}: there is a user of that name"
            )
        missing = {str(item.user)} - {*task.staying("users", users), task.client.admin.access_key}
        task.missing(
            "users",
            missing,
            partial(_no_such_user, item.what, task.client.admin.where),
        )


def _no_such_user(what: str, where: str, name: str) -> str:
    advice = "Make it with rustfs_user first, or correct the name"
    return f"{what}: user is {name!r}, and there is no such user on the store {where}. {advice}"


def _report(task: Task, keys: Sequence[tuple[str, datetime | None]]) -> None:
    """Says which of the wanted keys have expired, and which expire soon where that is asked for."""
    within = task.settings.get("expires_within_days")
    if within is not None:
        task.report["expiring"] = expiring(keys, within)
    for item in expiring(keys, max(within or 0, 0)):
        left = f"expires in {item['days']} days" if item["days"] >= 0 else "has expired"
        task.warn(f"access key {item['key']!r} {left}, at {item['expiration']}: make a new one")


KIND = Kind("access_keys", OPTIONS, plan, key="key", extra=EXTRA)
