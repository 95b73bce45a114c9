# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The quota of a bucket: a limit in bytes that the server keeps (RustFS handler admin/handlers/quota.rs)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Unsupported
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client

WARM_UP_SECONDS = 120
"""For how long quota calls are tried: a server answers 503 to most of them for about a minute after its start."""


@dataclass(frozen=True)
class Quota:
    """`limit` and `used` are in bytes. A limit of 0 is none."""

    limit: int
    used: int

    @property
    def left(self) -> int:
        """How many bytes fit below the limit."""
        return max(0, self.limit - self.used)


def patient(client: Client, seconds: float = WARM_UP_SECONDS) -> Client:
    """The same server and the same count of calls, but each call is tried for at least so many seconds."""
    return _trying_for(client, max(seconds, client.admin.deadline))


def impatient(client: Client) -> Client:
    """The same server and the same count of calls, but what it cannot answer now is not asked again."""
    return _trying_for(client, 0)


def read_limit(client: Client, bucket: str) -> int:
    """The limit in bytes, 0 for none.

    Asks the call that answers from the bucket's settings alone: it is right in the first minute as well. Servers
    before 1.0.0-alpha.87 have only the other one.
    """
    doing = f"read the quota of the bucket {bucket!r}"
    try:
        answer = client.get("get-bucket-quota", {"bucket": bucket}, doing=doing)
    except Unsupported:
        answer = client.get(f"quota/{bucket}", doing=doing)
    return _number(answer, "quota")


def read_quota(client: Client, bucket: str) -> Quota:
    """The limit and what is used. Unavailable in the first minute after the start of a server."""
    answer = client.get(f"quota/{bucket}", doing=f"read the quota and use of the bucket {bucket!r}")
    return Quota(_number(answer, "quota"), _number(answer, "size"))


def write_limit(client: Client, bucket: str, limit: int) -> None:
    """Sets the limit in bytes; 0 takes it away."""
    path = f"quota/{bucket}"
    if limit:
        body = {"quota": limit, "quota_type": "HARD"}
        client.put(path, body=body, doing=f"set the quota of the bucket {bucket!r} to {limit} bytes")
    else:
        client.delete(path, doing=f"take the quota of the bucket {bucket!r} away")


def _trying_for(client: Client, seconds: float) -> Client:
    other = copy.copy(client)
    other.admin = replace(client.admin, deadline=seconds)
    return other


def _number(answer: Any, name: str) -> int:
    value = answer.get(name) if isinstance(answer, Mapping) else None
    return int(value) if value else 0
