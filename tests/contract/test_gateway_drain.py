# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draining and undraining through the role gateway, on a real HAProxy."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.support.gateway import Gateway, until

DRAINED = "gpu1:main"
AWAY: dict[str, Any] = {"__gateway_ask": ["socat", "stdio", "unix-connect:/nonexistent"]}


@pytest.fixture(autouse=True)
def all_up(gateway: Gateway) -> None:
    until(lambda: all(gateway.state(name) == "UP" for name in gateway.instances), seconds=30)


def move(gateway: Gateway, file: str, *arguments: str, changed: bool = True, **variables: object) -> str:
    """Drains or undrains the instance main of gpu1, in a play on that host."""
    done = gateway.play(file, "--limit", "gpu1", *arguments, on="gpu1", gateway_instance="main", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("changed=0" not in done.stdout) == changed, done.stdout
    return done.stdout


def test_drain_keeps_what_runs_and_holds_until_it_is_taken_back(gateway: Gateway) -> None:
    streams = [gateway.stream() for _number in range(3)]
    names = [stream.readline().decode().split()[1] for stream in streams]
    assert set(names) == {"gpu1:main", "gpu2:main", "gpu3:main"}

    move(gateway, "drain", "--check")
    assert gateway.weight(DRAINED) == "1"
    move(gateway, "drain")
    move(gateway, "drain", changed=False)
    assert gateway.weight(DRAINED) == "0"
    assert DRAINED not in gateway.answers(12)

    gateway.reload()
    assert DRAINED not in gateway.answers(12), "a reload has forgotten the drain"
    for name in set(names):
        gateway.servers[name].released.set()
    assert [stream.read() for stream in streams] == [b"\ndata: [DONE]\n\n"] * 3

    gateway.kill()
    gateway.run()
    assert DRAINED not in gateway.answers(12), "a restart has forgotten the drain"
    move(gateway, "undrain", "--check")
    assert gateway.weight(DRAINED) == "0"
    done = gateway.play("configure verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "changed=0" in done.stdout, "the role has taken back the drain"

    move(gateway, "undrain")
    assert DRAINED in gateway.answers(12)


def test_wait_for_the_requests_of_a_drained_instance_lasts_as_long_as_they_do(gateway: Gateway) -> None:
    for server in gateway.servers.values():
        server.released.clear()
    streams = [gateway.stream() for _number in range(3)]
    assert all(stream.readline() for stream in streams)
    move(gateway, "drain")
    begun = time.time()
    move(gateway, "idle", changed=False, gateway_deadline=begun + 10)
    assert time.time() >= begun + 10, "it did not wait for the stream"
    ended = threading.Timer(5, gateway.servers[DRAINED].released.set)
    ended.start()
    move(gateway, "idle", changed=False, gateway_deadline=time.time() + 60)
    assert not ended.is_alive(), "it did not wait for the stream"
    assert time.time() < begun + 60, "it waited for the streams of other servers"
    for server in gateway.servers.values():
        server.released.set()
    assert [stream.read() for stream in streams] == [b"\ndata: [DONE]\n\n"] * 3
    move(gateway, "undrain")


def test_gateway_that_is_gone_keeps_nobody_waiting(gateway: Gateway) -> None:
    begun = time.monotonic()
    done = gateway.play("idle", lost=True, on="gpu1", gateway_instance="main", gateway_deadline=time.time() + 600)
    assert done.returncode == 0, done.stdout
    assert gateway.play("up", lost=True, on="gpu1", gateway_instance="main").returncode == 0
    assert time.monotonic() - begun < 60


def test_gateway_that_takes_no_orders_is_found_before_anything_is_stopped(gateway: Gateway) -> None:
    done = gateway.play("answers", on="gpu1")
    assert done.returncode == 0, done.stdout
    lost, silent = gateway.play("answers", lost=True, on="gpu1"), gateway.play("answers", on="gpu1", **AWAY)
    for run, name in ((lost, "gw0"), (silent, "gw1")):
        said = " ".join(run.stdout.split())
        assert run.returncode != 0
        assert f"{name}: no instance can be drained there, and nothing was stopped (" in said, run.stdout
        assert "(). Mend" not in said


def test_instance_that_a_gateway_does_not_reach_is_refused_until_it_is_drained(gateway: Gateway) -> None:
    server = gateway.servers[DRAINED]
    server.healthy.clear()
    until(lambda: gateway.state(DRAINED) == "DOWN", seconds=30)
    done = gateway.play("up", on="gpu1", gateway_instance="main", **{"__gateway_patience": 2})
    assert done.returncode != 0
    text = f"main on gpu1 runs, and gw1 does not find it up at 127.0.0.1 port {server.port}: it loads, hangs, or"
    assert text in " ".join(done.stdout.split())
    move(gateway, "drain")
    move(gateway, "up", changed=False)
    server.healthy.set()
    move(gateway, "undrain")


def test_what_is_drained_is_said_when_the_gateway_is_set_up(gateway: Gateway) -> None:
    move(gateway, "drain")
    said = " ".join(gateway.play("configure verify").stdout.split())
    assert "NOTE: gpu1:main is drained for opt. That is right while" in said
    move(gateway, "undrain")
    assert "NOTE:" not in gateway.play("configure verify").stdout


def test_haproxy_that_is_there_for_something_else_is_no_gateway_yet(gateway: Gateway) -> None:
    """Its package has a configuration of its own, and socat need not be installed."""
    assert move(
        gateway, "drain", changed=False, __gateway_key_file="/nonexistent", __gateway_ask=["/nonexistent/socat"]
    )


def test_instance_that_no_gateway_has_needs_no_drain(gateway: Gateway) -> None:
    before = gateway.config.read_text(encoding="utf-8")
    assert gateway.play("drain", on="gpu1", gateway_instance="unknown").returncode == 0
    assert gateway.config.read_text(encoding="utf-8") == before


def test_drained_server_with_a_new_port_comes_back_on_it(gateway: Gateway) -> None:
    move(gateway, "drain")
    server = gateway.servers[DRAINED]
    server.stop()
    server.port += 1
    server.start()
    move(gateway, "undrain")
    until(lambda: gateway.state(DRAINED) == "UP")
    assert DRAINED in gateway.answers(12)
    gateway.reload()
    assert DRAINED in gateway.answers(12)


def test_server_that_is_known_by_a_name_comes_back_on_its_address(gateway: Gateway) -> None:
    """The running process takes no names."""
    move(gateway, "drain")
    server = gateway.servers[DRAINED]
    server.stop()
    server.port += 1
    server.start()
    move(gateway, "undrain", gateway_server_address="localhost")
    until(lambda: gateway.state(DRAINED) == "UP")
    assert DRAINED in gateway.answers(12)
    assert f"{DRAINED} localhost:{server.port} weight 1" in gateway.config.read_text(encoding="utf-8")
    move(gateway, "undrain")


def test_gateway_that_does_not_do_as_it_is_told_fails_the_undrain(gateway: Gateway) -> None:
    move(gateway, "drain")
    done = gateway.play("undrain", on="gpu1", gateway_instance="main", gateway_server_address="127.0.0.256")
    assert done.returncode != 0
    assert "main was not undrained in gw1: Invalid addr" in " ".join(done.stdout.split()), done.stdout
    assert "127.0.0.256" not in gateway.config.read_text(encoding="utf-8")
    move(gateway, "undrain")


def test_port_that_only_the_inventory_has_yet_leaves_the_pool_as_it_is(gateway: Gateway) -> None:
    server = gateway.servers[DRAINED]
    server.port += 1
    done = gateway.play("configure verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "changed=0" in done.stdout, done.stdout
    gateway.reload()
    assert DRAINED in gateway.answers(12)
    move(gateway, "drain")
    server.stop()
    server.start()
    move(gateway, "undrain")
    until(lambda: gateway.state(DRAINED) == "UP")
    assert DRAINED in gateway.answers(12)
    done = gateway.play("configure verify")
    assert "changed=0" in done.stdout, "a move is no reason for a reload"


def test_drain_that_another_run_made_as_the_file_was_written_is_kept(gateway: Gateway) -> None:
    gateway.ask(f"set server opt/{DRAINED} weight 0")
    done = gateway.play("keep")
    assert (done.returncode, "changed=1" in done.stdout) == (0, True), done.stdout
    assert "changed=0" in gateway.play("configure keep").stdout
    gateway.reload()
    assert DRAINED not in gateway.answers(12), "a reload has forgotten the drain"
    move(gateway, "undrain")
    move(gateway, "up", changed=False)


def test_instance_that_went_back_comes_back_where_it_serves(gateway: Gateway) -> None:
    """Its move to another model and another port has failed."""
    move(gateway, "drain")
    serves = gateway.servers[DRAINED].port
    gateway.instances[DRAINED] = "Org/Two"
    gateway.servers[DRAINED].port = serves + 1
    move(gateway, "undrain", gateway_pool="opt", gateway_port=serves)
    gateway.servers[DRAINED].port = serves
    gateway.instances[DRAINED] = "opt"
    assert DRAINED in gateway.answers(12)


def test_gateway_that_does_not_answer_keeps_no_other_from_being_told(gateway: Gateway) -> None:
    for file, verb in (("drain", "drained"), ("undrain", "undrained")):
        done = gateway.play(file, lost=True, on="gpu1", gateway_instance="main")
        assert done.returncode != 0
        assert f"main was not {verb} in gw0: " in " ".join(done.stdout.split())
        assert "unreachable=0" in done.stdout, "an unreachable host gets neither rescue nor always"
        assert (DRAINED in gateway.answers(12)) == (file == "undrain")


def test_instance_with_a_new_model_does_not_come_back_in_the_old_pool(gateway: Gateway) -> None:
    move(gateway, "drain")
    gateway.instances[DRAINED] = "Org/Two"
    move(gateway, "undrain", changed=False)
    assert gateway.play("configure").returncode == 0
    gateway.reload()
    answers = [gateway.request("/v1/models", model="Org/Two")[1].split()[0] for _number in range(8)]
    assert set(answers) == {DRAINED, "gpu3:other"}
    assert DRAINED not in gateway.answers(12)


def test_gateway_that_does_not_run_fails_the_drain(gateway: Gateway) -> None:
    gateway.kill()
    done = gateway.play("drain", on="gpu1", gateway_instance="main")
    assert done.returncode != 0
    assert "weight 0" not in gateway.config.read_text(encoding="utf-8").split("backend", 1)[1]
