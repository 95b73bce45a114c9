# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_states import current, present
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_facts import planned_host
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import publish
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import instances, plan

MAIN = instances()[0]
SEEN: dict[str, Any] = {
    "versions": {},
    "cache": {"free": 2**40, "total": 2**41},
    "devices": ["GPU-1"],
    "bandwidth": 1e9,
}


def asked(tmp_path: Path, version: str = "v1", **changes: Any) -> dict[str, Any]:
    weights = tmp_path / "weights" / version
    publish(weights)
    (tmp_path / "engine/bin").mkdir(parents=True, exist_ok=True)
    (tmp_path / "engine/bin/vllm").touch(mode=0o755)
    return {
        "model": MAIN["model"],
        "version": version,
        "weights_path": str(weights),
        "manifest_digest": "",
        "config": {"model": str(weights), "port": 8000},
        "engine": {"runtime": "venv", "version": "0.32.0", "path": str(tmp_path / "engine")},
        "unit": "[Service]\n",
        "created_by": "ops",
        **changes,
    }


def found(
    tmp_path: Path,
    *,
    environment: dict[str, str] | None = None,
    active: str = "active",
    facts: Any = None,
    **changes: Any,
) -> dict[str, Any]:
    """What a host says that serves v1, asked for the same with `changes`."""
    instance = Instance(str(tmp_path / "instances"), "main")
    if not instance.numbers():
        current(instance, present(instance, asked(tmp_path), {}, check_mode=False)["generation"], check_mode=False)
    wanted = present(instance, asked(tmp_path, **changes), environment or {}, check_mode=True)
    return {
        "instances": [MAIN],
        "generations": [instance.summary()],
        "wanted": [{"item": "main", **wanted}],
        "units": [{"item": "main", "stdout": active}],
        "health": [{"status": 200}],
        "stale_mounts": [],
        "seen": SEEN,
        "cached": True,
        **(facts or {}),
    }


def reasons(*given: Any, **changes: Any) -> list[str]:
    listed: list[str] = planned_host("gpu-01", found(*given, **changes))["state"]["main"]["reasons"]
    return listed


def test_host_as_the_plan_takes_it(tmp_path: Path) -> None:
    host = planned_host("gpu-01", found(tmp_path))
    state = host.pop("state")["main"]
    assert (state["current"]["version"], state["current"]["generation"]) == ("v1", 1)
    assert (state["previous"], state["reasons"], state["serving"], state["left"]) == (None, [], True, None)
    expected = {
        "devices": ["GPU-1"],
        "cpu": None,
        "versions": {},
        "cache": {"free": 2**40, "total": 2**41},
        "bandwidth": 1e9,
    }
    assert host == {"name": "gpu-01", "instances": [MAIN], **expected}
    assert plan({**host, "state": {"main": state}})["totals"]["moves"] == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": {"model": "/elsewhere", "port": 8000, "max-model-len": 64}}, "argument"),
        ({"config": {"model": "/elsewhere", "port": 8001}}, "port"),
        ({"engine": {"runtime": "venv", "version": "0.33.0", "path": "/e"}}, "engine"),
        ({"environment": {"A": "1"}}, "environment"),
        ({"unit": "[Service]\nMemoryMax=1G\n"}, "unit"),
        ({"active": "failed"}, "failed"),
        ({"active": ""}, "unknown"),
        ({"facts": {"stale_mounts": [MAIN["weights_unit"]]}}, "mount"),
    ],
)
def test_reasons_to_move(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    assert reasons(tmp_path, **changes) == [reason]


def test_weights_elsewhere_are_a_reason(tmp_path: Path) -> None:
    place = tmp_path / "other" / "v1"
    publish(place)
    assert reasons(tmp_path, weights_path=str(place), config={"model": str(place), "port": 8000}) == ["path"]


def test_another_version_is_no_other_argument(tmp_path: Path) -> None:
    assert reasons(tmp_path, version="v2") == []


def test_weights_that_cannot_be_read_now_are_no_reason(tmp_path: Path) -> None:
    found(tmp_path)
    (tmp_path / "weights/v1/.modelshelf/manifest.json").rename(tmp_path / "kept")
    instance = Instance(str(tmp_path / "instances"), "main")
    given = asked(tmp_path)
    (tmp_path / "weights/v1/.modelshelf/manifest.json").unlink()
    wanted = {"item": "main", **present(instance, given, {}, check_mode=True)}
    facts = {**found(tmp_path), "wanted": [wanted]}
    assert planned_host("gpu-01", facts)["state"]["main"]["reasons"] == []


def test_generation_that_was_not_made_current(tmp_path: Path) -> None:
    found(tmp_path)
    instance = Instance(str(tmp_path / "instances"), "main")
    present(instance, asked(tmp_path, unit="[Unit]\n"), {}, check_mode=False)
    assert reasons(tmp_path, unit="[Unit]\n") == ["unit"]


def test_generation_from_before_units_were_kept(tmp_path: Path) -> None:
    found(tmp_path)
    (tmp_path / "instances/main/generations/1/unit.service").unlink()
    assert reasons(tmp_path) == ["unit"]


def test_generation_that_was_edited(tmp_path: Path) -> None:
    found(tmp_path)
    edited = tmp_path / "instances/main/generations/1/vllm.yaml"
    edited.write_text(edited.read_text() + "\n")
    assert reasons(tmp_path) == ["files"]


def test_bare_host(tmp_path: Path) -> None:
    given = found(tmp_path)
    bare = copy.deepcopy(given)
    bare["generations"], bare["units"][0]["stdout"], bare["health"] = [], "inactive", [{"status": -1}]
    bare["wanted"][0]["diff"]["before"] = {}
    state = planned_host("gpu-01", bare)["state"]["main"]
    assert state == {"current": None, "previous": None, "reasons": [], "serving": False, "left": None}


def test_inventory_wins_over_what_was_found(tmp_path: Path) -> None:
    host = planned_host("gpu-01", found(tmp_path, facts={"devices": "4", "bandwidth": "5e8", "cached": False}))
    assert (host["devices"], host["bandwidth"], host["cache"]) == ("4", "5e8", None)


def test_bound_of_the_caches_is_that_of_each_mount(tmp_path: Path) -> None:
    host = planned_host("gpu-01", found(tmp_path, facts={"cache_max_size": 5}))
    assert host["cache"] == {**SEEN["cache"], "mount_budget": 5}


def test_a31_environment_of_an_instance_is_left_out(tmp_path: Path) -> None:
    (main,) = instances({"environment": {"HF_TOKEN": "canary"}, "gpus": [1]})
    (shown,) = planned_host("gpu-01", found(tmp_path, facts={"instances": [main]}))["instances"]
    assert shown["environment"] == {"CUDA_VISIBLE_DEVICES": "1"}


def test_engine_for_processors_needs_no_gpu(tmp_path: Path) -> None:
    engine = {"runtime": "venv", "version": "0.32.0+cpu", "path": str(tmp_path / "engine")}
    assert planned_host("gpu-01", found(tmp_path, engine=engine))["cpu"]
