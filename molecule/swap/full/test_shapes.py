# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instances that get another port, come, go, or have another name, under load: what is beside them stays as it is.

The tests depend on their order.
"""

from __future__ import annotations

from typing import Any

import pytest

from lab.settings import CACHE
from tests.support.faults import old_server
from tests.support.fleet import ADDRESSES, Run, host
from tests.support.load import Load
from tests.support.serving import MODEL, MOUNTPOINT, complete, pid, pids, root
from tests.support.swap import HOSTS, MAIN, gets_requests, history, known, serve

OTHER = "tiny-llama-sharded"
SECOND = {"name": "second", "model": OTHER, "port": 8001}
RENAMED = {**SECOND, "name": "renamed"}
UNIT = "modelshelf-vllm@second.service"
END = f"""systemctl disable --now modelshelf-vllm@second modelshelf-vllm@renamed
rm -r /var/lib/modelshelf/instances/second /etc/systemd/system/modelshelf-vllm@second.service
rm -r /var/lib/modelshelf/instances/renamed /etc/systemd/system/modelshelf-vllm@renamed.service
systemctl daemon-reload
systemctl disable --now modelshelf-weights-{OTHER}"""
"""What docs/runbook.md says of instances that are no longer in the inventory."""


def said(run: Run) -> str:
    return " ".join(run.output.split())


def on_port(port: int, *arguments: str, **more: Any) -> Run:
    """The instance of gpu4 has a port in the inventory."""
    return serve("v1", *arguments, instances={"gpu4": [{**MAIN, "port": port}]}, **more)


def on_gpu4(instances: list[dict[str, Any]], *arguments: str, main: str = "v1", other: str = "v1", **more: Any) -> Run:
    """gpu4 has these instances in the inventory, which has two models with an endpoint each."""
    directories = {"v1": MODEL, "v2": f"{MODEL}-next"}
    models = [
        {"name": MODEL, "version": main, "directory": str(CACHE / "models" / directories[main])},
        {"name": OTHER, "version": other, "directory": str(CACHE / "models" / OTHER)},
    ]
    endpoints = [{"model": MODEL, "port": 8101}, {"model": OTHER, "port": 8102}]
    given = {"modelshelf_models": models, "gateway_endpoints": endpoints, **more}
    return serve(main, *arguments, instances={"gpu4": instances}, **given)


def test_moved_port_is_followed_by_the_gateway(load: Load) -> None:
    others = pids(*HOSTS[:3])
    run = on_port(8010, "--tags=serve,gateway")
    assert run.status == 0, run.output[-3000:]
    assert root("gpu4", 8010) == f"{MOUNTPOINT}/v1"
    assert known("gpu4:main") == f"{ADDRESSES['gpu4']}:8010 weight 1"
    assert gets_requests(load, "gpu4")
    assert pids(*HOSTS[:3]) == others
    assert load.failures == []


def test_port_that_is_taken_goes_back_to_the_port_before(load: Load) -> None:
    with old_server("gpu4", 8020, MODEL, f"{MOUNTPOINT}/v0", shared=False) as process:
        run = on_port(8020, "--tags=swap", rollout_free_timeout=5)
    assert run.status != 0
    assert f"pid {process}" in said(run)
    assert "still has the port 8020" in said(run)
    assert history("gpu4")["result"] == "reverted"
    assert root("gpu4", 8010) == f"{MOUNTPOINT}/v1"
    assert known("gpu4:main") == f"{ADDRESSES['gpu4']}:8010 weight 1"
    assert gets_requests(load, "gpu4")
    assert load.failures == []


def test_second_model_comes_to_a_host_under_load(load: Load) -> None:
    others = pids(*HOSTS[:3])
    run = on_gpu4([MAIN, SECOND])
    assert run.status == 0, run.output[-3000:]
    assert complete("gw1", OTHER, port=8102)
    assert root("gpu4") == f"{MOUNTPOINT}/v1"
    assert pids(*HOSTS[:3]) == others
    assert gets_requests(load, "gpu4")
    assert load.failures == []


def test_swap_that_is_limited_to_a_model_leaves_the_other_alone(load: Load) -> None:
    before, second = pids(*HOSTS), pid("gpu4", UNIT)
    run = on_gpu4([MAIN, SECOND], "--tags=publish,swap", main="v2", other="v2", modelshelf_only=OTHER)
    assert run.status == 0, run.output[-3000:]
    assert root("gpu4", 8001).endswith(f"/{OTHER}/v2")
    assert pids(*HOSTS) == before
    moved = pid("gpu4", UNIT)
    assert moved != second
    run = on_gpu4([MAIN, SECOND], "--tags=swap", "--limit=gpu4", main="v2", other="v2", modelshelf_only=MODEL)
    assert run.status == 0, run.output[-3000:]
    assert root("gpu4") == f"{MOUNTPOINT}/v2"
    assert pid("gpu4", UNIT) == moved
    assert pids(*HOSTS[:3]) == {name: before[name] for name in HOSTS[:3]}
    assert load.failures == []


def test_renamed_instance_does_not_take_the_port_of_the_one_before() -> None:
    before, second = pids(*HOSTS), pid("gpu4", UNIT)
    run = on_gpu4([MAIN, RENAMED], other="v2", modelshelf_only=OTHER, rollout_free_timeout=5)
    assert run.status != 0
    assert f"of {UNIT}" in said(run)
    assert "still has the port 8001" in said(run)
    assert (pids(*HOSTS), pid("gpu4", UNIT)) == (before, second)
    assert complete("gw1", OTHER, port=8102)


def test_renamed_instance_on_another_port_leaves_the_one_before_alone(load: Load) -> None:
    second = pid("gpu4", UNIT)
    run = on_gpu4([MAIN, {**RENAMED, "port": 8002}], other="v2")
    assert run.status == 0, run.output[-3000:]
    assert (known("gpu4:second"), known("gpu4:renamed")) == ("", f"{ADDRESSES['gpu4']}:8002 weight 1")
    assert complete("gw1", OTHER, port=8102)
    assert pid("gpu4", UNIT) == second
    assert root("gpu4") == f"{MOUNTPOINT}/v1"
    assert load.failures == []


def test_removed_instances_run_on_until_they_are_ended_by_hand(load: Load) -> None:
    others, second = pids(*HOSTS[:3]), pid("gpu4", UNIT)
    run = serve("v1")
    assert run.status == 0, run.output[-3000:]
    assert (pids(*HOSTS[:3]), pid("gpu4", UNIT)) == (others, second)
    status = said(serve("v1", playbook="playbooks/status.yml"))
    for name in ("second", "renamed"):
        assert f"gpu4 {name} {OTHER} v2 " in status
    assert status.count("not in the inventory") == 2
    before = pids(*HOSTS)
    host("gpu4").check_output(END)
    assert "not in the inventory" not in serve("v1", playbook="playbooks/status.yml").output
    assert pids(*HOSTS) == before
    assert load.failures == []


@pytest.mark.parametrize(
    ("arguments", "more", "scope"),
    [([], {"modelshelf_instances": []}, "inventory"), (["--limit=store1"], {}, "limit")],
    ids=["inventory", "limit"],
)
def test_swap_of_no_host_is_refused(arguments: list[str], more: dict[str, Any], scope: str) -> None:
    before = pids(*HOSTS)
    run = serve("v2", "--tags=swap", *arguments, **more)
    assert run.status != 0
    assert f"no host of this {scope} has any" in said(run)
    assert pids(*HOSTS) == before


def test_gateway_keeps_its_servers_when_the_inventory_has_none() -> None:
    run = serve("v1", "--tags=gateway", modelshelf_instances=[])
    assert run.status != 0
    assert "has the port 8101, and no host an instance" in said(run)
    assert known("gpu1:main") == f"{ADDRESSES['gpu1']}:8000 weight 1"
