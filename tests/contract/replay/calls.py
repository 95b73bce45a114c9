# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admin and S3 calls for the contract tests, by a client that has nothing of the product in it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.contract.replay.client import Answer, Client, Plan

ADMIN = "/rustfs/admin/v3/"
VERSION = "2012-10-17"


@dataclass(frozen=True)
class Reply:
    """An answer with what is looked at most."""

    answer: Answer

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def json(self) -> Any:
        """The body; None when it is empty."""
        return json.loads(self.answer.body) if self.answer.body else None

    @property
    def error(self) -> tuple[int, str, str]:
        """Status, code and message of an error; the last two are empty without a body."""
        if not self.answer.body:
            return self.status, "", ""
        root = ElementTree.fromstring(self.answer.body)
        assert root.tag == "Error", self.answer.body
        return self.status, root.findtext("Code") or "", root.findtext("Message") or ""

    @property
    def refusal(self) -> tuple[int, str]:
        """Status and code of an error."""
        return self.error[:2]

    def ok(self) -> Reply:
        """This reply, which must be a success."""
        assert 200 <= self.status < 300, f"{self.status}: {self.answer.body!r}"
        return self


@dataclass(frozen=True)
class Calls:
    """Calls that one identity makes; nobody's without an access key."""

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)

    def by(self, access_key: str, secret_key: str) -> Calls:
        """The same calls by somebody else."""
        return Calls(self.endpoint, access_key, secret_key)

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | list[tuple[str, str]] | None = None,
        body: Any = b"",
        *,
        headers: Mapping[str, str] | None = None,
        sign: Mapping[str, Any] | None = None,
        raw: bool = False,
    ) -> Reply:
        """Any request. A body that is neither bytes nor text is sent as JSON."""
        pairs = list(query.items()) if isinstance(query, Mapping) else query or []
        content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        plan = Plan(method, path, pairs, headers or {}, content, raw)
        identity = (self.access_key, self.secret_key) if self.access_key else None
        return Reply(Client(self.endpoint).send(plan, identity, sign))

    def admin(self, method: str, call: str, body: Any = b"", **query: str) -> Reply:
        """A call of the admin API."""
        return self.send(method, ADMIN + call, query, body)

    def add_user(self, name: str, secret: str = "a-secret-of-a-user", status: str = "enabled") -> Calls:
        """A new user, and the calls that it makes."""
        self.admin("PUT", "add-user", {"secretKey": secret, "status": status}, accessKey=name).ok()
        return self.by(name, secret)

    def add_policy(self, name: str, *statements: Mapping[str, Any]) -> str:
        """A policy; its name."""
        self.admin("PUT", "add-canned-policy", {"Version": VERSION, "Statement": statements}, name=name).ok()
        return name

    def attach(self, policies: str, name: str, *, group: bool = False) -> None:
        """Give a user or group exactly these policies."""
        query = {"policyName": policies, "userOrGroup": name, "isGroup": str(group).lower()}
        self.admin("PUT", "set-user-or-group-policy", **query).ok()

    def add_members(self, group: str, *members: str, remove: bool = False) -> Reply:
        """Add members to a group, or remove them."""
        body = {"group": group, "members": members, "groupStatus": "enabled", "isRemove": remove}
        return self.admin("PUT", "update-group-members", body)

    def add_key(self, user: str, key: str, **details: Any) -> Calls:
        """A service account with a given key, and the calls that it makes. `details` are members of the body."""
        secret = "a-secret-of-a-key"
        body = {"targetUser": user, "accessKey": key, "secretKey": secret, **details}
        self.admin("PUT", "add-service-account", body).ok()
        return self.by(key, secret)

    def signs(self) -> Reply:
        """What is-admin answers this identity."""
        return self.admin("GET", "is-admin")

    def get(self, path: str, **query: str) -> Reply:
        """GET of a bucket or an object, `bucket/key`."""
        return self.send("GET", f"/{path}", query)

    def put(self, path: str, body: bytes | str = b"") -> Reply:
        """PUT of a bucket or an object."""
        return self.send("PUT", f"/{path}", body=body)

    def list(self, bucket: str, **query: str) -> Reply:
        """A listing of version 2; `max_keys` stands for max-keys."""
        return self.get(bucket, **{"list-type": "2", **{name.replace("_", "-"): text for name, text in query.items()}})


def allow(actions: str, *resources: str, **more: Any) -> dict[str, Any]:
    """A statement that allows actions (names with blanks between them) on resources, given without their ARN."""
    return {
        "Effect": "Allow",
        "Action": actions.split(),
        "Resource": [f"arn:aws:s3:::{name}" for name in resources],
        **more,
    }


def deny(actions: str, *resources: str, **more: Any) -> dict[str, Any]:
    """The same for a statement that denies."""
    return {**allow(actions, *resources, **more), "Effect": "Deny"}
