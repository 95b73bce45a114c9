# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which instances move, as site.yml finds it out before its waves: those of the plan, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_facts import moving_instances, planned_host
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import (
    MODELS,
    plan,
    resolve_instances,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.test_plan_facts import MAIN, found

HOLD = {
    "model": MAIN["model"],
    "version": MAIN["version"],
    "generation": 2,
    "who": "ops",
    "time": "2026-11-30T08:00:00Z",
}
SHELF = {MAIN["model"]: {"v1": 10, "v2": 12}}
MOUNT = {"stale_mounts": [MAIN["weights_unit"]]}


def moves(facts: dict[str, Any]) -> list[str]:
    """The reasons in the plan, where it has a move; and the two ways to find moves agree."""
    (host,) = plan(planned_host("gpu-01", facts), shelf=SHELF)["hosts"]
    assert moving_instances(facts) == [move["instance"] for move in host["moves"]]
    return [reason for move in host["moves"] for reason in move["reasons"]]


def beside(facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The host, with more in what is said of its instance."""
    return {**facts, "generations": [{**facts["generations"][0], **more}]}


def settled(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    """A host that serves what the inventory wants."""
    models = [{**model, "version": "v1"} for model in MODELS]
    (main,) = resolve_instances([{"name": "main", "model": "Qwen/Qwen2-7B", "port": 8000}], models, address="10.0.0.21")
    return {**found(tmp_path, **changes), "instances": [main]}


def test_nothing_moves_where_everything_is_as_wanted(tmp_path: Path) -> None:
    assert moves(settled(tmp_path)) == []


def test_another_version_moves_an_instance(tmp_path: Path) -> None:
    assert moves(found(tmp_path, version="v2", config={"model": "/v2", "port": 8000})) == ["version"]


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [({"unit": "[Service]\nMemoryMax=1G\n"}, ["unit"]), ({"active": "inactive"}, ["inactive"])],
)
def test_changes_that_move_an_instance(tmp_path: Path, changes: dict[str, Any], reasons: list[str]) -> None:
    assert moves(settled(tmp_path, **changes)) == reasons


def test_mount_with_older_settings_moves_its_instances(tmp_path: Path) -> None:
    assert moves({**settled(tmp_path), **MOUNT}) == ["mount"]
    assert moves({**settled(tmp_path), "stale_mounts": ["modelshelf-weights-other.service"]}) == []


@pytest.mark.parametrize(("step", "reasons"), [("begun", []), ("drained", []), ("gate", ["unfinished"])])
def test_move_that_a_run_has_left_after_the_stop_is_ended(tmp_path: Path, step: str, reasons: list[str]) -> None:
    assert moves(beside(settled(tmp_path), move={"step": step, "who": "ops", "to": 2}, hold=None)) == reasons


@pytest.mark.parametrize(
    ("results", "reasons"),
    [(["failed"], ["failed"]), (["failed", "served"], []), (["served", "reverted"], []), ([], [])],
)
def test_instance_whose_last_move_failed_moves_also_where_somebody_mended_it(
    tmp_path: Path, results: list[str], reasons: list[str]
) -> None:
    history = [{"action": "swap", "result": result} for result in results]
    held = {"action": "hold", "result": "held"}
    assert moves(beside(settled(tmp_path), move=None, hold=None, history=[*history, held])) == reasons


def test_first_generation_moves(tmp_path: Path) -> None:
    facts = settled(tmp_path)
    facts["generations"] = []
    facts["wanted"][0].update(restart_needed=True, current=None)
    facts["wanted"][0]["diff"]["before"] = {}
    facts["units"][0]["stdout"] = "inactive"
    assert moves(facts) == ["new"]


def test_generation_that_cannot_be_compared_moves(tmp_path: Path) -> None:
    found(tmp_path)
    (tmp_path / "instances/main/generations/1/env").unlink()
    assert moves(settled(tmp_path)) == ["generation"]


def test_held_instance_stays_where_it_is(tmp_path: Path) -> None:
    facts = beside(found(tmp_path, version="v2", config={"model": "/v2", "port": 8001}), hold=HOLD)
    assert moves(facts) == []
    (host,) = plan(planned_host("gpu-01", facts))["hosts"]
    (held,) = host["held"]
    assert held["hold"] == f"rolled back from {HOLD['model']} {HOLD['version']} (ops, 2026-11-30T08:00:00Z)"


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({"lift_hold": "yes"}, ["version"]),
        (MOUNT, ["mount"]),
        ({"units": [{"item": "main", "stdout": "failed"}]}, ["failed"]),
    ],
)
def test_held_instance_that_moves(tmp_path: Path, changes: dict[str, Any], reasons: list[str]) -> None:
    facts = {**beside(found(tmp_path, version="v2", config={"model": "/v2", "port": 8000}), hold=HOLD), **changes}
    assert moves(facts) == reasons
    (host,) = plan(planned_host("gpu-01", facts))["hosts"]
    assert host["moves"][0]["to"]["version"] == ("v2" if "lift_hold" in changes else "v1")


def test_hold_of_another_version_holds_nothing(tmp_path: Path) -> None:
    facts = beside(found(tmp_path, version="v2", config={"model": "/v2", "port": 8000}), hold={**HOLD, "version": "v3"})
    assert moves(facts) == ["version"]


def test_instance_that_is_left_out_of_the_run_does_not_move(tmp_path: Path) -> None:
    facts = {**found(tmp_path, active="failed"), "wanted": []}
    assert moving_instances(facts) == []
    two = {**facts["instances"][0], "name": "small", "model": "opt", "display_name": "opt", "version": "v1"}
    more = {"instances": [*facts["instances"], two], "units": [*facts["units"], {"item": "small", "stdout": ""}]}
    facts = {**facts, **more, "health": [*facts["health"], {}], "devices": 0}
    (host,) = plan(planned_host("gpu-01", facts), only="opt")["hosts"]
    assert [(entry["instance"], entry["why"]) for entry in host["skipped"]] == [("main", "not selected")]
