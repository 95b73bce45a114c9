# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/plan.yml on hosts that are directories of this machine, with a store: what it prints, what it refuses."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Move
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import Vllm, publish, serving
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import hf_files, write_tree
from tests.contract.planned_fleet import Fleet, Run, program
from tests.contract.s3_server import Server

SETTLE = [
    {
        "hosts": "gpu",
        "gather_facts": False,
        "tasks": [
            {"import_role": {"name": "vllm", "tasks_from": "generations.yml"}},
            {
                "modelshelf.fleet.vllm_generation": {
                    "instance": "main",
                    "state": "current",
                    "root": "{{ __vllm_state }}",
                    "generation": "{{ __vllm_generations.results[0].generation }}",
                }
            },
        ],
    }
]


@pytest.fixture(scope="module")
def bare(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Hosts on which nothing is, and a shelf with v1 and v2."""
    folder = tmp_path_factory.mktemp("fleet")
    program(folder / "bin/systemctl", f"cat {folder}/state")
    (folder / "state").write_text("inactive\n")
    program(folder / "engine/bin/python", "echo 0.32.0")
    program(folder / "engine/bin/vllm", "true")
    bucket = f"plan-{secrets.token_hex(6)}"
    server.client().create_bucket(Bucket=bucket)
    for version, size in (("v1", 300_000), ("v2", 500_000)):
        publish(folder / "published" / version, {"config.json": b"{}", "model.safetensors": bytes(size)})
        for path in (folder / "published" / version).rglob("*.*"):
            if path.is_file():
                key = f"tiny/{path.relative_to(folder / 'published')}"
                server.client().put_object(Bucket=bucket, Key=key, Body=path.read_bytes())
    variables = {
        "ansible_connection": "local",
        "place": f"{folder}/{{{{ inventory_hostname }}}}",
        "modelshelf_store": {"endpoint": server.endpoint, "bucket": bucket},
        "modelshelf_models": [{"name": "Tiny", "version": "{{ wanted }}"}],
        "wanted": "v1",
        "modelshelf_instances": [{"name": "main", "model": "Tiny", "port": "{{ server_port | default(9) }}"}],
        "modelshelf_writer_access_key": server.access_key,
        "modelshelf_writer_secret_key": server.secret_key,
        "modelshelf_reader_access_key": "reader",
        "modelshelf_reader_secret_key": "canary-reader",
        "vllm_address": "127.0.0.1",
        "vllm_engine_path": str(folder / "engine"),
        "weights_root": "{{ place }}/weights",
        "rollout_move_seconds": 60,
        "rollout_store_bandwidth": 1000,
        "rollout_nic_bandwidth": 1_000_000,
    }
    return Fleet(folder, variables, {name: {} for name in ("one", "two", "three")})


@pytest.fixture(scope="module")
def first(bare: Fleet) -> Run:
    """The plan of the first deployment, in check mode and with the store down."""
    directory = write_tree(bare.folder / "first", hf_files())
    models = [{"name": "Tiny", "version": "v1", "directory": str(directory)}]
    store = {"endpoint": "http://127.0.0.1:9", "bucket": "models"}
    return bare.run("--check", modelshelf_models=models, modelshelf_store=store)


@pytest.fixture(scope="module")
def fleet(bare: Fleet, first: Run) -> Iterator[Fleet]:
    """The same hosts, each serving v1."""
    (bare.folder / "state").write_text("active\n")
    settle = bare.folder / "settle.json"
    settle.write_text(json.dumps(SETTLE))
    with ExitStack() as servers:
        for name, facts in bare.hosts.items():
            facts["server_port"] = servers.enter_context(serving(Vllm())).port
            weights = bare.folder / name / "weights"
            weights.mkdir(parents=True)
            (weights / "tiny").symlink_to(bare.folder / "published")
        run = bare.run(playbook=str(settle))
        assert run.status == 0, run.output
        yield bare


def test_a34_bare_hosts_fetch_everything_and_nothing_is_made(first: Run, bare: Fleet) -> None:
    assert (first.status, first.changed()) == (0, 0), first.output
    for number, name in enumerate(("one", "two", "three"), 1):
        assert first.row(name) == f"{name} {number} main Tiny - v1 176 B move: new"
    assert "176 B would be published first, from" in first.text
    assert "the store does not say what it has: could not list s3://models/tiny/" in first.text


def test_converged_fleet_has_nothing_to_move(fleet: Fleet) -> None:
    run = fleet.run()
    assert (run.status, run.changed()) == (0, 0), run.output
    for name in fleet.hosts:
        assert run.row(name) == f"{name} - main Tiny v1 v1 done"
    assert "0 to move on 0 of 3 hosts, 0 held; 0 B from the store" in run.text


def test_a33_waves_of_a_new_version_as_minus_e_gives_them(fleet: Fleet) -> None:
    extra = "wanted=v2 rollout_serial=2 rollout_canary=no rollout_minimum_serving=1".split()
    run = fleet.run(*(word for pair in extra for word in ("-e", pair)))
    assert (run.status, run.changed()) == (0, 0), run.output
    rows = [run.row(name) for name in fleet.hosts]
    assert rows == [
        f"{name} {wave} main Tiny v1 v2 488.3 KiB move: version"
        for name, wave in (("one", 1), ("two", 1), ("three", 2))
    ]
    assert run.row("1") == "1 one, two 976.6 KiB 16 min 41 s (store) 1 min 0 s"
    assert "one: its GPUs are not known" in run.text


def test_a_host_that_another_run_moves_does_not_count_for_the_minimum(fleet: Fleet) -> None:
    """It is outside of the limit. Without its move two and three serve while one moves.

    What is asked of another host is asked of the directory of one here: a real host has the same path.
    """
    arguments = "-e wanted=v2 -e rollout_minimum_serving=2 --limit one".split()
    assert fleet.run(*arguments).status == 0
    journal = fleet.folder / "one/instances/main/journal.json"
    move = Move("elsewhere:1:1", "ops@there", "swap", 1, 2, None, "gate", 0.0)
    journal.write_text(json.dumps(asdict(move)))
    try:
        run = fleet.run(*arguments)
    finally:
        journal.unlink()
    assert run.status != 0
    assert "wave 1 changes 1 host (one), and only 0 would serve meanwhile; the minimum is 2" in run.text


def test_held_instance_is_shown_and_in_no_wave(fleet: Fleet) -> None:
    hold = fleet.folder / "one/instances/main/hold.json"
    left = {"model": "tiny", "version": "v2", "generation": 2, "who": "ops", "time": "2026-11-30T08:00:00Z"}
    hold.write_text(json.dumps({"format": 1, **left}))
    run, lifted = (fleet.run("-e", "wanted=v2", "-e", f"rollout_lift_hold={lift}") for lift in ("no", "yes"))
    hold.unlink()
    assert "one - main Tiny v1 v2 held: rolled back from tiny v2 (ops, 2026-11-30T08:00:00Z)" in run.text
    assert run.row("two").startswith("two 1 main Tiny v1 v2 ")
    assert lifted.row("one").startswith("one 1 main Tiny v1 v2 ")


def test_every_reason_is_in_one_message(fleet: Fleet) -> None:
    run = fleet.run("-e", "wanted=v9", "-e", "rollout_serial=50%", "-e", "rollout_minimum_serving=3")
    assert run.status != 0
    assert run.changed() == 0
    assert run.row("one").endswith("move: version")
    message = run.text.partition("this plan cannot work, and nothing was stopped:")[2]
    for name in fleet.hosts:
        assert f"- {name}: main wants version v9 of Tiny, which is not on the shelf" in message
    assert "choose one of: v1, v2" in message
    assert "only 2 would serve meanwhile; the minimum is 3. No wave size keeps it: 3 of 3 hosts serve now" in message


def test_limit_plans_its_hosts_and_names_the_others(fleet: Fleet) -> None:
    arguments = json.dumps({"vllm_arguments": {"max-model-len": 256}, "rollout_devices": "1"})
    run = fleet.run("--limit=two", "-e", arguments, "-e", "rollout_minimum_serving=2")
    assert (run.status, run.changed()) == (0, 0), run.output
    assert run.row("two") == "two 1 main Tiny v1 v1 293.0 KiB move: argument"
    assert "not planned, and taken to serve what the inventory says: one, three" in run.text
    assert not re.search(r"^(one|three) ", run.output, re.M)


def test_host_that_does_not_answer_is_named_and_counts_as_failed(fleet: Fleet) -> None:
    hosts = {**fleet.hosts, "four": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9}}
    run = Fleet(fleet.folder, fleet.variables, hosts).run("-e", "wanted=v2", "-e", "rollout_minimum_serving=3")
    assert run.status != 0
    assert run.row("four").endswith("unreachable or failed")
    assert run.row("three") == "three 3 main Tiny v1 v2 488.3 KiB move: version"
    assert "No wave size keeps it: 3 of 4 hosts serve now" in run.text


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ({}, "the inventory has no hosts: nothing can be planned"),
        (
            {"one": {"modelshelf_instances": []}},
            "none of the hosts one has modelshelf_instances: nothing can be planned",
        ),
    ],
)
def test_a33_fleet_that_serves_nothing_is_refused(bare: Fleet, hosts: dict[str, Any], message: str) -> None:
    run = Fleet(bare.folder, bare.variables, hosts).run()
    assert run.status != 0
    assert message in run.text


def test_port_that_is_to_move_is_asked_where_the_server_is(fleet: Fleet) -> None:
    moved = ("-e", "server_port=9")
    run = fleet.run(*moved, "-e", "rollout_minimum_serving=3")
    assert run.row("one").endswith("move: port")
    assert "only 2 would serve meanwhile; the minimum is 3. No wave size keeps it: 3 of 3 hosts serve now" in run.text
    status = fleet.run(*moved, playbook="playbooks/status.yml")
    assert len(re.findall(r"- (?:one|two|three) main tiny v1 1 serving", status.text)) == 3, status.output


def stage(fleet: Fleet, *arguments: str, **changes: Any) -> Run:
    """What site.yml would do before it stops anything."""
    return fleet.run(
        "--check", "--tags=stage", *arguments, playbook="playbooks/site.yml", vllm_system_packages=[], **changes
    )


def test_units_that_are_not_active_are_restarted_only_where_the_minimum_is_kept(fleet: Fleet) -> None:
    least = ("-e", "rollout_minimum_serving=3")
    assert "Show the plan" not in stage(fleet, *least).output
    (fleet.folder / "state").write_text("failed\n")
    run = stage(fleet, *least)
    (fleet.folder / "state").write_text("active\n")
    assert run.status != 0
    assert run.row("two").endswith("move: failed")
    assert "only 2 would serve meanwhile; the minimum is 3" in run.text


def test_models_that_modelshelf_only_leaves_out_are_not_looked_at(fleet: Fleet) -> None:
    models = [{"name": "Tiny", "version": "v2"}, {"name": "Other", "version": "v1"}]
    instances = [*fleet.variables["modelshelf_instances"], {"name": "second", "model": "Other", "port": 10}]
    given = {"modelshelf_models": models, "modelshelf_instances": instances}
    run = stage(fleet, "-e", "modelshelf_only=Tiny", **given)
    assert run.status == 0, run.output
    assert "one 1 main Tiny v1 v2" in run.text
    assert "one - second Other - v1 not selected" in run.text
    task = re.findall(r"TASK \[(?:weights|vllm) : (?:Open every|Compare the gen).*?(?=\nTASK)", run.output, re.S)
    assert ["v2" in found or "main" in found for found in task] == [True, True]
    assert not any("Other" in found or "second" in found for found in task)
