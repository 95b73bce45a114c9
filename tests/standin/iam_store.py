# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identities as documents: all of them in memory, every change on the disk before it is seen."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from .database import Database

USER = "user"
"""name -> {secret, status: on|off, updated}"""
GROUP = "group"
"""name -> {members, status: enabled|disabled, updated}"""
POLICY = "policy"
"""name -> {policy, created, updated}"""
USER_POLICIES = "user-policies"
"""user -> {policies: names with commas between them, updated}"""
GROUP_POLICIES = "group-policies"
"""group -> {policies: names with commas between them, updated}"""
KEY = "key"
"""access key -> {secret, parent, status: on|off, policy or None, name, description, expiration}"""

KINDS = (USER, GROUP, POLICY, USER_POLICIES, GROUP_POLICIES, KEY)

Documents = Mapping[str, dict[str, Any]]


class IamError(Exception):
    """What the server's identity layer refuses, by the server's own name for it and with its text."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


class Change:
    """Changes that are made together or not at all. It reads what it wrote."""

    def __init__(self, state: Mapping[str, Documents]) -> None:
        self.state = {kind: dict(documents) for kind, documents in state.items()}
        self.written: dict[tuple[str, str], dict[str, Any] | None] = {}

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """A document, or None."""
        return self.state[kind].get(name)

    def all(self, kind: str) -> Documents:
        """Every document of a kind."""
        return dict(self.state[kind])

    def put(self, kind: str, name: str, body: dict[str, Any]) -> None:
        """Write a document."""
        self.state[kind][name] = self.written[kind, name] = body

    def delete(self, kind: str, name: str) -> bool:
        """Remove a document; whether it was there."""
        self.written[kind, name] = None
        return self.state[kind].pop(name, None) is not None


class IamStore:
    """All identity documents. Readers see the state before or after a change, never between."""

    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, threading.Lock()
        state = {kind: database.all(kind) for kind in KINDS}
        self._state: Mapping[str, Documents] = MappingProxyType(state)
        self.once_in_a_group: set[str] = set()
        """Users who were a member since the start: the server then lists no groups for them instead of nothing."""
        self._forget_expired()

    def _forget_expired(self) -> None:
        """Expired keys are dropped when the server loads its identities."""
        with self.change() as change:
            for name, key in change.all(KEY).items():
                if expired(key):
                    change.delete(KEY, name)

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """A document, or None."""
        return self._state[kind].get(name)

    def all(self, kind: str) -> Documents:
        """Every document of a kind by its name."""
        return self._state[kind]

    @contextmanager
    def change(self) -> Iterator[Change]:
        """One change at a time; it is kept unless the block raises. Not to be nested."""
        with self._lock:
            change = Change(self._state)
            yield change
            if not change.written:
                return
            with self._database.write() as connection:
                for (kind, name), body in change.written.items():
                    if body is None:
                        self._database.delete(kind, name, connection)
                    else:
                        self._database.put(kind, name, body, connection)
            self._state = MappingProxyType(change.state)


def now() -> str:
    """The time in UTC as RFC 3339 with up to nine digits of a second."""
    seconds, rest = divmod(time.time_ns(), 10**9)
    fraction = f".{rest:09}".rstrip("0").rstrip(".")
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def readable(moment: str) -> str:
    """A time of `now` in the form that the server gives to the dates of policies."""
    date, _, clock = moment.removesuffix("Z").partition("T")
    return f"{date} {clock}{'' if '.' in clock else '.0'} +00:00:00"


def parse_moment(text: str) -> datetime:
    """A time in RFC 3339. Raises ValueError."""
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None or "T" not in text.upper():
        raise ValueError(f"{text!r} is no time in RFC 3339")
    return parsed.astimezone(UTC)


def expired(key: Mapping[str, Any]) -> bool:
    """Whether an access key has an end that has come."""
    return bool(key["expiration"]) and parse_moment(key["expiration"]) < datetime.now(UTC)


def split_names(policies: str) -> list[str]:
    """The names in a mapping; blanks around a comma belong to the name, as in the server."""
    return [name for name in policies.split(",") if name.strip()]


def has_space(name: str) -> bool:
    """Whether there is white space anywhere in a name."""
    return any(letter.isspace() for letter in name)
