# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The listing of all access keys with their users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Unsupported
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client

_BULK = {"all": "true", "listType": "svcacc-only"}


def list_keys(client: Client) -> dict[str, dict[str, Any]]:
    """Every access key by its name, with `parentUser` filled in. One call.

    The server leaves parentUser, accountStatus and impliedPolicy of this list without a meaning: the user is taken
    from where the key is listed, and the other two are left out. A server before 1.0.0-alpha.87 lacks the call; then
    each user's keys are listed, with both.
    """
    try:
        answer = client.get("list-access-keys-bulk", _BULK, doing="list the access keys")
    except Unsupported:
        return _listed_by_user(client)
    found: dict[str, dict[str, Any]] = {}
    for user, keys in (answer or {}).items():
        for item in keys.get("serviceAccounts") or ():
            known = {name: item.get(name) for name in ("accessKey", "name", "description", "expiration")}
            found[str(item["accessKey"])] = {**known, "parentUser": user}
    return found


def list_keys_of(client: Client, user: str) -> dict[str, dict[str, Any]]:
    """The access keys of one user by their names, with status and impliedPolicy; none for a user that is not there."""
    return keys_in(client.get("list-service-accounts", {"user": user}, doing=f"list the access keys of {user!r}"))


def keys_in(answer: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The keys of an answer to list-service-accounts by their names."""
    return {str(item["accessKey"]): dict(item) for item in (answer or {}).get("accounts") or ()}


def parents_of_keys(client: Client) -> dict[str, str]:
    """The user of every access key."""
    return {key: str(item.get("parentUser", "")) for key, item in list_keys(client).items()}


def _listed_by_user(client: Client) -> dict[str, dict[str, Any]]:
    users = [*(client.get("list-users", doing="list the users") or {}), client.admin.access_key]
    return {key: {**item, "parentUser": user} for user in users for key, item in list_keys_of(client, user).items()}
