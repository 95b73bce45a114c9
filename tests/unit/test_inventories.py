# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every inventory of the repository says something that the product understands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
SAMPLES = ["example-cpu", "example-gpu"]
SECRETS = [
    "root_access_key",
    "root_secret_key",
    "writer_access_key",
    "writer_secret_key",
    "reader_access_key",
    "reader_secret_key",
    "vllm_api_key",
]
VAULT = {f"vault_modelshelf_{name}": "a-value" for name in SECRETS}
SHAPED = (
    "{{ modelshelf_instances | modelshelf.fleet.resolve_instances(modelshelf_models, weights_root='/srv/weights',"
    " address=ansible_host, arguments=vllm_arguments) }}"
)


def ansible(inventory: str, *arguments: str) -> str:
    env = {
        **os.environ,
        "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
        "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
    }
    argv = [str(BIN / arguments[0]), "-i", f"inventories/{inventory}", *arguments[1:]]
    done = subprocess.run(argv, cwd=CHECKOUT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("inventory", SAMPLES)
def test_sample_instances_and_models_are_understood(inventory: str) -> None:
    """The filters that every play uses shape each host's instances without a complaint."""
    debug = [
        "ansible",
        inventory.removeprefix("example-"),
        "-m",
        "ansible.builtin.debug",
        "-a",
        f"msg={SHAPED}",
        "-e",
        json.dumps(VAULT),
    ]
    output = ansible(inventory, *debug)
    assert "weights_path: /srv/weights/" in output


@pytest.mark.parametrize("inventory", [*SAMPLES, "lab"])
def test_site_reads_the_inventory(inventory: str) -> None:
    assert "Serve, wave after wave" in ansible(inventory, "ansible-playbook", "site.yml", "--list-tasks")


def test_gpu_sample_has_eight_hosts() -> None:
    data = json.loads(ansible("example-gpu", "ansible-inventory", "--list"))
    assert len(data["gpu_small"]["hosts"] + data["gpu_large"]["hosts"]) == 8


@pytest.mark.parametrize("inventory", SAMPLES)
def test_every_secret_is_named_in_the_example_of_the_vault(inventory: str) -> None:
    folder = CHECKOUT / "inventories" / inventory / "group_vars" / "all"
    asked = set(re.findall(r"vault_modelshelf_\w+", (folder / "main.yml").read_text()))
    offered = set(re.findall(r"^(vault_modelshelf_\w+):", (folder / "vault.yml.example").read_text(), re.M))
    assert asked == offered
    assert asked <= set(VAULT)


def test_cpu_sample_serves_the_small_model_in_little_memory() -> None:
    data = json.loads(ansible("example-cpu", "ansible-inventory", "--list"))
    (facts,) = data["_meta"]["hostvars"].values()
    assert facts["modelshelf_models"][0]["name"] == "facebook/opt-125m"
    wanted = {"dtype": "float32", "max-model-len": 256, "gpu-memory-utilization": 0.15}
    assert wanted.items() <= facts["vllm_arguments"].items()
    assert facts["vllm_shm_size"] == "2G"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("modelshelf_models", [{"name": "m", "version": "latest"}], "the version 'latest' is not usable"),
        ("modelshelf_models", [{"name": "m", "verison": "v1"}], "unknown key verison"),
        ("modelshelf_instances", [{"name": "main", "model": "nosuch", "port": 8000}], "the model 'nosuch' is not in"),
        ("modelshelf_instances", [{"name": "main", "model": "tiny-qwen2", "port": "eight"}], "the port 'eight'"),
    ],
)
def test_mistakes_are_refused_before_any_connection(name: str, value: list[object], message: str) -> None:
    """The first play names them, with any tag; no host is asked anything."""
    env = {**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    extra = json.dumps({name: value})
    argv = [str(BIN / "ansible-playbook"), "-i", "inventories/lab", "site.yml", "--tags", "mount", "-e", extra]
    done = subprocess.run(argv, cwd=CHECKOUT, env=env, capture_output=True, text=True)
    assert done.returncode != 0
    assert message in " ".join((done.stdout + done.stderr).split())
    assert "Gathering" not in done.stdout
    assert "PLAY [Mount the weights]" not in done.stdout


def preflight(
    folder: Path, variables: str, *arguments: str, playbook: str = "preflight", group: str = ""
) -> tuple[int, str]:
    """Exit status and output of the first play on an inventory with the host one, which has `variables`."""
    (folder / "hosts.yml").write_text(f"all: {{hosts: {{one: }}, vars: {{modelshelf_models: []{variables}}}{group}}}\n")
    argv = [str(BIN / "ansible-playbook"), "-i", str(folder / "hosts.yml"), f"playbooks/{playbook}.yml", *arguments]
    env = {**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(argv, cwd=CHECKOUT, env=env, capture_output=True, text=True)
    return done.returncode, " ".join(done.stdout.split())


@pytest.mark.parametrize("variables", ["", ", modelshelf_instances: []"], ids=["none", "empty"])
def test_an_inventory_that_serves_nothing_says_so(tmp_path: Path, variables: str) -> None:
    status, said = preflight(tmp_path, variables)
    assert status == 0, said
    assert "no host of this inventory has modelshelf_instances" in said


@pytest.mark.parametrize(("limit", "scope"), [([], "inventory"), (["--limit=one"], "limit")])
def test_steps_for_servers_are_refused_where_there_are_none(tmp_path: Path, limit: list[str], scope: str) -> None:
    status, said = preflight(tmp_path, "", "--tags=store,swap", *limit)
    assert status != 0
    assert f"the steps swap are for hosts that have modelshelf_instances, and no host of this {scope} has any" in said


@pytest.mark.parametrize(
    ("playbook", "arguments"),
    [("preflight", ["--tags=gateway"]), ("gateway", [])],
    ids=["tag", "playbook"],
)
def test_gateway_is_refused_where_there_is_none(tmp_path: Path, playbook: str, arguments: list[str]) -> None:
    status, said = preflight(tmp_path, "", *arguments, playbook=playbook)
    assert status != 0
    assert "no host of this inventory is in the group gateway, so there is no gateway to set up" in said
    status, said = preflight(
        tmp_path, "", "--limit=one", *arguments, playbook=playbook, group=", children: {gateway: {hosts: {two: }}}"
    )
    assert status != 0
    assert "no host of this limit is in the group gateway, so there is no gateway to set up: the group has two" in said


@pytest.mark.parametrize("tags", ["gateway,store", "verify", "all"])
def test_other_steps_need_no_gateway(tmp_path: Path, tags: str) -> None:
    status, said = preflight(tmp_path, "", f"--tags={tags}")
    assert status == 0, said


@pytest.mark.parametrize(
    ("settings", "accepted"),
    [
        ({}, True),
        ({"rollout_drain": "none"}, True),
        ({"rollout_drain": "gatewy"}, False),
        ({"rollout_drain": ""}, False),
        ({"rollout_drain": "tasks", "rollout_drain_tasks": "/a.yml", "rollout_undrain_tasks": "/b.yml"}, True),
        ({"rollout_drain": "tasks", "rollout_drain_tasks": "drain.yml", "rollout_undrain_tasks": "/b.yml"}, False),
        ({"rollout_drain": "tasks", "rollout_drain_tasks": "/a.yml"}, False),
    ],
)
def test_drains_that_mean_nothing_are_refused_with_any_tag(
    tmp_path: Path, settings: dict[str, str], accepted: bool
) -> None:
    """The file drain.yml beside the tasks of the role would be taken for the user's."""
    models = [{"name": "tiny", "version": "v1"}]
    instances = [{"name": "main", "model": "tiny", "port": 8000}]
    given = {"modelshelf_models": models, "modelshelf_instances": instances, **settings}
    status, said = preflight(tmp_path, "", "--tags=rollback", "-e", json.dumps(given))
    assert (status == 0) == accepted, said
    assert ("expected gateway, tasks or none" in said) != accepted


@pytest.mark.parametrize(("value", "accepted"), [(300, True), ("300", True), (0, True), ("5m", False), ("", False)])
def test_times_that_are_no_seconds_are_refused_with_any_tag(tmp_path: Path, value: object, accepted: bool) -> None:
    """A rollback does not check the arguments of the role: 5m would cut all requests off at once."""
    models = [{"name": "tiny", "version": "v1"}]
    instances = [{"name": "main", "model": "tiny", "port": 8000}]
    given = {"modelshelf_models": models, "modelshelf_instances": instances, "rollout_drain_timeout": value}
    status, said = preflight(tmp_path, "", "--tags=rollback", "-e", json.dumps(given))
    assert (status == 0) == accepted, said
    assert (f"rollout_drain_timeout is {value}: expected a whole number of seconds" in said) != accepted
