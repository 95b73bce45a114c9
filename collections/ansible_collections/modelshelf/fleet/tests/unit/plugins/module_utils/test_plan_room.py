# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import (
    GIB,
    NEW,
    OLD,
    QWEN,
    host,
    plan,
    refusals,
)


def room(**cache: Any) -> dict[str, Any]:
    return {"free": 100 * GIB, "total": 200 * GIB, "budget": 50 * GIB, **cache}


def test_budget_for_the_new_alone_is_refused() -> None:
    (reason,) = refusals(host(cache=room(budget=15 * GIB)))
    assert "old and new together need 22.0 GiB" in reason
    assert "the budget of the cache is 15.0 GiB" in reason
    assert f"Raise the budget to {22 * GIB} bytes" in reason


def test_cache_of_a_mount_that_does_not_hold_old_and_new_is_refused() -> None:
    (reason,) = refusals(host(cache=room(mount_budget=21 * GIB)))
    assert "the cache of qwen-qwen2-7b may take 21.0 GiB" in reason
    assert "serves and is to serve needs 22.0 GiB (v1 10.0 GiB + v2 12.0 GiB)" in reason
    assert f"Raise weights_cache_max_size to {22 * GIB} bytes" in reason
    assert refusals(host(cache=room(mount_budget=22 * GIB))) == []


def test_cache_of_a_mount_holds_its_model_alone() -> None:
    state = {"main": {"current": OLD}, "small": {"current": {"model": "opt", "version": "v1"}}}
    two = ({"gpus": [0]}, {"name": "small", "model": "opt", "gpus": [1]})
    given = {"state": state, "devices": 2, "versions": {QWEN: {"v1": 10 * GIB}, "opt": {"v1": GIB}}}
    assert refusals(host("a", *two, **given, cache=room(mount_budget=22 * GIB))) == []


@pytest.mark.parametrize(("budget", "said"), [(200, 0), (201, 1)])
def test_caches_that_may_grow_beyond_the_disk_are_told(budget: int, said: int) -> None:
    notices = plan(host(cache=room(mount_budget=budget * GIB)))["notices"]
    assert sum("its 1 cache may grow to 201.0 GiB" in notice for notice in notices) == said


def test_disk_that_is_too_full_is_refused() -> None:
    (reason,) = refusals(host(cache=room(free=5 * GIB, total=20 * GIB)))
    assert "12.0 GiB are to be fetched" in reason
    assert "5.0 GiB of 20.0 GiB are free: 7.0 GiB too little" in reason


def test_versions_that_nobody_uses_make_room() -> None:
    versions = {QWEN: {"v1": 10 * GIB, "v0": 8 * GIB}, "gone": {"v1": GIB}}
    found = plan(host(versions=versions, cache=room(free=5 * GIB)))
    assert found["hosts"][0]["room"]["remove"] == [
        {"model": QWEN, "version": "v0", "bytes": 8 * GIB},
        {"model": "gone", "version": "v1", "bytes": GIB},
    ]
    assert any("must leave the cache first" in notice for notice in found["notices"])
    assert "and 9.0 GiB in versions that no instance uses" in refusals(host(versions=versions, cache=room(free=0)))[0]


def test_nothing_is_removed_where_there_is_room() -> None:
    assert plan(host(versions={QWEN: {"v1": 10 * GIB, "v0": GIB}}))["hosts"][0]["room"]["remove"] == []


def test_what_another_instance_can_go_back_to_stays() -> None:
    state = {"main": {"current": OLD}, "small": {"current": {"model": "opt", "version": "v1"}}}
    state["small"]["previous"] = {"model": "opt", "version": "v0"}
    versions = {QWEN: {"v1": 10 * GIB}, "opt": {"v1": GIB, "v0": GIB}}
    small = {"name": "small", "model": "opt", "gpus": [1]}
    found = plan(host("a", {"gpus": [0]}, small, devices=2, state=state, versions=versions, cache=room(free=12 * GIB)))
    assert found["hosts"][0]["room"]["keep_bytes"] == 24 * GIB
    assert found["hosts"][0]["room"]["remove"] == []


def test_held_version_and_strangers_stay() -> None:
    state = {"main": {"current": NEW}, "old": {"current": OLD}}
    state["main"]["reasons"] = ["argument"]
    found = plan(host(state=state, versions={QWEN: {"v1": 10 * GIB}}, cache=room(free=12 * GIB)))
    assert found["hosts"][0]["room"]["keep_bytes"] == 22 * GIB


def test_unknown_room_is_said() -> None:
    found = plan(host(cache={}))
    assert "gpu-01: the free room for 12.0 GiB is not known and was not checked" in found["notices"]


def test_unknown_size_of_the_old_is_said() -> None:
    state = {"main": {"current": {"model": QWEN, "version": "v0"}}}
    found = plan(host(state=state))
    assert any(f"the size of {QWEN} v0 is not known" in notice for notice in found["notices"])


@pytest.mark.parametrize("free", [12 * GIB, 13 * GIB])
def test_room_that_just_suffices(free: int) -> None:
    assert refusals(host(cache=room(free=free, budget=22 * GIB))) == []


@given(st.integers(0, 30 * GIB), st.integers(1, 40 * GIB), st.integers(0, 12 * GIB), st.integers(0, 5 * GIB))
def test_refused_exactly_when_it_does_not_fit(free: int, budget: int, there: int, unused: int) -> None:
    versions = {QWEN: {"v1": 10 * GIB, "v2": there, "v0": unused}}
    reasons = refusals(host(versions=versions, cache=room(free=free, budget=budget)))
    assert len(reasons) == (budget < 22 * GIB) + (12 * GIB - there > free + unused)


def test_version_that_left_the_shelf_is_still_there_to_go_back_to() -> None:
    back = host(state={"main": {"current": NEW, "wanted": {"version": "v1"}}})
    found = plan(back, shelf={QWEN: {"v2": 12 * GIB}})
    assert found["totals"]["fetch_bytes"] == 0
    assert f"gpu-01: {QWEN} v1 is not on the shelf any more; the host has it" in found["notices"]


def test_host_that_keeps_no_copy_needs_no_room() -> None:
    found = plan(host("gpu-01", cache=None), host("gpu-02", cache=None))
    assert (
        "the mounts of gpu-01, gpu-02 keep no copy: their bytes are read from the store while servers start, not before"
        in found["notices"]
    )
    assert not [notice for notice in found["notices"] if "free room" in notice]
