# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a RustFS server says about itself, in the form of the module rustfs_info."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._answers import retried
from ansible_collections.modelshelf.fleet.plugins.module_utils._clock import Greeting, greet, judge
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_empty import EmptyStore


def describe_server(client: Client) -> dict[str, Any]:
    """Version, identity, drives and clock of a server. Raises StoreError, of it ClockSkew from 14 minutes on.

    The clock is looked at first, by a request without a signature: a wrong one spoils all others.
    """
    admin = client.admin
    if isinstance(client, EmptyStore):
        return server_facts({}, Greeting(0, "", None, 0))
    greeting = retried(
        lambda: greet(admin.endpoint, ca_file=admin.ca_file, validate_certs=admin.validate_certs), admin.deadline
    )
    warning = judge(greeting, admin.endpoint)
    facts = server_facts(client.get("info", doing="ask the server about itself"), greeting)
    return {**facts, "warnings": [warning]} if warning else facts


def server_facts(answer: Any, greeting: Greeting) -> dict[str, Any]:
    """The facts in the answer of ADM/info (crates/madmin info_commands, InfoMessage). What is missing is empty.

    rc.3 wraps the message in `info`; other versions do not.
    """
    message = _part(answer, "info") or _part({"it": answer}, "it")
    servers = [_server(item) for item in message.get("servers") or ()]
    drives = [drive for server in servers for drive in server["drives"]]
    versions = [server["version"] for server in servers if server["version"]]
    return {
        "version": versions[0] if versions else greeting.version,
        "mode": message.get("mode") or "",
        "deployment_id": message.get("deploymentID") or "",
        "region": message.get("region") or "",
        "backend": _backend(_part(message, "backend")),
        "servers": servers,
        "space": {name: sum(drive[name] for drive in drives) for name in ("total", "used", "available")},
        "buckets": int(_part(message, "buckets").get("count") or 0),
        "objects": int(_part(message, "objects").get("count") or 0),
        "object_bytes": int(_part(message, "usage").get("size") or 0),
        "clock_difference_seconds": greeting.difference,
    }


def _server(item: Mapping[str, Any]) -> dict[str, Any]:
    drives: Sequence[Mapping[str, Any]] = item.get("drives") or item.get("disks") or ()
    return {
        "endpoint": str(item.get("endpoint") or ""),
        "state": str(item.get("state") or ""),
        "version": str(item.get("version") or ""),
        "uptime": int(item.get("uptime") or 0),
        "drives": [
            {
                "path": str(drive.get("path") or ""),
                "state": str(drive.get("state") or ""),
                "total": int(drive.get("totalspace") or 0),
                "used": int(drive.get("usedspace") or 0),
                "available": int(drive.get("availspace") or 0),
            }
            for drive in drives
        ],
    }


def _backend(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": str(item.get("backendType") or ""),
        "drives_online": int(item.get("onlineDisks") or 0),
        "drives_offline": int(item.get("offlineDisks") or 0),
        "parity": int(item.get("standardSCParity") or 0),
    }


def _part(answer: Any, name: str) -> Mapping[str, Any]:
    found = answer.get(name) if isinstance(answer, Mapping) else None
    return found if isinstance(found, Mapping) else {}
