# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two gateways follow what the hosts do, and not what the inventory says before they have done it; under load.

The tests depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fleet import ADDRESSES, Run, host, until
from tests.support.load import Load
from tests.support.serving import MOUNTPOINT, SERVER, answers, pids, root
from tests.support.swap import (
    HOSTS,
    INSTANCE,
    MAIN,
    gets_requests,
    history,
    is_drained,
    is_up,
    known,
    serve,
    served,
    step,
)

GATEWAYS = ["gw1", "store1"]
TWO = ["--tags=swap", "--limit=gpu2"]
OUT = {name: True for name in GATEWAYS}
IN = {name: False for name in GATEWAYS}


def run(version: str, *arguments: str, port: int = 8000, **more: Any) -> Run:
    """A run in which the host of the store is a gateway as well, and the instance of gpu4 has a port."""
    moved = {"instances": {"gpu4": [{**MAIN, "port": port}]}} if port != 8000 else {}
    return serve(version, *arguments, gateways=["store1"], **moved, **more)


def must(done: Run) -> None:
    assert done.status == 0, done.output[-3000:]


def said(done: Run) -> str:
    return " ".join(done.output.split())


def drained(name: str) -> dict[str, bool]:
    return {gateway: is_drained(name, gateway) for gateway in GATEWAYS}


def places(server: str) -> set[str]:
    return {known(server, gateway) for gateway in GATEWAYS}


@pytest.fixture(scope="module", autouse=True)
def second_gateway(fleet: None) -> Iterator[None]:
    must(run("v1", "--tags=gateway"))
    must(run("v2", "--tags=publish"))
    yield
    host("store1").check_output(
        "systemctl disable --now haproxy && rm /etc/haproxy/haproxy.cfg /etc/haproxy/modelshelf-key"
    )


def test_no_more_is_moved_while_a_gateway_does_not_reach_what_stays() -> None:
    """Without load: what cannot be reached loses its requests."""
    must(run("v2", "--tags=swap", "--limit=gpu1"))
    route = f"blackhole {ADDRESSES['gpu1']}/32"
    host("gw1").check_output(f"ip route add {route}")
    try:
        until(lambda: not is_up("gpu1"), 30, "the gateway takes gpu1 out")
        before = pids(*HOSTS)
        done = run("v2", "--tags=swap")
        assert done.status != 0
        text = f"main on gpu1 runs, and gw1 does not find it up at {ADDRESSES['gpu1']} port 8000"
        assert text in said(done), done.output[-3000:]
        assert pids(*HOSTS) == before
    finally:
        host("gw1").check_output(f"ip route del {route}")
    until(lambda: is_up("gpu1"), 30, "the gateway finds gpu1 again")
    must(run("v1", "--tags=swap"))
    assert served() == dict.fromkeys(HOSTS, "v1")


@pytest.mark.parametrize("tag", ["swap", "rollback"])
def test_nothing_is_stopped_while_a_gateway_takes_no_orders(tag: str) -> None:
    before = pids(*HOSTS), [history(name) for name in HOSTS]
    host("store1").check_output("systemctl stop haproxy")
    try:
        done = run("v2", f"--tags={tag}")
    finally:
        host("store1").check_output("systemctl start haproxy")
    assert done.status != 0
    assert "store1: no instance can be drained there, and nothing was stopped" in said(done), done.output[-3000:]
    assert (pids(*HOSTS), [history(name) for name in HOSTS]) == before
    assert not any(is_drained(name) for name in HOSTS)


def test_port_that_only_the_inventory_has_leaves_pools_and_processes_alone(load: Load) -> None:
    before = [host(gateway).check_output("systemctl show --property=MainPID haproxy") for gateway in GATEWAYS]
    done = run("v1", "--tags=gateway", port=8010)
    must(done)
    assert done.changed() == {}
    assert places("gpu4:main") == {f"{ADDRESSES['gpu4']}:8000 weight 1"}
    assert [host(gateway).check_output("systemctl show --property=MainPID haproxy") for gateway in GATEWAYS] == before
    assert gets_requests(load, "gpu4")
    assert load.failures == []


