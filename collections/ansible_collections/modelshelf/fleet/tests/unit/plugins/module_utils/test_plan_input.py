# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._rollout_plan import PlanError, rollout_plan
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import (
    GIB,
    NEW,
    OLD,
    QWEN,
    SHELF,
    host,
    plan,
    refusals,
)

HOLD = {"model": QWEN, "version": "v2", "generation": 5, "who": "ops", "time": "2026-11-30T08:00:00Z"}


def test_same_version_with_another_digest_is_a_move_and_a_notice() -> None:
    found = plan(host(state={"main": {"current": {**NEW, "manifest_digest": "sha256:9"}}}))
    assert found["hosts"][0]["moves"][0]["reasons"] == ["version"]
    assert any("sha256:9" in notice and "sha256:2" in notice for notice in found["notices"])


@pytest.mark.parametrize("held", [True, "lifted by hand only", HOLD])
def test_held_instance_stays(held: Any) -> None:
    found = plan(host(state={"main": {"current": OLD, "held": held, "reasons": ["argument"]}}))
    assert found["waves"] == []
    (entry,) = found["hosts"][0]["held"]
    assert (entry["from"]["version"], entry["to"]["version"]) == ("v1", "v2")
    assert any(f"held at {QWEN} v1 and stays as it is ({QWEN} v2 is wanted)" in notice for notice in found["notices"])
    if isinstance(held, dict):
        assert entry["hold"] == f"rolled back from {QWEN} v2 (ops, 2026-11-30T08:00:00Z)"


def test_hold_at_the_version_that_is_wanted_names_what_is_not_applied() -> None:
    found = plan(host(state={"main": {"current": NEW, "held": HOLD, "reasons": ["argument", "port"]}}))
    text = f"held at {QWEN} v2 and stays as it is (the inventory's argument, port is not applied); name another"
    assert any(text in notice for notice in found["notices"])


@pytest.mark.parametrize("current", [OLD, NEW])
def test_move_that_has_not_ended_is_said(current: dict[str, Any]) -> None:
    """Also where nothing was stopped yet, so that there is nothing of it in the table."""
    left = {"who": "ops on one", "to": 7, "step": "drained"}
    found = plan(host(state={"main": {"current": current, "left": left}}))
    text = "ops on one began to move main to generation 7, and came to the step drained"
    assert any(text in notice for notice in found["notices"])


def test_hold_ends_when_another_version_is_wanted() -> None:
    found = plan(host(state={"main": {"current": OLD, "held": {**HOLD, "version": "v3"}}}))
    assert found["totals"]["moves"] == 1


@pytest.mark.parametrize("only", ["opt", ["opt"], '["opt"]', " opt ,"])
def test_models_that_are_not_selected_stay(only: Any) -> None:
    two = host("a", {"gpus": [0]}, {"name": "small", "model": "opt", "gpus": [1]}, devices=2)
    found = plan(two, only=only)
    assert [move["instance"] for move in found["hosts"][0]["moves"]] == ["small"]
    assert [skipped["why"] for skipped in found["hosts"][0]["skipped"]] == ["not selected"]
    assert found["totals"]["fetch_bytes"] == GIB


@pytest.mark.parametrize(("reason", "refused"), [("mount", 1), ("argument", 0)])
def test_mount_with_an_instance_on_it_that_is_left_out_is_not_restarted(reason: str, refused: int) -> None:
    small = {"model": "opt", "version": "v1"}
    there = {"main": {"current": small}, "small": {"current": small, "reasons": [reason]}}
    two = host("a", {"gpus": [0]}, {"name": "small", "model": "opt", "gpus": [1]}, devices=2, state=there)
    found = refusals(two, only="opt")
    assert len(found) == refused
    assert all(
        "the mount of opt has to be restarted, and main, which modelshelf_only leaves out" in one for one in found
    )
    assert all("Add Qwen/Qwen2-7B, which the inventory gives main" in one for one in found)
    assert refusals(two, only="opt,Qwen/Qwen2-7B") == []


def test_model_is_selected_by_its_name_or_its_slug() -> None:
    assert plan(host(), only="Qwen/Qwen2-7B")["totals"]["moves"] == plan(host(), only=QWEN)["totals"]["moves"] == 1


def test_unknown_selected_model_is_refused_with_the_known_ones() -> None:
    (reason,) = refusals(host(), only="opt,nope")
    assert "modelshelf_only names opt, nope" in reason
    assert "Qwen/Qwen2-7B" in reason


def test_stranger_is_named_and_left_alone() -> None:
    found = plan(host(state={"main": {"current": NEW}, "old-name": {"current": OLD}}))
    assert any("old-name runs qwen-qwen2-7b v1 and is not in the inventory" in notice for notice in found["notices"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("gpu-01", "not a list"),
        ([{"instances": []}], "has no name"),
        ([host(), host()], "there twice: gpu-01"),
        ([{"name": "a", "instances": [{"name": "main"}]}], "a: an instance has no model, version"),
        ([host(cache={"free": -1})], "cache: free is -1"),
        ([host(bandwidth="fast")], "bandwidth is 'fast'"),
        ([host(versions={QWEN: {"v1": "big"}})], "size of qwen-qwen2-7b v1 is 'big'"),
        ([host(devices="many")], "devices is 'many'"),
        ([host(state={"main": {"current": {"model": "opt"}}})], "has no model and version"),
    ],
)
def test_input_that_cannot_be_read_is_named(given: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        rollout_plan(given, shelf=SHELF)


def test_host_that_cannot_be_read_adds_no_reasons_that_are_none() -> None:
    (reason,) = refusals(host("a"), host("b", bandwidth="fast"), minimum=1)
    assert reason.startswith("b: bandwidth is 'fast'")
