# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Service accounts: access keys beneath a user (crates/iam/src/{sys,manager}.rs of RustFS)."""

from __future__ import annotations

import json
import secrets
import string
from typing import Any

from .iam_policies import Policies
from .iam_store import KEY, USER, IamError, IamStore
from .policy_document import VERSION

KEY_LENGTHS, SECRET_LENGTHS = range(3, 129), range(8, 41)  # bytes
LARGEST_POLICY = 4096  # bytes of JSON
RESERVED = "siteReplicatorSvcAcc"


class Keys:
    """The service accounts of a store."""

    def __init__(self, store: IamStore, policies: Policies) -> None:
        self._store, self._policies = store, policies

    def get(self, name: str) -> dict[str, Any]:
        """The document of a service account. Raises IamError."""
        found = self._store.get(KEY, name)
        if found is None:
            raise IamError("NoSuchServiceAccount", f"service account '{name}' does not exist")
        return found

    def of(self, parent: str) -> dict[str, dict[str, Any]]:
        """The service accounts of one user."""
        return {name: key for name, key in self._store.all(KEY).items() if key["parent"] == parent}

    def shown(self, name: str) -> dict[str, Any]:
        """A service account as the API shows it, with its own policy or, when it has none, its parent's."""
        key = self.get(name)
        policy = key["policy"] or self._policies.merged(self._policies.of_user(key["parent"]))
        return {
            "parentUser": key["parent"],
            "accountStatus": key["status"],
            "impliedPolicy": key["policy"] is None,
            "policy": json.dumps({**policy, "Version": policy["Version"] or VERSION}, indent=2, ensure_ascii=False),
            **optional(key),
        }

    def add(self, parent: str, access_key: str, secret: str, **details: Any) -> tuple[str, str]:
        """Create one; its access and its secret key, generated when none is given. Raises IamError.

        `details` are policy, name, description, expiration and status, as they are stored.
        """
        if not parent:
            raise IamError("InvalidArgument", "invalid arguments specified")
        if access_key and not secret:
            raise IamError("NoSecretKeyWithAccessKey", "no secret key with access key")
        if secret and not access_key:
            raise IamError("NoAccessKeyWithSecretKey", "no access key with secret key")
        if access_key == parent:
            raise _in_use()
        if access_key == RESERVED:
            raise IamError("IAMActionNotAllowed", "action not allowed")
        _check_size(details.get("policy"))
        if not access_key:
            access_key, secret = _generated()
        if len(access_key.encode()) not in KEY_LENGTHS:
            raise IamError("InvalidAccessKeyLength", "invalid access key length")
        if len(secret.encode()) not in SECRET_LENGTHS:
            raise IamError("InvalidSecretKeyLength", "invalid secret key length")
        fresh = {"status": "on", "policy": None, "name": None, "description": None, "expiration": None}
        with self._store.change() as change:
            if change.get(KEY, access_key) or change.get(USER, access_key):
                raise _in_use()
            change.put(KEY, access_key, {**fresh, **details, "secret": secret, "parent": parent})
        return access_key, secret

    def update(self, key_name: str, **changes: Any) -> None:
        """Change what is given: secret, status, policy (None: the parent's), name, description, expiration.

        Raises IamError.
        """
        if "secret" in changes and len(changes["secret"].encode()) not in range(SECRET_LENGTHS.start, 1 << 20):
            raise IamError("InvalidSecretKeyLength", "invalid secret key length")
        _check_size(changes.get("policy"))
        with self._store.change() as change:
            found = change.get(KEY, key_name)
            if found is None:
                raise IamError("NoSuchServiceAccount", f"service account '{key_name}' does not exist")
            change.put(KEY, key_name, {**found, **changes})

    def remove(self, name: str) -> None:
        """Remove one, also one that is not there."""
        with self._store.change() as change:
            change.delete(KEY, name)


def optional(key: dict[str, Any]) -> dict[str, Any]:
    """What is shown of a key only when it has it."""
    return {name: key[name] for name in ("name", "description", "expiration") if key[name] is not None}


def _in_use() -> IamError:
    return IamError("AccessKeyAlreadyExists", "access key is already in use")


def _check_size(policy: dict[str, Any] | None) -> None:
    if policy and len(json.dumps(policy, separators=(",", ":"), ensure_ascii=False).encode()) > LARGEST_POLICY:
        raise IamError("PolicyTooLarge", "policy too large")


def _generated() -> tuple[str, str]:
    letters = string.ascii_letters + string.digits
    name = "".join(secrets.choice(string.ascii_uppercase + string.digits) for _ in range(20))
    return name, "".join(secrets.choice(letters) for _ in range(40))
