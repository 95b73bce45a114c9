# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import (
    NEW,
    OLD,
    QWEN,
    fleet,
    host,
    plan,
    refusals,
)

OPT = {"model": "opt"}


@pytest.mark.parametrize(
    ("serial", "canary", "sizes"),
    [
        (1, True, [1, 1, 1, 1]),
        ("2", True, [1, 2, 1]),
        ("2", False, [2, 2]),
        ("50%", "no", [2, 2]),
        ("50%", True, [1, 2, 1]),
        ('[1, "50%"]', True, [1, 2, 1]),
        (["100%"], False, [4]),
        (["100%"], True, [1, 3]),
    ],
)
def test_a33_waves_of_four_hosts(serial: Any, canary: Any, sizes: list[int]) -> None:
    found = plan(*fleet(4), serial=serial, canary=canary)
    assert found["serial"] == [len(wave) for wave in found["waves"]] == sizes
    assert [name for wave in found["waves"] for name in wave] == ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]


def test_a33_run_after_a_failure_begins_with_the_first_that_is_not_done() -> None:
    hosts = fleet(4)
    hosts[0]["state"] = {"main": {"current": NEW}}
    assert plan(*hosts, serial=2)["waves"] == [["gpu-02"], ["gpu-03", "gpu-04"]]


@pytest.mark.parametrize(
    ("serial", "message"), [(0, "serial has 0"), ("-1", "serial has -1"), ("120%", "serial has 120%")]
)
def test_a33_serial_that_cannot_be_used(serial: Any, message: str) -> None:
    (reason,) = refusals(*fleet(2), serial=serial)
    assert message in reason


def test_wave_that_is_too_large_is_refused_with_the_largest_that_works() -> None:
    (reason,) = refusals(*fleet(8), serial="50%", minimum=6)
    assert reason.startswith(
        "wave 2 changes 4 hosts (gpu-02, gpu-03, gpu-04, gpu-05), and only 4 would serve meanwhile"
    )
    assert "the minimum is 6. The largest wave that works is 2: set serial to 2 at most" in reason
    assert refusals(*fleet(8), serial=2, minimum="6") == []


def test_minimum_that_no_wave_keeps() -> None:
    (reason,) = refusals(*fleet(3), serial=1, minimum=3)
    assert "only 2 would serve meanwhile; the minimum is 3" in reason
    assert "No wave size keeps it: 3 of 3 hosts serve now. Lower the minimum or add hosts" in reason


def test_hosts_that_stay_count_for_the_minimum() -> None:
    hosts = [*fleet(2), *(host(f"done-{number}", state={"main": {"current": NEW}}) for number in range(3))]
    assert refusals(*hosts, serial="100%", canary=False, minimum=3) == []
    assert len(refusals(*hosts, serial="100%", canary=False, minimum=4)) == 1


def test_first_deployment_has_no_minimum_to_keep() -> None:
    assert refusals(*fleet(3, state={}), serial="100%", minimum=3) == []
    assert plan(*fleet(3, state={}), serial="100%")["notices"] == []


def test_stopped_instance_takes_nothing_away() -> None:
    hosts = fleet(2)
    hosts[0]["state"] = {"main": {"current": OLD, "serving": False, "reasons": ["stopped"]}}
    (reason,) = refusals(*hosts, minimum=2)
    assert "wave 2 changes 1 host (gpu-02), and only 1 would serve" in reason
    assert refusals(*hosts, minimum=1) == []


def test_minimum_of_each_model() -> None:
    small = {"main": {"current": {"model": "opt", "version": "v0"}}}
    hosts = [*fleet(3), *(host(f"small-{number}", OPT, state=small) for number in range(2))]
    assert refusals(*hosts, minimum={"Qwen/Qwen2-7B": 2, "opt": 1}, serial=1) == []
    (reason,) = refusals(*hosts, minimum={"Qwen/Qwen2-7B": 2, "opt": 1}, serial=[1, 2, 1])
    assert "only 1 would serve qwen-qwen2-7b meanwhile; the minimum is 2" in reason
    assert (
        "names nope, which no instance serves. They serve: opt, qwen-qwen2-7b"
        in refusals(*hosts, minimum={"nope": 1})[0]
    )


@pytest.mark.parametrize("minimum", ["two", -1, [1], {"opt": "x"}])
def test_minimum_that_is_no_number_is_refused(minimum: Any) -> None:
    (reason,) = refusals(host("a", OPT), minimum=minimum)
    assert "the minimum of serving hosts" in reason


def test_model_that_nobody_serves_meanwhile_is_said() -> None:
    small = {"main": {"current": {"model": "opt", "version": "v0"}}}
    found = plan(*fleet(2), host("small-1", OPT, state=small), serial=1)
    assert [notice for notice in found["notices"] if "no host serves" in notice] == [
        "no host serves opt while wave 3 (small-1) changes"
    ]
    assert QWEN not in str(found["notices"])


@pytest.mark.parametrize(("serving", "reasons"), [(True, 0), (False, 1)])
def test_instance_that_stays_beside_one_that_moves_goes_on_serving(serving: bool, reasons: int) -> None:
    there = {"current": {"model": "opt", "version": "v1"}, "serving": serving}
    both = [({"gpus": [0]}, {**OPT, "name": "small", "gpus": [1]})] * 2
    state = {"main": {"current": OLD}, "small": there}
    hosts = [host(f"both-{number}", *given, devices=2, state=state) for number, given in enumerate(both)]
    last = host("last", OPT, state={"main": {"current": {"model": "opt", "version": "v0"}}})
    assert len(refusals(*hosts, last, minimum={"opt": 2})) == reasons


def test_hosts_outside_of_the_limit_count_for_the_minimum() -> None:
    outside = {"gpu-07": [{"name": "main", "model": "Qwen/Qwen2-7B", "port": 8000}]}
    assert refusals(host(), minimum=1, outside=outside) == []
    (reason,) = refusals(host(), minimum=2, outside=outside)
    assert "only 1 would serve meanwhile; the minimum is 2" in reason
    assert refusals(host(), minimum=1, outside={"gpu-07": []}) != []
    text = "outside of the limit, and not counted, since they do not answer or another run moves them: gpu-07"
    assert text in plan(host(), outside={"gpu-07": []})["notices"]
    (notice,) = plan(host(), outside=outside)["notices"]
    assert notice == "outside of the limit, not planned, and taken to serve what the inventory says: gpu-07"


def test_host_that_did_not_answer_counts_as_not_serving() -> None:
    (reason,) = refusals(*fleet(2), minimum=2, failed=["gpu-09"])
    assert "No wave size keeps it: 2 of 3 hosts serve now" in reason
