# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._rollout_plan import PlanError, rollout_plan
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import (
    GIB,
    NEW,
    QWEN,
    fleet,
    host,
    plan,
    refusals,
)


def test_plan_of_one_host_in_full() -> None:
    assert plan(host()) == {
        "hosts": [
            {
                "name": "gpu-01",
                "fetch": [{"model": QWEN, "version": "v2", "bytes": 12 * GIB}],
                "fetch_bytes": 12 * GIB,
                "room": {
                    "keep": [
                        {"model": QWEN, "version": "v1", "bytes": 10 * GIB},
                        {"model": QWEN, "version": "v2", "bytes": 12 * GIB},
                    ],
                    "keep_bytes": 22 * GIB,
                    "remove": [],
                    "free_bytes": 100 * GIB,
                    "total_bytes": 200 * GIB,
                    "budget_bytes": 50 * GIB,
                },
                "moves": [
                    {
                        "instance": "main",
                        "model": "Qwen/Qwen2-7B",
                        "from": {"generation": 4, "model": QWEN, "version": "v1", "digest": "sha256:1"},
                        "to": {"model": QWEN, "version": "v2", "digest": "sha256:2"},
                        "reasons": ["version"],
                        "serving": True,
                    }
                ],
                "held": [],
                "skipped": [],
            }
        ],
        "failed": [],
        "waves": [["gpu-01"]],
        "serial": [1],
        "predictions": [
            {"fetch_bytes": 12 * GIB, "stage_seconds": 12.0, "limited_by": "network", "swap_seconds": 60.0}
        ],
        "totals": {
            "hosts": 1,
            "moves": 1,
            "held": 0,
            "fetch_bytes": 12 * GIB,
            "stage_seconds": 12.0,
            "swap_seconds": 60.0,
            "seconds": 72.0,
        },
        "notices": [f"no host serves {QWEN} while wave 1 (gpu-01) changes"],
        "refusals": [],
    }


def test_version_for_two_instances_is_fetched_once() -> None:
    found = plan(host("a", {"gpus": [0]}, {"name": "second", "gpus": [1]}, devices=2))
    assert found["totals"]["fetch_bytes"] == 12 * GIB
    assert [move["reasons"] for move in found["hosts"][0]["moves"]] == [["version"], ["new"]]
    assert found["predictions"][0]["swap_seconds"] == 120.0


def test_of_a_version_that_is_there_in_part_the_rest_is_fetched() -> None:
    (found,) = plan(host(versions={QWEN: {"v1": 10 * GIB, "v2": 9 * GIB}}))["hosts"]
    assert found["fetch_bytes"] == 3 * GIB
    assert found["room"]["keep_bytes"] == 22 * GIB


def test_store_is_shared_by_the_hosts_of_a_wave() -> None:
    found = plan(*fleet(5), serial=[1, 4])
    assert found["serial"] == [1, 4]
    assert [(one["stage_seconds"], one["limited_by"]) for one in found["predictions"]] == [
        (12.0, "network"),
        (24.0, "store"),
    ]
    assert found["totals"]["seconds"] == 12 + 24 + 2 * 60


@pytest.mark.parametrize(
    ("facts", "options", "missing"),
    [
        ({"bandwidth": None}, {}, "network of gpu-01"),
        ({}, {"store_bandwidth": None}, "bandwidth of the store"),
        ({"bandwidth": ""}, {"store_bandwidth": ""}, "the store and of the network of gpu-01"),
    ],
)
def test_unknown_bandwidth_predicts_nothing(facts: dict[str, Any], options: dict[str, Any], missing: str) -> None:
    found = plan(host(**facts), **options)
    assert found["predictions"][0]["stage_seconds"] is None
    assert (found["totals"]["stage_seconds"], found["totals"]["seconds"]) == (None, None)
    assert found["totals"]["swap_seconds"] == 60.0
    assert any(missing in notice and "12.0 GiB" in notice for notice in found["notices"])


def test_nothing_to_fetch_takes_no_time_whatever_the_bandwidth() -> None:
    rollback = host(state={"main": {"current": NEW, "wanted": {"version": "v1"}}}, bandwidth=None)
    found = plan(rollback, store_bandwidth=None, shelf=None)
    assert found["totals"]["fetch_bytes"] == 0
    assert found["totals"]["seconds"] == 60.0


