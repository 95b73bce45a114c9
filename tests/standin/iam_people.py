# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users and groups (crates/iam/src/{sys,manager}.rs of RustFS)."""

from __future__ import annotations

from typing import Any

from .iam_store import (
    GROUP,
    GROUP_POLICIES,
    KEY,
    USER,
    USER_POLICIES,
    Change,
    IamError,
    IamStore,
    has_space,
    now,
)

SHORTEST_KEY, SHORTEST_SECRET = 3, 8  # bytes


def no_such_user(name: str) -> IamError:
    """The error of a name that no user has."""
    return IamError("NoSuchUser", f"user '{name}' does not exist")


def no_such_group(name: str) -> IamError:
    """The error of a name that no group has."""
    return IamError("NoSuchGroup", f"group '{name}' does not exist")


def not_allowed() -> IamError:
    """The error of a call that is not for this kind of account."""
    return IamError("IAMActionNotAllowed", "action not allowed")


class Users:
    """The users of a store; root is none of them."""

    def __init__(self, store: IamStore) -> None:
        self._store = store

    def info(self, name: str) -> dict[str, Any]:
        """A user as the API shows it. Raises IamError for nobody and for a service account."""
        if self._store.get(KEY, name):
            raise not_allowed()
        if self._store.get(USER, name) is None:
            raise no_such_user(name)
        return self._shown(name)

    def all(self) -> dict[str, dict[str, Any]]:
        """Every user as the API shows it."""
        return {name: self._shown(name) for name in self._store.all(USER)}

    def _shown(self, name: str) -> dict[str, Any]:
        user, mapping = self._store.get(USER, name) or {}, self._store.get(USER_POLICIES, name)
        groups = [group for group, found in self._store.all(GROUP).items() if name in found["members"]]
        return {
            **({"policyName": mapping["policies"]} if mapping else {}),
            "status": "enabled" if user["status"] == "on" else "disabled",
            **({"memberOf": groups} if groups or name in self._store.once_in_a_group else {}),
            "updatedAt": (mapping or user)["updated"],
        }

    def put(self, name: str, secret: str, enabled: bool) -> None:
        """Create a user, or overwrite its secret and status. Raises IamError for bad lengths and letters."""
        if len(name.encode()) < SHORTEST_KEY:
            raise IamError("InvalidAccessKeyLength", "invalid access key length")
        if "=" in name or "," in name:
            raise IamError("ContainsReservedChars", "access key contains reserved characters =,")
        if len(secret.encode()) < SHORTEST_SECRET:
            raise IamError("InvalidSecretKeyLength", "invalid secret key length")
        with self._store.change() as change:
            if change.get(KEY, name):
                raise IamError("AccessKeyAlreadyExists", "access key is already in use")
            change.put(USER, name, {"secret": secret, "status": "on" if enabled else "off", "updated": now()})

    def set_status(self, name: str, enabled: bool) -> None:
        """Switch a user on or off. Raises IamError."""
        with self._store.change() as change:
            user = change.get(USER, name)
            if user is None:
                raise not_allowed() if change.get(KEY, name) else no_such_user(name)
            change.put(USER, name, {**user, "status": "on" if enabled else "off", "updated": now()})

    def remove(self, name: str) -> None:
        """Remove a user with its memberships, its mapping and its service accounts. Raises IamError."""
        with self._store.change() as change:
            if not change.delete(USER, name):
                raise no_such_user(name)
            change.delete(USER_POLICIES, name)
            for group, found in change.all(GROUP).items():
                if name in found["members"]:
                    members = [member for member in found["members"] if member != name]
                    change.put(GROUP, group, {**found, "members": members})
            for key, found in change.all(KEY).items():
                if found["parent"] == name:
                    change.delete(KEY, key)


class Groups:
    """The groups of a store."""

    def __init__(self, store: IamStore) -> None:
        self._store = store

    def names(self) -> list[str]:
        """Every group, and every name that has nothing but a policy mapping."""
        return sorted({*self._store.all(GROUP), *self._store.all(GROUP_POLICIES)})

    def info(self, name: str) -> dict[str, Any]:
        """A group as the API shows it. Raises IamError."""
        group, mapping = self._store.get(GROUP, name), self._store.get(GROUP_POLICIES, name)
        if group is None:
            raise no_such_group(name)
        return {
            "name": name,
            "status": group["status"],
            "members": group["members"],
            "policy": mapping["policies"] if mapping else "",
            "updatedAt": mapping["updated"] if mapping else now(),
        }

    def add(self, name: str, members: list[str]) -> None:
        """Add members; a group that is not there is made. Raises IamError."""
        with self._store.change() as change:
            group = change.get(GROUP, name)
            if group is None and has_space(name):
                raise IamError("Whitespace", "group name contains whitespace")
            if "=" in name or "," in name:
                raise IamError("GroupNameContainsReservedChars", "group name contains reserved characters =,")
            if not name:
                raise IamError("InvalidArgument", "invalid arguments specified")
            self._check_members(change, members)
            found = group or {"members": [], "status": "enabled"}
            known = list(dict.fromkeys([*found["members"], *members]))
            change.put(GROUP, name, {**found, "members": known, "updated": now()})
        self._store.once_in_a_group.update(members)

    def remove(self, name: str, members: list[str]) -> None:
        """Remove members, or with none of them the group, which must then be empty. Raises IamError.

        Somebody who is no member may be removed.
        """
        if not name:
            raise IamError("InvalidArgument", "invalid arguments specified")
        with self._store.change() as change:
            self._check_members(change, members)
            group = change.get(GROUP, name)
            if group is None:
                raise no_such_group(name)
            if members:
                left = [member for member in group["members"] if member not in members]
                change.put(GROUP, name, {**group, "members": left, "updated": now()})
                return
            if group["members"]:
                raise IamError("GroupNotEmpty", "group not empty")
            change.delete(GROUP, name)
            change.delete(GROUP_POLICIES, name)

    def set_status(self, name: str, enabled: bool) -> None:
        """Switch a group on or off. Raises IamError."""
        with self._store.change() as change:
            group = change.get(GROUP, name)
            if group is None:
                raise no_such_group(name)
            change.put(GROUP, name, {**group, "status": "enabled" if enabled else "disabled", "updated": now()})

    @staticmethod
    def _check_members(change: Change, members: list[str]) -> None:
        for member in members:
            if change.get(KEY, member):
                raise not_allowed()
            if change.get(USER, member) is None:
                raise no_such_user(member)
