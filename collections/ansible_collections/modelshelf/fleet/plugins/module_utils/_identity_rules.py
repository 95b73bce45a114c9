# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for users and access keys that RustFS checks, checked before anything is sent.

Source: crates/policy auth/credentials.rs, crates/madmin user.rs. Texts never hold a secret.
"""

from __future__ import annotations

import re
import secrets as random
from collections.abc import Mapping
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Refused
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import PolicyFault, check_name

OLD_SECRET = "(another one)"
NEW_SECRET = "(the given one)"
"""What a diff shows in place of secrets."""

SHORTEST_NAME = 3
SHORTEST_SECRET = 8
LONGEST_KEY = 128
LONGEST_KEY_SECRET = 40
LONGEST_KEY_NAME = 32
LONGEST_DESCRIPTION = 256
LONGEST_GROUP = 256

_KEY_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def random_secret() -> str:
    """A secret of 40 characters that nobody gets to see."""
    return random.token_urlsafe(30)


def check_access_key(what: str, name: Any, longest: int = 0) -> str:
    """`name` itself, when it can be a user or, with `longest` bytes, an access key. Raises Refused."""
    size = len(str(name).encode())
    if size < SHORTEST_NAME:
        raise Refused(f"{what} {name!r} has {size} bytes; RustFS wants at least {SHORTEST_NAME}")
    if longest and size > longest:
        raise Refused(f"{what} {name!r} has {size} bytes; RustFS takes at most {longest}")
    _check_characters(what, str(name), "a signature cannot carry" if longest else "RustFS refuses")
    return str(name)


def check_signing(what: str, name: str) -> None:
    """Raises Refused for a name with which nobody can sign: headers carry ASCII alone."""
    if not name.isascii():
        strange = next(letter for letter in name if not letter.isascii())
        raise Refused(f"{what} has {strange!r} in its name, which a signature cannot carry: use ASCII alone")


def check_group(name: Any) -> str:
    """`name` itself, when it can be a group. Raises Refused."""
    size = len(str(name).encode())
    if not 1 <= size <= LONGEST_GROUP:
        raise Refused(f"the group {name!r} has {size} bytes; RustFS takes 1 to {LONGEST_GROUP}")
    _check_characters("the group", str(name), "RustFS refuses")
    return str(name)


def check_secret(what: str, secret: str | None, longest: int = 0) -> str | None:
    """`secret` itself, when RustFS takes it. Raises Refused with its length alone."""
    size = len(secret.encode()) if secret is not None else SHORTEST_SECRET
    if size < SHORTEST_SECRET or (longest and size > longest):
        rule = f"{SHORTEST_SECRET} to {longest}" if longest else f"at least {SHORTEST_SECRET}"
        raise Refused(f"{what}: secret has {size} bytes; RustFS takes {rule}")
    return secret


def check_policies(what: str, policies: Any) -> frozenset[str] | None:
    """Names of policies, None for None. Raises Refused for a name that no policy can have."""
    if policies is None:
        return None
    try:
        return frozenset(check_name(name) for name in policies)
    except PolicyFault as fault:
        raise Refused(f"{what}: policies: {fault}") from fault


def check_rotation(what: str, entry: Mapping[str, Any]) -> None:
    """Raises Refused for a rotation without a new secret: it would be another random one in each run."""
    if entry["rotate_secret"] and entry["secret"] is None and entry["state"] == "present":
        raise Refused(f"{what}: rotate_secret is set without a secret. Give the new one as secret")


def check_key_name(what: str, name: str | None) -> str | None:
    """`name` itself, when an access key can carry it. Empty clears it. Raises Refused."""
    if name and len(name) > LONGEST_KEY_NAME:
        raise Refused(f"{what}: name {name!r} has {len(name)} characters; RustFS takes at most {LONGEST_KEY_NAME}")
    if name and not _KEY_NAME.fullmatch(name):
        raise Refused(f"{what}: name is {name!r}; RustFS takes letters, digits, _ and - of ASCII, the first a letter")
    return name


def check_description(what: str, description: str | None) -> str | None:
    """`description` itself, when it is short enough. Raises Refused."""
    size = len((description or "").encode())
    if size > LONGEST_DESCRIPTION:
        raise Refused(f"{what}: description has {size} bytes; RustFS takes at most {LONGEST_DESCRIPTION}")
    return description


def _check_characters(what: str, name: str, rule: str) -> None:
    """Refuses what would break a list of names or a header. An access key with = can be made, but not relied on."""
    found = re.search(r"[=,\s\x00-\x1f\x7f]", name)
    if found:
        raise Refused(f"{what} {name!r} has {found[0]!r} in it, which {rule}: use no =, no comma and no blanks")
