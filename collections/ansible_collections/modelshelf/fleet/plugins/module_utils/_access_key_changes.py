# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What it takes to make, change or remove one access key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils import _identity_rules as rules
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Refused, StoreError, Unsupported
from ansible_collections.modelshelf.fleet.plugins.module_utils._key_state import Key, look, shown_time
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client, KeyState
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import Change, Step


@dataclass(frozen=True)
class Wanted:
    """An access key as it should be; None leaves a field alone.

    `value` is the canonical form of `policy`, None for an empty one.
    """

    key: str
    absent: bool
    secret: str | None = field(default=None, repr=False)
    user: str | None = None
    policy: Mapping[str, Any] | None = None
    value: Mapping[str, Any] | None = None
    name: str | None = None
    description: str | None = None
    expiration: datetime | None = None
    enabled: bool | None = None
    rotate: bool = False

    @property
    def what(self) -> str:
        return f"access key {self.key!r}"

    def after(self, found: Key) -> Key:
        """What becomes of `found`."""
        return replace(
            found,
            name=found.name if self.name is None else self.name,
            description=found.description if self.description is None else self.description,
            expiration=self.expiration or found.expiration,
            enabled=found.enabled if self.enabled is None else self.enabled,
            policy=found.policy if self.policy is None else self.value,
        )


def _check_future(wanted: Wanted) -> None:
    if wanted.expiration is not None and wanted.expiration <= datetime.now(timezone.utc):
        raise Refused(
            f"{wanted.what}: expiration is {shown_time(wanted.expiration)}, which is past; choose a later time"
        )


def creation(client: Client, wanted: Wanted) -> tuple[Change, Key]:
    """Makes a key; also what it then is. Raises Refused for an expiration that is past."""
    _check_future(wanted)
    after = wanted.after(Key(str(wanted.user)))
    given = {
        "targetUser": wanted.user,
        "accessKey": wanted.key,
        "secretKey": wanted.secret,
        "name": wanted.name,
        "description": wanted.description,
        "expiration": shown_time(wanted.expiration),
        "policy": wanted.policy,
    }
    body = {name: value for name, value in given.items() if value}
    steps = [Step(("create",), lambda: _add(client, wanted.key, body))]
    if not after.enabled:
        steps.append(Step(("set status disabled",), lambda: _write(client, wanted.key, {"newStatus": "off"})))
    return Change(wanted.key, tuple(steps), {}, after.shown()), after


def update(client: Client, wanted: Wanted, listed: Mapping[str, Any]) -> tuple[Change, Key]:
    """Changes what differs, in one call; also what the key then is.

    Raises Refused for a key of another user, for a secret that does not sign unless it is to be rotated, and for a new
    expiration that is past.
    """
    user = str(listed.get("parentUser", ""))
    if wanted.user not in (None, user):
        raise Refused(
            f"{wanted.what}: user is {wanted.user!r}, but the key belongs to {user!r}, and RustFS cannot move it."
            " Remove it first, or use another key"
        )
    found, state = look(client, wanted.key, listed, wanted.secret, inline=wanted.value is not None)
    after = wanted.after(found)
    changed: dict[str, tuple[str, Any]] = {}
    before_shown, after_shown = found.shown(), after.shown()
    if state in (KeyState.WRONG_SECRET, KeyState.UNKNOWN):
        _check_rotates(client, wanted, state)
        changed["update secret"] = ("newSecretKey", wanted.secret)
        before_shown, after_shown = (
            {**before_shown, "secret": rules.OLD_SECRET},
            {**after_shown, "secret": rules.NEW_SECRET},
        )
    if after.policy != found.policy:
        changed["update policy" if after.policy else "inherit the policy"] = ("newPolicy", wanted.policy or {})
    if after.name != found.name:
        changed["update name"] = ("newName", after.name)
    if after.description != found.description:
        changed["update description"] = ("newDescription", after.description)
    if after.expiration != found.expiration:
        _check_future(wanted)
        changed["update expiration"] = ("newExpiration", shown_time(after.expiration))
    if after.enabled != found.enabled:
        changed[f"set status {after_shown['status']}"] = ("newStatus", "on" if after.enabled else "off")
    body = dict(changed.values())
    steps = (Step(tuple(changed), lambda: _write(client, wanted.key, body)),) if changed else ()
    return Change(wanted.key, steps, before_shown, after_shown), after


def _check_rotates(client: Client, wanted: Wanted, state: KeyState) -> None:
    if wanted.rotate:
        return
    if state is KeyState.UNKNOWN:
        raise StoreError(f"{wanted.what}: the server lists it, but {state.value} {client.admin.where}. Try again")
    raise Refused(
        f"{wanted.what}: secret is not the one that the store has {client.admin.where}. Correct it, or set"
        " rotate_secret (role rustfs_config: rustfs_config_rotate_secrets) to make it the new one"
    )


def removal(client: Client, key: str, listed: Mapping[str, Any] | None) -> Change:
    """Removes a key; nothing where it is not there."""
    if listed is None:
        return Change(key, (), {}, {})
    shown = {name: listed.get(name) or "" for name in ("name", "description")}
    before = {"user": listed.get("parentUser", ""), **shown, "expiration": listed.get("expiration")}
    return Change(key, (Step(("remove",), lambda: _delete(client, key)),), before, {})


def _add(client: Client, key: str, body: Mapping[str, Any]) -> None:
    doing = f"create the access key {key!r}"
    try:
        client.put("add-service-account", body=body, doing=doing)
    except Unsupported:  # its name before 1.0.0-alpha.87
        client.put("add-service-accounts", body=body, doing=doing)


def _write(client: Client, key: str, body: Mapping[str, Any]) -> None:
    client.post("update-service-account", {"accessKey": key}, body, doing=f"change the access key {key!r}")


def _delete(client: Client, key: str) -> None:
    query, doing = {"accessKey": key}, f"remove the access key {key!r}"
    try:
        client.delete("delete-service-account", query, doing=doing)
    except Unsupported:  # its name before 1.0.0-alpha.87
        client.delete("delete-service-accounts", query, doing=doing)
