# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All hosts go back to the version before while the store is down, under load. The tests depend on their order."""

from __future__ import annotations

import pytest

from tests.support.faults import lost, stopped_store
from tests.support.fleet import host, play
from tests.support.load import Load
from tests.support.serving import pids
from tests.support.swap import HOSTS, INSTANCE, history, is_drained, serve, served, variables


@pytest.fixture(scope="module", autouse=True)
def new_version(fleet: None) -> None:
    run = serve("v2", "--tags=publish,serve")
    assert run.status == 0, run.output[-3000:]


def test_rollback_without_a_store_fails_no_request(load: Load) -> None:
    with stopped_store():
        run = serve("v2", "--tags=rollback")
        assert run.status == 0, run.output[-3000:]
        assert served() == dict.fromkeys(HOSTS, "v1")
    assert load.failures == []
    assert set(load.versions) == {"v1", "v2"}
    assert {history(name)["action"] for name in HOSTS} == {"rollback"}


def test_next_run_holds_the_version_that_was_left_and_says_so(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v2", "--tags=publish,serve")
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert run.output.count("HELD: main stays with generation") == len(HOSTS)
    assert pids(*HOSTS) == before
    assert served() == dict.fromkeys(HOSTS, "v1")
    assert load.failures == []


def test_hold_ends_when_the_inventory_names_the_version_that_serves(load: Load) -> None:
    """It is staged again, and the hold is lifted."""
    before = pids(*HOSTS)
    run = serve("v1", "--tags=serve")
    assert (run.status, run.changed()) == (0, dict.fromkeys(HOSTS, 2)), run.output[-3000:]
    assert pids(*HOSTS) == before
    assert load.failures == []


def test_host_that_is_lost_in_a_rollback_stops_the_waves_after_it(load: Load) -> None:
    """It is lost when it has been drained, and ended by the next rollback, which moves nobody twice."""
    run = serve("v2", "--tags=serve")
    assert run.status == 0, run.output[-3000:]
    later = pids("gpu2", "gpu3", "gpu4")
    with lost("gpu2", f"""grep -qs '"step": "drained"' {INSTANCE}/journal.json"""):
        run = serve("v2", "--tags=rollback")
    assert run.status != 0
    assert served() == {"gpu1": "v1", "gpu2": "v2", "gpu3": "v2", "gpu4": "v2"}
    assert pids("gpu2", "gpu3", "gpu4") == later
    first = pids("gpu1")
    run = serve("v2", "--tags=rollback")
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, "v1")
    assert pids("gpu1") == first
    assert not any(map(is_drained, HOSTS))
    assert load.failures == []


def test_generation_that_serves_already_is_gone_back_to_by_nobody(load: Load) -> None:
    before = pids(*HOSTS)
    number = host("gpu1").check_output(f"basename $(readlink {INSTANCE}/current)").strip()
    run = play(variables("v2", rollback_to=number), "--tags=rollback", "--limit=gpu1")
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert f"gpu1 serves generation {number} already: nothing is stopped" in " ".join(run.output.split())
    assert pids(*HOSTS) == before
    assert load.failures == []