def test_run_that_is_limited_to_other_hosts_leaves_it_where_it_is(load: Load) -> None:
    must(run("v1", "--tags=serve", "--limit=gpu1", port=8010))
    must(run("v1", "--tags=gateway", port=8010))
    assert places("gpu4:main") == {f"{ADDRESSES['gpu4']}:8000 weight 1"}
    assert gets_requests(load, "gpu4")
    assert load.failures == []


def test_swap_takes_every_gateway_to_the_new_port(load: Load) -> None:
    others = pids(*HOSTS[:3])
    must(run("v1", "--tags=swap", port=8010))
    assert root("gpu4", 8010) == f"{MOUNTPOINT}/v1"
    assert places("gpu4:main") == {f"{ADDRESSES['gpu4']}:8010 weight 1"}
    assert all(is_up("gpu4", gateway) for gateway in GATEWAYS)
    assert gets_requests(load, "gpu4")
    must(run("v1", "--tags=gateway"))
    assert places("gpu4:main") == {f"{ADDRESSES['gpu4']}:8010 weight 1"}
    must(run("v1", "--tags=swap"))
    assert places("gpu4:main") == {f"{ADDRESSES['gpu4']}:8000 weight 1"}
    assert pids(*HOSTS[:3]) == others
    assert load.failures == []


def test_drain_and_undrain_by_hand_hold_on_every_gateway(load: Load) -> None:
    must(run("v1", "--tags=drain", "--limit=gpu3"))
    assert drained("gpu3") == OUT
    must(run("v1", "--tags=gateway"))
    for gateway in GATEWAYS:
        host(gateway).check_output("systemctl reload haproxy")
    assert drained("gpu3") == OUT
    must(run("v1", "--tags=undrain", "--limit=gpu3"))
    assert drained("gpu3") == IN
    assert gets_requests(load, "gpu3")
    assert load.failures == []


def fail_both_ways() -> str:
    """A move of gpu2 fails, and the generation before has lost its engine. Returns that generation's directory."""
    before = str(host("gpu2").check_output(f"readlink -f {INSTANCE}/current"))
    host("gpu2").check_output(f"mv {before}/engine {before}/engine-away")
    done = run("v2", *TWO, faults={"gpu2": {"DOUBLE_CRASH": "memory"}})
    assert done.status != 0
    assert (history("gpu2")["result"], step("gpu2")) == ("failed", "")
    assert "so nothing does. It gets no requests: mend it" in said(done)
    assert drained("gpu2") == OUT
    return before


def mend(before: str) -> None:
    """By hand: the server of gpu2 runs again, and stays drained."""
    host("gpu2").check_output(
        f"mv {before}/engine-away {before}/engine && cp {before}/unit.service /etc/systemd/system/{SERVER}"
        f" && systemctl daemon-reload && systemctl reset-failed && systemctl restart {SERVER}"
    )
    until(lambda: answers("gpu2"), 60, "gpu2 serves again")
    assert drained("gpu2") == OUT


def test_move_that_ends_with_nothing_that_serves_stays_drained_until_it_is_undrained(load: Load) -> None:
    before = fail_both_ways()
    must(run("v1", "--tags=gateway"))
    assert drained("gpu2") == OUT
    mend(before)
    must(run("v1", "--tags=undrain", "--limit=gpu2"))
    assert drained("gpu2") == IN
    assert gets_requests(load, "gpu2")
    assert load.failures == []


def test_next_run_gives_an_instance_its_requests_that_was_mended_by_hand(load: Load) -> None:
    mend(fail_both_ways())
    must(run("v1", *TWO))
    assert (history("gpu2")["result"], drained("gpu2")) == ("served", IN)
    assert gets_requests(load, "gpu2")
    before = pids(*HOSTS)
    must(run("v1", *TWO))
    assert pids(*HOSTS) == before
    assert load.failures == []


def test_next_move_that_serves_undrains_it(load: Load) -> None:
    fail_both_ways()
    must(run("v2", *TWO))
    assert drained("gpu2") == IN
    assert gets_requests(load, "gpu2")
    assert load.failures == []
