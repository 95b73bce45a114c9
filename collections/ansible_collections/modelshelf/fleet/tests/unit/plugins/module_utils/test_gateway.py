# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._gateway import (
    current_servers,
    forgotten_drains,
    gateway_notices,
    gateway_pools,
    gateway_servers,
)

MODELS = [{"name": "Org/Opt", "version": "v1"}, {"name": "two", "version": "v1"}]
ENDPOINTS = [{"model": "Org/Opt", "port": 8080}, {"model": "two", "port": "8081"}]


def host(name: str, *instances: dict[str, Any], **variables: Any) -> dict[str, Any]:
    given = {"inventory_hostname": name, "modelshelf_models": MODELS, **variables}
    return {**given, "modelshelf_instances": list(instances)} if instances else given


def instance(name: str, model: str = "Org/Opt", port: int = 8000, **more: Any) -> dict[str, Any]:
    return {"name": name, "model": model, "port": port, **more}


def pools(*hosts: dict[str, Any], endpoints: Any = None, **more: Any) -> list[dict[str, Any]]:
    return gateway_pools(gateway_servers(hosts), ENDPOINTS if endpoints is None else endpoints, MODELS, **more)


def test_servers_are_those_of_the_inventory_where_the_role_has_them_listen() -> None:
    servers = gateway_servers(
        [
            host("gw1"),
            host("gpu1", instance("main")),
            host("gpu2", instance("main"), ansible_host="10.0.0.2"),
            host("gpu3", instance("a"), instance("b", "two", 8001), ansible_host="10.0.0.3", vllm_address="10.1.0.3"),
            host("gpu4", instance("main"), ansible_host="10.0.0.4", vllm_address="0.0.0.0"),
            host("gpu5", instance("main"), vllm_address="::"),
        ]
    )
    assert [(server["name"], server["pool"], server["address"], server["port"]) for server in servers] == [
        ("gpu1:main", "org-opt", "gpu1", 8000),
        ("gpu2:main", "org-opt", "10.0.0.2", 8000),
        ("gpu3:a", "org-opt", "10.1.0.3", 8000),
        ("gpu3:b", "two", "10.1.0.3", 8001),
        ("gpu4:main", "org-opt", "10.0.0.4", 8000),
        ("gpu5:main", "org-opt", "gpu5", 8000),
    ]


def test_every_endpoint_has_a_pool_and_its_servers() -> None:
    both = host("gpu2", instance("main"), instance("b", "two", 8001))
    first, second = pools(host("gpu1", instance("main")), both)
    assert (first["model"], first["name"], first["port"]) == ("Org/Opt", "org-opt", 8080)
    assert [(server["name"], server["weight"]) for server in first["servers"]] == [("gpu1:main", 1), ("gpu2:main", 1)]
    assert (second["port"], [server["name"] for server in second["servers"]]) == (8081, ["gpu2:b"])


def test_endpoint_without_a_server_is_refused() -> None:
    message = "'two' has the port 8081, and no host an instance that serves it"
    with pytest.raises(ValueError, match=message):
        pools(host("gpu1", instance("main")))


def test_drains_of_the_current_configuration_are_kept_in_their_own_pool_alone() -> None:
    current = """
backend org-opt
    server gpu1:main 10.0.0.1:8000 weight 0
    server gpu2:main 10.0.0.2:8000 weight 10
backend other
    server gpu2:main 10.0.0.2:8000 weight 0
"""
    drained = {server for server, found in current_servers(current).items() if found["weight"] == 0}
    assert drained == {("org-opt", "gpu1:main"), ("other", "gpu2:main")}
    servers = [host(name, instance("main")) for name in ("gpu1", "gpu2")]
    pool = pools(*servers, endpoints=ENDPOINTS[:1], current=current)[0]
    assert [server["weight"] for server in pool["servers"]] == [0, 1]


def test_servers_that_the_gateway_has_keep_their_places_in_their_own_pool_alone() -> None:
    current = """
defaults
    default-server check inter 1s fall 3 rise 2
backend org-opt
    server gpu1:main 10.0.0.1:7000 weight 1
    server gpu2:main fd00::2:7000 weight 0
backend other
    server gpu3:main 10.0.0.3:7000 weight 1
"""
    servers = [host(name, instance("main"), ansible_host=f"10.1.0.{name[-1]}") for name in ("gpu1", "gpu2", "gpu3")]
    pool = pools(*servers, endpoints=ENDPOINTS[:1], current=current)[0]
    found = [(server["address"], server["port"], server["weight"]) for server in pool["servers"]]
    assert found == [("10.0.0.1", 7000, 1), ("fd00::2", 7000, 0), ("10.1.0.3", 8000, 1)]