def test_unknown_time_of_a_move_predicts_no_swap() -> None:
    found = plan(host(), move_seconds=None)
    assert found["totals"]["swap_seconds"] is None
    assert any("time of one move is not known" in notice for notice in found["notices"])


def test_hosts_that_are_done_are_skipped_and_in_no_wave() -> None:
    done = host("gpu-01", state={"main": {"current": NEW}})
    found = plan(done, *fleet(3)[1:], serial="50%")
    assert found["waves"] == [["gpu-02"], ["gpu-03"]]
    assert found["hosts"][0]["skipped"][0]["why"] == "done"
    assert found["hosts"][0]["fetch_bytes"] == 0


def test_nothing_to_do() -> None:
    found = plan(host(state={"main": {"current": NEW}}))
    assert (found["waves"], found["serial"], found["predictions"]) == ([], [], [])
    assert found["totals"]["seconds"] == 0
    assert found["notices"] == []


def test_argument_moves_without_bytes() -> None:
    found = plan(host(state={"main": {"current": NEW, "reasons": ["argument"]}}, versions={QWEN: {"v2": 12 * GIB}}))
    assert found["hosts"][0]["moves"][0]["reasons"] == ["argument"]
    assert found["totals"]["fetch_bytes"] == 0


def test_version_that_is_not_on_the_shelf() -> None:
    (reason,) = refusals(host(), shelf={QWEN: {"v1": 1, "v0": 1}})
    assert reason.startswith("gpu-01: main wants version v2 of Qwen/Qwen2-7B, which is not on the shelf")
    assert "choose one of: v1, v0" in reason
    assert "no version of this model" in refusals(host(), shelf={})[0]
    assert "the store was not asked" in refusals(host(), shelf=None)[0]


def test_weights_on_a_nas_need_neither_shelf_nor_room() -> None:
    found = plan(host("a", {"model": "on-nas"}, cache=None, state={}))
    assert found["hosts"][0]["fetch"] == found["hosts"][0]["room"]["keep"] == []


def test_streamed_weights_are_not_staged() -> None:
    found = plan(host("a", {"model": "streamed"}, cache=None, state={}))
    assert found["totals"]["fetch_bytes"] == 0
    assert any("streams streamed v2 from the store" in notice for notice in found["notices"])


@pytest.mark.parametrize("nobody", [[], None, [{"name": "gpu-01", "instances": []}]])
def test_a33_empty_fleet_is_refused(nobody: Any) -> None:
    with pytest.raises(PlanError, match=r"gpu has .*nothing can be planned"):
        rollout_plan(nobody, group="gpu")


def test_every_reason_at_once() -> None:
    two = host("gpu-02", {"args": {"tensor-parallel-size": 4}}, cache={"free": GIB, "budget": 15 * GIB})
    reasons = refusals(host(), two, serial=0, minimum=5, move_seconds="soon")
    assert len(reasons) == 6
    assert sum(reason.startswith("gpu-02: ") for reason in reasons) == 3
    with pytest.raises(PlanError, match=r"nothing was stopped:\n- .*\n- "):
        plan(host(), two, minimum=5)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 12 * GIB), st.booleans())
def test_bytes_and_seconds_add_up(count: int, serial: int, there: int, canary: bool) -> None:
    found = plan(*fleet(count, versions={QWEN: {"v1": 10 * GIB, "v2": there}}), serial=serial, canary=canary)
    assert found["totals"]["fetch_bytes"] == count * (12 * GIB - there)
    assert found["totals"]["fetch_bytes"] == sum(one["fetch_bytes"] for one in found["predictions"])
    assert sum(found["serial"]) == count
    for one, wave in zip(found["predictions"], found["waves"]):
        assert one["stage_seconds"] == max(len(wave) * (12 * GIB - there) / (2 * GIB), (12 * GIB - there) / GIB)
    assert found["totals"]["seconds"] == found["totals"]["stage_seconds"] + found["totals"]["swap_seconds"]


def test_reasons_can_be_a_part_of_the_plan() -> None:
    found = plan(host(), shelf={QWEN: {"v1": 1}}, minimum=1, refuse=False)
    assert found["refusals"] == refusals(host(), shelf={QWEN: {"v1": 1}}, minimum=1)
    assert len(found["refusals"]) == 2
    assert found["waves"] == [["gpu-01"]]
