# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import (
    NEW,
    host,
    plan,
    refusals,
)


def sizes(tensor: Any = 1, data: Any = 1, **more: Any) -> dict[str, Any]:
    return {"tensor-parallel-size": tensor, "data-parallel-size": data, **more}


@pytest.mark.parametrize(
    ("instance", "needed", "available"),
    [
        ({"args": sizes(4)}, "needs 4 GPUs (tensor 4)", "available are 2 (all that the host has: 0, 1)"),
        ({"args": sizes(2, 2)}, "needs 4 GPUs (tensor 2 x data 2)", "available are 2"),
        ({"args": {"pipeline_parallel_size": "3"}}, "needs 3 GPUs (pipeline 3)", "available are 2"),
        ({"args": sizes(2, **{"prefill-context-parallel-size": 2})}, "needs 4 GPUs", "available are 2"),
        (
            {"args": sizes(2), "environment": {"CUDA_VISIBLE_DEVICES": "0"}},
            "needs 2 GPUs (tensor 2)",
            "available are 1 (it is given 0)",
        ),
        ({"args": sizes(2), "gpus": [1]}, "needs 2 GPUs", "available are 1 (it is given 1)"),
        ({"environment": {"CUDA_VISIBLE_DEVICES": ""}}, "needs 1 GPU (", "available are 0 (it is given none)"),
        ({"args": sizes(2), "environment": {"CUDA_VISIBLE_DEVICES": "0,-1,1"}}, "needs 2 GPUs", "available are 1"),
    ],
)
@pytest.mark.parametrize("devices", [2, "2", [0, 1]])
def test_a26_sizes_beyond_the_gpus(instance: dict[str, Any], needed: str, available: str, devices: Any) -> None:
    (reason,) = refusals(host("gpu-01", instance, devices=devices))
    assert reason.startswith("gpu-01: main: needs")
    assert needed in reason
    assert available in reason


def test_a26_fewer_than_there_are_is_a_notice() -> None:
    found = plan(host("gpu-01", {"args": sizes(1)}, devices=2))
    assert "gpu-01: uses 1 of its 2 GPUs" in found["notices"]


def test_a26_exactly_what_there_is_says_nothing() -> None:
    found = plan(host("gpu-01", {"args": sizes(2), "gpus": [0, 1]}, devices=2))
    assert not any("GPU" in notice for notice in found["notices"])


def test_a26_instance_that_stays_is_not_judged() -> None:
    assert refusals(host("a", {"args": sizes(4)}, state={"main": {"current": NEW}})) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (sizes(1, 4, **{"data-parallel-size-local": 2}), "data-parallel-size 4 with data-parallel-size-local 2"),
        ({"nnodes": 2}, "nnodes 2 spreads"),
        (sizes(1, 2, **{"data-parallel-rank": 0}), "data-parallel-rank makes it a part of a group"),
        (sizes(1, 2, **{"data-parallel-start-rank": 1}), "data-parallel-start-rank"),
    ],
)
@pytest.mark.parametrize("devices", [8, None])
def test_instance_over_several_hosts_is_not_supported(arguments: dict[str, Any], message: str, devices: Any) -> None:
    (reason,) = refusals(host("a", {"args": arguments}, devices=devices))
    assert message in reason
    assert "not supported" in reason


def test_local_size_that_is_the_whole_is_one_host() -> None:
    assert refusals(host("a", {"args": sizes(1, 2, **{"data-parallel-size-local": 2})}, devices=2)) == []


@pytest.mark.parametrize("size", [0, -1, "two", 1.5, True, None])
def test_size_that_is_no_number_is_named(size: Any) -> None:
    (reason,) = refusals(host("a", {"args": sizes(size)}))
    assert "a: main: tensor-parallel-size is" in reason


def test_unknown_devices_are_said_and_named_ones_still_count() -> None:
    found = plan(host("a", {"args": sizes(8)}, devices=None))
    assert any("its GPUs are not known" in notice for notice in found["notices"])
    assert "available are 2" in refusals(host("a", {"args": sizes(4), "gpus": [0, 1]}, devices=None))[0]


@pytest.mark.parametrize("facts", [{"devices": []}, {"devices": 0}, {"devices": None, "cpu": True}])
def test_host_with_processors_needs_no_gpu(facts: dict[str, Any]) -> None:
    assert refusals(host("cpu-01", **facts)) == []