STATE = """1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight
3 org-opt 1 gpu1:main 10.0.0.1 2 0 0 1 14 15 3 4 6 0 0 0 - 8000 - 0 0 - - 0
3 org-opt 2 gpu2:main 10.0.0.2 2 0 1 1 14 15 3 4 6 0 0 0 - 8000 - 0 0 - - 0
4 other 1 gpu2:main 10.0.0.2 2 0 0 1 14 15 3 4 6 0 0 0 - 8000 - 0 0 - - 0
"""


@pytest.mark.parametrize(("address", "port", "place"), [
    ("10.0.0.2", 8000, ""),
    ("gpu2", 8000, ""),
    ("10.0.0.9", 8000, "10.0.0.9 port 8000"),
    ("10.0.0.2", 8005, "10.0.0.2 port 8005"),
])  # fmt: skip
def test_what_a_gateway_has_other_than_the_inventory_is_named(address: str, port: int, place: str) -> None:
    hosts = [host("gpu1", instance("main")), host("gpu2", instance("main", port=port), vllm_address=address)]
    strange = [f"gpu2:main is asked for at 10.0.0.2 port 8000; the inventory has {place}"] if place else []
    notices = gateway_notices(gateway_servers(hosts), f"Name: HAProxy\nRelease_date: {'word ' * 20}\n{STATE}")
    assert notices == ["gpu1:main is drained for org-opt", *strange]


def test_server_whose_name_did_not_resolve_is_named() -> None:
    state = STATE.replace("gpu2:main 10.0.0.2 2 0 1", "gpu2:main - 0 32 1")
    (notice,) = gateway_notices(gateway_servers([host("gpu2", instance("main"))]), state)
    assert notice.startswith("gpu2:main gets nothing: gpu2 did not resolve when HAProxy read it. When it does, ")


def test_drains_that_only_the_process_has_are_named_in_their_own_pool_alone() -> None:
    state = STATE
    found = pools(host("gpu1", instance("main")), host("gpu2", instance("main")), endpoints=ENDPOINTS[:1])
    assert forgotten_drains(found, state) == ["gpu1:main"]
    found[0]["servers"][0]["weight"] = 0
    assert forgotten_drains(found, state) == []
    assert forgotten_drains(found, "") == []


@pytest.mark.parametrize("way", ["tasks", "none"])
def test_servers_whose_moves_the_gateway_is_not_told_of_are_where_the_inventory_says(way: str) -> None:
    current = "backend org-opt\n    server gpu1:main 10.0.0.1:7000 weight 0\n"
    one = host("gpu1", instance("main"), rollout_drain=way)
    (server,) = pools(one, endpoints=ENDPOINTS[:1], current=current)[0]["servers"]
    assert (server["address"], server["port"], server["weight"], server["told"]) == ("gpu1", 8000, 0, False)


@pytest.mark.parametrize(
    ("endpoints", "message"),
    [
        ([{"model": "opt", "port": 1}], "'opt' is not in modelshelf_models, which has: Org/Opt, two"),
        ([{"model": "two"}], "port is missing"),
        ([{"model": "two", "port": 70000}], "the port 70000 is not a number from 1 to 65535"),
        ([{"model": "two", "port": 8405}], "the port 8405 is taken by the metrics"),
        ([*ENDPOINTS[:1], {"model": "two", "port": 8080}], "the port 8080 is taken by Org/Opt"),
        ([*ENDPOINTS, {"model": "two", "port": 8082}], "'two' is there twice"),
        (ENDPOINTS[1:], "gpu1:main serves org-opt, which has no port in gateway_endpoints"),
    ],
)
def test_mistakes_are_named(endpoints: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pools(host("gpu1", instance("main")), endpoints=endpoints, metrics_port=8405)


def test_servers_of_one_model_with_other_names_are_refused() -> None:
    with pytest.raises(ValueError, match="gpu1:main and gpu2:main serve one model under other names"):
        pools(host("gpu1", instance("main")), host("gpu2", instance("main", served_names="opt")))
