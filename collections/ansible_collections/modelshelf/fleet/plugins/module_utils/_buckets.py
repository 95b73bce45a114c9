# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Buckets: the plan of the module rustfs_bucket, and what rustfs_bucket_info says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_quota import impatient, read_quota
from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_rules import OPTIONS, Wanted, wanted_from
from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_store import Buckets
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import InUse, NotFound, Refused, Unavailable
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_empty import EmptyStore
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import Change, Kind, Step, Task

_NEW: dict[str, Any] = {"versioning": "", "quota": 0, "object_lock": False, "tags": {}, "policy": {}}
"""A bucket that nobody has told anything."""
_VERSIONED = {"versioning": "enabled"}


def plan(task: Task, entries: Sequence[Mapping[str, Any]]) -> list[Change]:
    """What it takes to bring buckets to what is wanted. Raises Refused, InUse and what the client raises.

    One listing, and a request for each setting that is asked for. What the server has beyond a list is reported and
    left alone: `others` are other buckets, `versioned` those of the list that keep versions without being asked to.
    """
    wanted = [wanted_from(entry) for entry in entries]
    store = Buckets(task.client)
    there = {} if isinstance(task.client, EmptyStore) else store.list_all()
    if task.listed:
        task.report["others"] = sorted(set(there) - {item.name for item in wanted})
        unasked = [item.name for item in wanted if item.name in there and not item.absent and item.versioning is None]
        task.report["versioned"] = [name for name in unasked if store.read(name, ("versioning",)) == _VERSIONED]
    return [_change(store, item, item.name in there) for item in wanted]


KIND = Kind("buckets", OPTIONS, plan)


def describe(client: Client, name: str | None) -> list[dict[str, Any]]:
    """The buckets that the key sees, sorted by name; only the one named `name`, if it is there.

    `used` is in bytes, None where the server does not know yet: for about a minute after its start.
    """
    if isinstance(client, EmptyStore):
        return []
    store, found = Buckets(client), []
    for bucket, created in sorted(store.list_all().items()):
        if name in (None, bucket):
            found.append({"name": bucket, "created": created, **store.read(bucket), "used": _used(client, bucket)})
    return found


def _used(client: Client, bucket: str) -> int | None:
    try:
        return read_quota(impatient(client), bucket).used
    except Unavailable:
        return None


def _change(store: Buckets, wanted: Wanted, there: bool) -> Change:
    if wanted.absent:
        return _removal(store, wanted.name) if there else Change(wanted.name, (), {}, {})
    asked = {
        "versioning": wanted.versioning,
        "quota": wanted.quota,
        "object_lock": wanted.object_lock or None,
        "tags": wanted.tags,
        "policy": wanted.policy,
    }
    asked = {field: value for field, value in asked.items() if value is not None}
    found = _found(store, wanted, asked) if there else {field: _NEW[field] for field in asked}
    steps: list[Step] = []
    if not there:
        locked = " with object lock" if wanted.object_lock else ""
        steps.append(Step((f"create{locked}",), lambda: store.create(wanted.name, wanted.object_lock)))
        if wanted.object_lock:
            found = {**found, "versioning": "enabled", "object_lock": True}
    steps += _steps(store, wanted, {field: value for field, value in asked.items() if found[field] != value})
    before = {"state": "present", **found} if there else {}
    return Change(wanted.name, tuple(steps), before, {"state": "present", **found, **asked})


def _found(store: Buckets, wanted: Wanted, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The asked settings of a bucket that is there. Raises Refused for what cannot be changed in one."""
    found = store.read(wanted.name, tuple(asked))
    where = f"bucket {wanted.name!r} (endpoint {store.client.admin.endpoint})"
    if wanted.object_lock and not found["object_lock"]:
        raise Refused(
            f"{where}: it is there without object lock, which can be had only when a bucket is created. Leave"
            " object_lock out, or move to a new bucket"
        )
    suspends = wanted.versioning == "suspended" and found["versioning"] == "enabled"
    if suspends and store.read(wanted.name, ("object_lock",))["object_lock"]:
        raise Refused(f"{where}: versioning cannot be suspended, because the bucket has object lock")
    return found


def _steps(store: Buckets, wanted: Wanted, differing: Mapping[str, Any]) -> list[Step]:
    name, steps = wanted.name, []
    if "versioning" in differing:
        state = differing["versioning"]
        action = "enable versioning" if state == "enabled" else "suspend versioning"
        steps.append(Step((action,), lambda: store.set_versioning(name, state)))
    if "quota" in differing:
        size = differing["quota"]
        action = f"set quota to {size} bytes" if size else "remove quota"
        steps.append(Step((action,), lambda: store.set_quota(name, size)))
    if "tags" in differing:
        tags = differing["tags"]
        steps.append(Step(("set tags" if tags else "remove tags",), lambda: store.set_tags(name, tags)))
    if "policy" in differing:
        document = wanted.document or {}
        action = "set policy" if document else "remove policy"
        steps.append(Step((action,), lambda: store.set_policy(name, document)))
    return steps


def _removal(store: Buckets, name: str) -> Change:
    try:
        objects, more, uploads = store.content(name)
    except NotFound:  # gone since it was listed
        return Change(name, (), {}, {})
    if objects or uploads:
        kept = f"{'at least ' if more else ''}{objects} objects (old versions and delete markers counted)"
        content = [kept] * bool(objects) + [f"{uploads} open uploads"] * bool(uploads)
        raise InUse(
            f"bucket {name!r} (endpoint {store.client.admin.endpoint}) was not removed: it holds"
            f" {' and '.join(content)}. Remove them first; this module removes empty buckets alone"
        )
    return Change(name, (Step(("remove",), lambda: store.remove(name)),), {"state": "present"}, {})