def test_processors_may_have_parallel_sizes_too() -> None:
    assert refusals(host("cpu-01", {"args": sizes(2)}, devices=[], cpu=True)) == []


@pytest.mark.parametrize(
    ("instance", "facts"),
    [({}, {"cpu": False}), ({"args": sizes(2)}, {}), ({"gpus": [0]}, {})],
)
def test_gpu_host_without_its_gpus_is_refused(instance: dict[str, Any], facts: dict[str, Any]) -> None:
    assert len(refusals(host("a", instance, devices=[], **facts))) == 1


@pytest.mark.parametrize(
    ("gpu", "devices"),
    [(1, 1), ("7", [0, 1]), ("GPU-99", ["GPU-1a", "GPU-2b"]), ("GPU-", ["GPU-1a", "GPU-2b"]), (0, 0)],
)
def test_gpu_that_is_not_there_is_named(gpu: Any, devices: Any) -> None:
    (reason,) = refusals(host("a", {"gpus": [gpu]}, devices=devices))
    assert f"the GPU {gpu} is not there" in reason


@pytest.mark.parametrize("gpu", ["GPU-2b", "GPU-2", 1, "MIG-55"])
def test_gpu_by_index_uuid_or_part(gpu: Any) -> None:
    assert refusals(host("a", {"gpus": [gpu]}, devices=["GPU-1a", "GPU-2b"])) == []


def two(first: dict[str, Any], second: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return host("a", first, {"name": "second", **second}, **{"devices": 2, **facts})


@pytest.mark.parametrize(
    ("first", "second", "facts"),
    [
        ({"gpus": [0]}, {"gpus": [0]}, {}),
        ({"gpus": [0]}, {"gpus": ["GPU-1"]}, {"devices": ["GPU-1a", "GPU-2b"]}),
        ({}, {}, {}),
        ({"gpus": [1]}, {"args": sizes(2)}, {}),
        ({"gpus": [0]}, {"gpus": [0]}, {"devices": None}),
        ({"gpus": [0], "args": {"gpu-memory-utilization": "0.2"}}, {"gpus": [0]}, {}),
    ],
)
def test_two_servers_that_want_more_of_a_gpu_than_there_is(first: Any, second: Any, facts: Any) -> None:
    (reason,) = refusals(two(first, second, **facts))
    assert "main" in reason
    assert "second" in reason
    assert "share GPU" in reason
    assert "more than there is" in reason


@pytest.mark.parametrize("arguments", [{"gpu-memory-utilization": 0.5}, {"kv-cache-memory-bytes": "4G"}])
def test_two_servers_may_share_a_gpu_that_is_large_enough(arguments: dict[str, Any]) -> None:
    found = plan(two({"gpus": [0], "args": arguments}, {"gpus": [0], "args": arguments}))
    assert any("share GPU 0" in notice for notice in found["notices"])


def test_servers_that_share_and_stay_are_not_judged() -> None:
    state = {"main": {"current": NEW}, "second": {"current": NEW}}
    assert refusals(two({"gpus": [0]}, {"gpus": [0]}, state=state)) == []
    third = {"name": "third", "gpus": [1]}
    beside = host("a", {"gpus": [0]}, {"name": "second", "gpus": [0]}, third, devices=2, state=state)
    assert plan(beside)["totals"]["moves"] == 1


def test_share_that_is_no_number_is_named() -> None:
    assert "gpu-memory-utilization is 'most'" in refusals(host("a", {"args": {"gpu-memory-utilization": "most"}}))[0]


@given(st.integers(1, 8), st.integers(1, 4), st.integers(1, 4), st.integers(1, 16))
def test_a26_refused_exactly_when_the_product_is_larger(tensor: int, pipeline: int, data: int, there: int) -> None:
    arguments = {"tensor-parallel-size": tensor, "pipeline-parallel-size": pipeline, "data-parallel-size": data}
    reasons = refusals(host("a", {"args": arguments}, devices=there))
    assert bool(reasons) == (tensor * pipeline * data > there)
    if reasons:
        assert f"needs {tensor * pipeline * data} GPUs" in reasons[0]
        assert f"available are {there} " in reasons[0]
