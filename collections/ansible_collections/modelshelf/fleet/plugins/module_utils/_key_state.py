# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server has for one access key, with as few requests as tell it.

The listing of all keys has no status and does not tell whether a key inherits. A key whose secret is given tells it
itself: list-service-accounts, signed by the key, needs no right (rustfs/src/admin/handlers/service_account.rs), proves
the secret, and lists the keys of its user with both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotPermitted, Refused, StoreError
from ansible_collections.modelshelf.fleet.plugins.module_utils._key_listing import keys_in
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import canonical
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client, KeyState, key_state

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)")


@dataclass(frozen=True)
class Key:
    """An access key as the server has it. `policy` is in canonical form, None for a key that inherits."""

    user: str
    name: str = ""
    description: str = ""
    expiration: datetime | None = None
    enabled: bool = True
    policy: Mapping[str, Any] | None = None

    def shown(self) -> dict[str, Any]:
        """What a diff and rustfs_access_key_info tell about it."""
        return {
            "user": self.user,
            "name": self.name,
            "description": self.description,
            "expiration": shown_time(self.expiration),
            "status": "enabled" if self.enabled else "disabled",
            "policy": "inherited" if self.policy is None else self.policy,
        }


def parse_time(what: str, text: str) -> datetime:
    """A time of RFC 3339, in UTC and whole seconds, as the server keeps it. Raises Refused for what is none."""
    found = _TIME.fullmatch(text.strip())
    try:
        if not found:
            raise ValueError(text)
        day, time, zone = found.groups()
        return datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone in 'Zz' else zone}").astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise Refused(f"{what}: expiration is {text!r}; expected a time such as 2027-01-31T00:00:00Z") from error


def shown_time(moment: datetime | None) -> str | None:
    """A time as the modules write it; None for none."""
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def key_from(item: Mapping[str, Any]) -> Key:
    """A key of what the server tells: an entry of a listing or an answer to info-service-account."""
    policy = None
    if not item.get("impliedPolicy", True):
        policy = canonical(json.loads(item.get("policy") or "{}"))
    expiration = parse_time("the answer of the server", item["expiration"]) if item.get("expiration") else None
    return Key(
        user=str(item.get("parentUser", "")),
        name=item.get("name") or "",
        description=item.get("description") or "",
        expiration=expiration if expiration and expiration.timestamp() else None,
        enabled=item.get("accountStatus") != "off",
        policy=policy,
    )


def read_key(client: Client, key: str) -> dict[str, Any]:
    """Everything about one key but its secret, as the server gives it. Raises NotFound."""
    return dict(client.get("info-service-account", {"accessKey": key}, doing=f"read the access key {key!r}"))


def look(client: Client, key: str, listed: Mapping[str, Any], secret: str | None, inline: bool) -> tuple[Key, KeyState]:
    """A listed key, and what its secret does: GOOD where none was given, or where its state cannot be told.

    One request for each key: signed by the key when a secret is given, by the administrator when none is. One more
    when it has, or should have, a policy of its own (`inline`), or when the key's own answer did not tell enough.
    """
    item, state = dict(listed), KeyState.GOOD
    if secret is not None and inline:
        state = client.signs(key, secret)
    elif secret is not None:
        state, own = _ask_itself(client, key, secret)
        item.update(own)
    if inline or not item.get("impliedPolicy") or "accountStatus" not in item:
        item.update(read_key(client, key))
    return key_from(item), state


def _ask_itself(client: Client, key: str, secret: str) -> tuple[KeyState, dict[str, Any]]:
    """Whether the secret signs, and what the key is told about itself; nothing where that is refused."""
    doing = f"check the secret of {key!r}"
    try:
        answer = client.signed_by(key, secret).get("list-service-accounts", doing=doing)
    except NotPermitted as error:
        return key_state(error), {}
    except StoreError:
        return client.signs(key, secret), {}
    return KeyState.GOOD, keys_in(answer).get(key, {})
