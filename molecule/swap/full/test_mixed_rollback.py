# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollbacks after a swap that failed half-way, and such as cannot work, under load. The tests depend on their order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.fleet import Run, host, play
from tests.support.load import Load
from tests.support.serving import pids
from tests.support.swap import HOSTS, INSTANCE, history, serve, served, variables

BACK = "--tags=rollback"


@pytest.fixture(scope="module", autouse=True)
def half_way(fleet: None) -> None:
    """All serve v2, and v1 before; a swap to v3 reaches gpu1, and fails on gpu2."""
    run = serve("v2", "--tags=publish,serve")
    assert run.status == 0, run.output[-3000:]
    run = serve("v3", "--tags=publish,serve", faults={"gpu2": {"DOUBLE_CRASH": "memory"}})
    assert run.status != 0
    assert served() == {"gpu1": "v3", "gpu2": "v2", "gpu3": "v2", "gpu4": "v2"}


def generation(name: str, version: str) -> int:
    """The newest generation of a host's instance that has the version."""
    found = host(name).check_output(f'grep -l \'"version": "{version}"\' {INSTANCE}/generations/*/release.json')
    return max(int(path.split("/")[-2]) for path in found.splitlines())


def assert_refused(run: Run, before: dict[str, Any], *reasons: str) -> None:
    said = " ".join(run.output.split())
    assert run.status != 0
    for reason in reasons:
        assert reason in said, run.output[-3000:]
    assert pids(*HOSTS) == before


@contextmanager
def without(name: str, path: str) -> Iterator[None]:
    """A file of a host is gone."""
    host(name).check_output(f"mv {path} {path}.away")
    try:
        yield
    finally:
        host(name).check_output(f"mv {path}.away {path}")


def test_generation_that_a_host_has_not_is_refused() -> None:
    before = pids(*HOSTS)
    run = play(variables("v3", rollback_to="99"), BACK)
    assert_refused(run, before, "nothing was stopped", "main on gpu1 has no generation 99", "main on gpu4 has")


def test_generation_that_could_not_serve_is_refused_before_any_host_is_stopped() -> None:
    before, number = pids(*HOSTS), generation("gpu1", "v2")
    with without("gpu1", f"{INSTANCE}/generations/{number}/env"):
        run = play(variables("v3"), BACK)
    assert_refused(run, before, f"generation {number} below {INSTANCE}", "is not complete")


def test_minimum_of_serving_hosts_is_kept() -> None:
    before = pids(*HOSTS)
    run = play(variables("v3", rollout_minimum_serving=4), BACK)
    assert_refused(run, before, "wave 1 changes 1 host (gpu1), and only 3 would serve meanwhile; the minimum is 4")


def test_check_mode_says_what_would_be_done() -> None:
    before = pids(*HOSTS)
    run = play(variables("v3"), BACK, "--check")
    assert run.status == 0, run.output[-3000:]
    assert set(run.changed()) == set(HOSTS)
    assert pids(*HOSTS) == before
    assert history("gpu3")["action"] == "swap"


def test_only_what_was_moved_goes_back(load: Load) -> None:
    before = pids(*HOSTS)
    run = play(variables("v3"), BACK)
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, "v2")
    assert pids(*HOSTS[1:]) == {name: before[name] for name in HOSTS[1:]}
    assert [history(name)["action"] for name in HOSTS] == ["rollback", "hold", "hold", "hold"]
    assert load.failures == []


def test_next_run_moves_nobody_to_the_version_that_was_left(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v3")
    assert run.status == 0, run.output[-3000:]
    assert run.output.count("HELD: main stays with generation") == len(HOSTS)
    assert pids(*HOSTS) == before
    # The first of them has emptied the caches of what the swap that failed had left.
    run = serve("v3")
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert load.failures == []


def test_hold_that_is_lifted_lets_all_go_on(load: Load) -> None:
    run = serve("v3", "--tags=serve", rollout_lift_hold="true")
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, "v3")
    assert load.failures == []


def test_swap_that_moved_nobody_leaves_nothing_to_go_back_from(load: Load) -> None:
    """The canary came back by itself, so all serve what they did before it: a rollback would go one too far."""
    run = serve("v4", "--tags=publish,serve", faults={"gpu1": {"DOUBLE_CRASH": "memory"}})
    assert run.status != 0
    assert served() == dict.fromkeys(HOSTS, "v3")
    before = pids(*HOSTS)
    run = play(variables("v4"), BACK)
    assert_refused(run, before, "main on gpu1 came back by itself from generation", "there is nothing to go back")
    assert load.failures == []
