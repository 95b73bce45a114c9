# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers a gateway sends requests to, from the inventory alone: facts and limits of a run change nothing in it.

Raises ValueError whose message names the offending entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._instances import resolve_instances
from ansible_collections.modelshelf.fleet.plugins.module_utils._models import check_keys, entries, resolve_models

_ANY = ("0.0.0.0", "::")
"""Addresses to listen on that no request can be sent to."""


def gateway_servers(hosts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every instance of the hosts as a server of a gateway; `hosts` are their variables.

    A server is known as `<host>:<instance>`. Its address is the one that the role vllm has the instance listen on, or
    where Ansible finds the host when that is every address.
    `told`: the gateway is told of its moves, and where it serves after them.
    """
    servers = []
    for host in hosts:
        name = str(host["inventory_hostname"])
        address = str(host.get("vllm_address") or "")
        if address in ("", *_ANY):
            address = str(host.get("ansible_host") or name)
        for instance in resolve_instances(
            host.get("modelshelf_instances"), host.get("modelshelf_models"), address=address
        ):
            servers.append(
                {
                    "name": f"{name}:{instance['name']}",
                    "pool": instance["model"],
                    "address": instance["address"],
                    "port": instance["port"],
                    "served_names": instance["served_names"],
                    "told": str(host.get("rollout_drain", "gateway")) == "gateway",
                }
            )
    return servers


def gateway_pools(
    servers: Iterable[Mapping[str, Any]], endpoints: Any, models: Any, metrics_port: int = 0, current: str = ""
) -> list[dict[str, Any]]:
    """One pool of servers for each endpoint, in the order of the endpoints.

    `endpoints` has `model` and `port` of each; `metrics_port` is taken. `current` is the text of the configuration
    that the gateway has: what is drained there has the weight 0 in the result, and all else the weight 1. A server that
    it has in the same pool keeps its address and port, which a move changes and not the inventory; but for those whose
    moves the gateway is not told of.
    """
    known = {model["name"]: model["slug"] for model in resolve_models(models)}
    pools: dict[str, dict[str, Any]] = {}
    ports = {int(metrics_port): "the metrics"}
    for entry in entries("gateway_endpoints", endpoints):
        where = f"gateway_endpoints: {entry.get('model', entry)!r}"
        check_keys(where, entry, ("model", "port"), required=("model", "port"))
        model, port = str(entry["model"]), int(entry["port"])
        if model not in known:
            raise ValueError(f"{where} is not in modelshelf_models, which has: {', '.join(known) or 'none'}")
        if not 1 <= port <= 65535:
            raise ValueError(f"{where}: the port {port} is not a number from 1 to 65535")
        if port in ports:
            raise ValueError(f"{where}: the port {port} is taken by {ports[port]}")
        if known[model] in pools:
            raise ValueError(f"{where} is there twice")
        ports[port] = model
        pools[known[model]] = {"model": model, "name": known[model], "port": port, "servers": []}
    there = current_servers(current)
    for server in servers:
        if server["pool"] not in pools:
            raise ValueError(f"{server['name']} serves {server['pool']}, which has no port in gateway_endpoints")
        pool = pools[server["pool"]]["servers"]
        if pool and pool[0]["served_names"] != server["served_names"]:
            raise ValueError(
                f"{pool[0]['name']} and {server['name']} serve one model under other names, {pool[0]['served_names']}"
                f" and {server['served_names']}: some requests would find none of them. Give both the same served_names"
            )
        found = there.get((server["pool"], server["name"]), {})
        kept = found if server["told"] else {}
        place = {name: kept.get(name, server[name]) for name in ("address", "port")}
        pool.append({**server, **place, "weight": found.get("weight", 1)})
    for idle in pools.values():
        if not idle["servers"]:
            raise ValueError(
                f"gateway_endpoints: {idle['model']!r} has the port {idle['port']}, and no host an instance that serves"
                " it: every request would fail. Give a host one, or take the endpoint out"
            )
    return list(pools.values())


def current_servers(text: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Address, port and weight, 0 or 1, of every server in a configuration of HAProxy, by its pool and name."""
    found, pool = {}, ""
    for words in map(str.split, text.splitlines()):
        if words[:1] == ["backend"]:
            pool = words[1]
        elif words[:1] == ["server"] and words[3:4] == ["weight"]:
            address, _colon, port = words[2].rpartition(":")
            weight = 0 if words[4:] == ["0"] else 1
            found[pool, words[1]] = {"address": address, "port": int(port), "weight": weight}
    return found


def forgotten_drains(pools: Iterable[Mapping[str, Any]], state: str) -> list[str]:
    """The servers that have requests in `pools`, and none in a process that answers `show servers state` with `state`.

    Its columns are those of HAProxy's first format: pool 1, server 3, address 4, weight 7, port 18, counted from 0.
    """
    drained = {(row[1], row[3]) for row in _rows(state) if row[7] == "0"}
    servers = [server for pool in pools for server in pool["servers"] if server["weight"]]
    return [server["name"] for server in servers if (server["pool"], server["name"]) in drained]


def gateway_notices(servers: Iterable[Mapping[str, Any]], state: str) -> list[str]:
    """What of a process that answers `show servers state` with `state` is not as `servers` of the inventory are.

    A drain, and a place that is another one, are right while a move is under way or a rollback holds the instance. They
    are left over where a gateway was out of the inventory while instances moved.
    """
    wanted = {(server["pool"], server["name"]): server for server in servers}
    notices = []
    for row in _rows(state):
        server = wanted.get((row[1], row[3]))
        if server and row[7] == "0":
            notices.append(f"{row[3]} is drained for {row[1]}")
        if server and row[4] == "-":
            notices.append(
                f"{row[3]} gets nothing: {server['address']} did not resolve when HAProxy read it. When it does,"
                ' "systemctl reload haproxy" on the gateway takes it up'
            )
        elif server and (row[18] != str(server["port"]) or _other(row[4], server["address"])):
            notices.append(
                f"{row[3]} is asked for at {row[4]} port {row[18]}; the inventory has {server['address']}"
                f" port {server['port']}"
            )
    return notices


def _rows(state: str) -> list[list[str]]:
    return [words for words in map(str.split, state.splitlines()) if len(words) > 18 and words[0].isdigit()]


def _other(there: str, wanted: str) -> bool:
    """Whether an address is another one; of a name that cannot be said."""
    try:
        return ip_address(there) != ip_address(wanted)
    except ValueError:
        return False
