# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers' units, generations and caches, as they are on the hosts."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.plugin_utils._runs import commit
from tests.support.fleet import ADDRESSES, CHECKOUT, SERVING, host, play
from tests.support.serving import (
    API_KEY,
    MODEL,
    MOUNT,
    MOUNTPOINT,
    SERVER,
    argv,
    as_user,
    environ,
    manifest,
    pid,
    show,
)

INSTANCE = "/var/lib/modelshelf/instances/main"
CACHE = "/var/cache/modelshelf/vllm/main"
ENGINES = {"gpu1": "/opt/modelshelf/engines/vllm-0.32.0", "gpu2": "/opt/lab/engine"}
CACHE_VARIABLES = (
    "HOME XDG_CACHE_HOME XDG_CONFIG_HOME VLLM_CACHE_ROOT VLLM_CONFIG_ROOT TORCHINDUCTOR_CACHE_DIR TRITON_CACHE_DIR "
    "FLASHINFER_WORKSPACE_BASE HF_HOME"
).split()
# systemd's own figure for a unit, times ten: 0 is a closed box, 96 what an unhardened unit has.
EXPOSURE = 25


def read_json(name: str, path: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(host(name).file(path).content_string)
    return data


@pytest.mark.parametrize("name", SERVING)
def test_unit_of_the_server(name: str) -> None:
    found = show(name, SERVER, *"User Restart StartLimitIntervalUSec KillMode UnitFileState PartOf Wants After".split())
    assert found["User"] == "modelshelf"
    assert found["Restart"] == "always"
    assert found["StartLimitIntervalUSec"] == "0"
    assert found["KillMode"] == "mixed"
    assert found["UnitFileState"] == "enabled"
    for relation in ("PartOf", "Wants", "After"):
        assert MOUNT in found[relation].split(), relation


@pytest.mark.parametrize("name", SERVING)
def test_exposure_of_the_unit_stays_low(name: str) -> None:
    done = host(name).run(f"systemd-analyze security --no-pager --threshold={EXPOSURE} {SERVER}")
    assert done.rc == 0, done.stdout[-200:]


@pytest.mark.parametrize("name", SERVING)
def test_a31_argv_names_the_configuration_and_nothing_else(name: str) -> None:
    interpreter, program, *rest = argv(name, pid(name))
    assert interpreter.startswith(f"{ENGINES[name]}/bin/python")
    assert program == f"{INSTANCE}/current/engine/bin/vllm"
    assert rest == ["serve", "--config", f"{INSTANCE}/current/vllm.yaml"]


@pytest.mark.parametrize("name", SERVING)
def test_generation_is_laid_out_as_designed(name: str) -> None:
    number = host(name).check_output(f"readlink {INSTANCE}/current").removeprefix("generations/")
    assert number.isdigit()
    folder = f"{INSTANCE}/generations/{number}"
    listed = host(name).check_output(f"cd {folder} && stat --format '%n %F %a %U' *").splitlines()
    assert [line.replace("symbolic link 777", "link") for line in listed] == [
        "engine link root",
        "env regular file 600 root",
        "release.json regular file 644 root",
        "unit.service regular file 644 root",
        "vllm.yaml regular file 644 root",
    ]
    assert host(name).check_output(f"readlink {folder}/engine") == ENGINES[name]


@pytest.mark.parametrize("name", SERVING)
def test_release_describes_the_generation(name: str) -> None:
    release = read_json(name, f"{INSTANCE}/current/release.json")
    config, unit = (host(name).file(f"{INSTANCE}/current/{file}").content for file in ("vllm.yaml", "unit.service"))
    number = int(host(name).check_output(f"readlink {INSTANCE}/current").removeprefix("generations/"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", release["created"])
    assert release["created_by"]
    assert {key: release[key] for key in release if key not in ("created", "created_by")} == {
        "format": 1,
        "instance": "main",
        "generation": number,
        "model": MODEL,
        "version": "v1",
        "weights_path": f"{MOUNTPOINT}/v1",
        "manifest_digest": manifest(name)["digest"],
        "engine": {"runtime": "venv", "version": "0.32.0+cpu", "path": ENGINES[name]},
        "config_sha256": hashlib.sha256(config).hexdigest(),
        "unit_sha256": hashlib.sha256(unit).hexdigest(),
    }


@pytest.mark.parametrize("name", SERVING)
def test_server_runs_by_the_unit_of_its_generation(name: str) -> None:
    place = show(name, SERVER, "FragmentPath")["FragmentPath"]
    assert place == f"/etc/systemd/system/{SERVER}"
    assert host(name).file(place).content == host(name).file(f"{INSTANCE}/current/unit.service").content


@pytest.mark.parametrize("name", SERVING)
def test_configuration_names_the_versioned_path_and_no_link(name: str) -> None:
    config = read_json(name, f"{INSTANCE}/current/vllm.yaml")
    assert config["model"] == f"{MOUNTPOINT}/v1"
    assert host(name).check_output(f"readlink -f {config['model']}") == config["model"]
    assert config["host"] == ADDRESSES[name]
    assert config["shutdown-timeout"] == 90


@pytest.mark.parametrize("name", SERVING)
def test_history_has_the_commit_of_the_inventory(name: str) -> None:
    first = json.loads(host(name).check_output(f"head -n 1 {INSTANCE}/history.jsonl"))
    assert first["inventory_commit"].removesuffix("-dirty") == commit(str(CHECKOUT)).removesuffix("-dirty")


@pytest.mark.parametrize("name", SERVING)
def test_a30_caches_are_apart_from_the_weights_and_writable(name: str) -> None:
    found = environ(name, pid(name))
    for variable in CACHE_VARIABLES:
        place = found[variable]
        assert place == CACHE or place.startswith(f"{CACHE}/"), variable
        done = as_user(name, f"mkdir -p {place} && touch {place}/probe && rm {place}/probe")
        assert done.rc == 0, f"{variable}: {done.stderr}"
    folder = host(name).file(CACHE)
    assert (folder.user, folder.mode) == ("modelshelf", 0o700)
    assert host(name).check_output(f"find {CACHE} ! -user modelshelf") == ""


@pytest.mark.parametrize("name", SERVING)
def test_a30_server_can_write_nowhere_else(name: str) -> None:
    """Asked inside the server's own view of the host, as its user."""
    process = pid(name)
    inside = f"nsenter --target {process} --mount setpriv --reuid=modelshelf --regid=modelshelf --clear-groups"
    for place in (
        INSTANCE,
        "/etc",
        "/opt",
        "/usr/local/lib",
        f"{MOUNTPOINT}/v1",
        "/var/lib",
        "/srv/modelshelf",
    ):
        assert host(name).run(f"{inside} touch {place}/probe").rc != 0, place
    assert host(name).run(f"{inside} sh -c 'touch {CACHE}/probe && rm {CACHE}/probe'").rc == 0


@pytest.mark.parametrize("name", SERVING)
def test_a19_key_reaches_the_process_exactly(name: str) -> None:
    assert environ(name, pid(name))["VLLM_API_KEY"] == API_KEY


@pytest.mark.parametrize("name", SERVING)
def test_a29_unit_and_engine_have_the_same_start_budget(name: str) -> None:
    assert show(name, SERVER, "TimeoutStartUSec")["TimeoutStartUSec"] == "5min"
    assert environ(name, pid(name))["VLLM_ENGINE_READY_TIMEOUT_S"] == "300"


def test_a29_every_budget_follows_one_variable() -> None:
    said = play("--check", "--diff", "--tags=serve", "--limit=gpu1", "--extra-vars=vllm_start_budget=1234").output
    assert re.search(r"^\+ +- TimeoutStartSec=1234$", said, re.M)
    assert re.search(r"^\+ +- Environment=VLLM_ENGINE_READY_TIMEOUT_S=1234$", said, re.M)
    gate = play(
        "--tags=verify", "--limit=gpu1", "--extra-vars=vllm_start_budget=1234", "-vvv", ANSIBLE_INJECT_INVOCATION="1"
    )
    assert gate.status == 0
    asked = gate.output.partition("TASK [rollout : Prove that the instance serves]")[2]
    assert re.search(r"^ +timeout: 1234(\.0)?$", asked, re.M)


@pytest.mark.parametrize("name", SERVING)
def test_only_the_port_of_the_server_is_open_to_the_fleet(name: str) -> None:
    """The engine's processes listen on more ports, but on the loopback interface alone."""
    rows = host(name).check_output("ss --no-header --listening --tcp --numeric --processes | grep -i vllm").splitlines()
    places = {row.split()[3] for row in rows}
    assert f"{ADDRESSES[name]}:8000" in places
    assert {place for place in places if not place.startswith("127.0.0.1:")} == {f"{ADDRESSES[name]}:8000"}
