# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All identities in a zip file, with their secrets in plain text, and back from it (the IAM part of user.rs).

The file names and fields are the server's, so that what one of them exports the other imports.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

from .iam_access import Identities
from .iam_store import GROUP, GROUP_POLICIES, KEY, USER, USER_POLICIES, Documents, IamError, has_space, parse_moment
from .policy_document import parse_policy
from .policy_text import PolicyError
from .wire import ApiError

FOLDER = "iam-assets"
LARGEST, LARGEST_UNPACKED = 10 << 20, 100 << 20  # bytes
_KINDS = ("policies", "users", "groups", "serviceAccounts", "userPolicies", "groupPolicies", "stsPolicies")


def export(identities: Identities) -> bytes:
    """The zip file of everything, built-in policies too."""
    store = identities.store
    files: dict[str, Any] = {
        "policies": identities.policies.all(),
        "users": {
            name: {"secretKey": user["secret"], "status": "enabled" if user["status"] == "on" else "disabled"}
            for name, user in store.all(USER).items()
        },
        "groups": {name: {"version": 1, **_dated(group)} for name, group in store.all(GROUP).items()},
        "svcaccts": {name: _exported_key(name, key) for name, key in store.all(KEY).items()},
        "user_mappings": _exported_mappings(store.all(USER_POLICIES)),
        "group_mappings": _exported_mappings(store.all(GROUP_POLICIES)),
        "stsuser_mappings": {},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{FOLDER}/{name}.json", json.dumps(content, ensure_ascii=False))
    return packed.getvalue()


def _dated(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in document.items() if name != "updated"}, "updatedAt": document["updated"]}


def _exported_mappings(mappings: Documents) -> dict[str, Any]:
    return {
        name: {"version": 1, "policy": mapping["policies"], "updatedAt": mapping["updated"]}
        for name, mapping in mappings.items()
    }


def _exported_key(name: str, key: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "parent": key["parent"],
        "accessKey": name,
        "secretKey": key["secret"],
        "groups": [],
        "claims": {},
        "sessionPolicy": key["policy"],
        "status": key["status"],
        "name": key["name"] or "",
        "description": key["description"] or "",
        "expiration": key["expiration"],
    }


class Import:
    """One import. What is there already is overwritten; what the file does not name stays."""

    def __init__(self, identities: Identities, packed: bytes) -> None:
        self._identities, self._left = identities, LARGEST_UNPACKED
        self.result: dict[str, dict[str, list[Any]]] = {
            outcome: {kind: [] for kind in _KINDS} for outcome in ("skipped", "removed", "added", "failed")
        }
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(packed))
        except zipfile.BadZipFile as error:
            raise ApiError(500, "InternalError", "invalid Zip archive: Could not find EOCD") from error

    def run(self) -> dict[str, dict[str, list[Any]]]:
        """Import everything; what was skipped, removed, added and failed. Raises ApiError."""
        with self._archive:
            self._policies(self._file("policies"))
            self._users(self._file("users"))
            self._groups(self._file("groups"))
            self._keys(self._file("svcaccts"))
            self._mappings(self._file("user_mappings"), "userPolicies", group=False)
            self._mappings(self._file("group_mappings"), "groupPolicies", group=True)
        return self.result

    def _file(self, name: str) -> dict[str, Any]:
        try:
            with self._archive.open(f"{FOLDER}/{name}.json") as member:
                content = member.read(self._left + 1)
        except KeyError:
            return {}
        self._left -= len(content)
        if self._left < 0:
            message = f"IAM import archive expands beyond the {LARGEST_UNPACKED} byte limit"
            raise ApiError(400, "EntityTooLarge", message)
        try:
            found = json.loads(content.decode())
        except ValueError as error:
            raise ApiError(500, "InternalError", str(error)) from error
        if not isinstance(found, dict):
            raise ApiError(500, "InternalError", "invalid type: expected a map")
        return found

    def _policies(self, found: dict[str, Any]) -> None:
        for name, document in found.items():
            policy = _parsed(document)
            try:
                if policy["Statement"]:
                    self.result["added"]["policies"].append(name)
                    self._identities.policies.put(name, policy)
                else:
                    self.result["removed"]["policies"].append(name)
                    self._identities.policies.remove(name)
            except IamError as error:
                text = f"set policy failed, name: {name}, err: {error.message}"
                raise ApiError(500, "InternalError", text) from error

    def _users(self, found: dict[str, Any]) -> None:
        for name, user in found.items():
            if name == self._identities.root or self._identities.store.get(KEY, name):
                raise ApiError(400, "InvalidArgument", "can't create user with system access key")
            if not self._identities.exists(name) and has_space(name):
                raise ApiError(400, "InvalidArgument", "has space be")
            try:
                self._identities.users.put(name, user["secretKey"], user["status"] == "enabled")
                self.result["added"]["users"].append(name)
            except IamError as error:
                self.result["failed"]["users"].append({"name": name, "error": error.message})

    def _groups(self, found: dict[str, Any]) -> None:
        for name, group in found.items():
            try:
                self._identities.groups.add(name, group["members"])
                if group["status"] == "disabled":
                    self._identities.groups.set_status(name, False)
                self.result["added"]["groups"].append(name)
            except IamError as error:
                self.result["failed"]["groups"].append({"name": name, "error": error.message})

    def _keys(self, found: dict[str, Any]) -> None:
        for name, key in found.items():
            policy, end = key.get("sessionPolicy"), key.get("expiration")
            details = {
                "policy": _parsed(policy) if policy else None,
                "name": key.get("name") or None,
                "description": key.get("description") or None,
                "expiration": f"{parse_moment(end):%Y-%m-%dT%H:%M:%SZ}" if end else None,
                "status": "off" if key.get("status") in ("off", "disabled") else "on",
            }
            try:
                self._identities.keys.remove(name)
                self._identities.keys.add(key["parent"], name, key["secretKey"], **details)
                self.result["added"]["serviceAccounts"].append(name)
            except IamError as error:
                self.result["failed"]["serviceAccounts"].append({"name": name, "error": error.message})

    def _mappings(self, found: dict[str, Any], kind: str, *, group: bool) -> None:
        for name, mapping in found.items():
            policies = mapping["policy"] if "policy" in mapping else mapping["policies"]
            try:
                self._identities.policies.map(name, policies, group=group)
                self.result["added"][kind].append({name: policies.split(",")})
            except IamError as error:
                failure = {"name": name, "policies": policies.split(","), "error": error.message}
                self.result["failed"][kind].append(failure)


def _parsed(document: Any) -> dict[str, Any]:
    try:
        return parse_policy(json.dumps(document).encode())
    except PolicyError as error:
        raise ApiError(500, "InternalError", error.message) from error
