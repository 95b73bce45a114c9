# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four hosts move to another version under load: first one that does not start on the canary, then as it should be.

The tests depend on their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.support.fleet import Run
from tests.support.load import Load
from tests.support.swap import ENDPOINT, HOSTS, Logged, across, history, logged, now, serve, served

TAGS = "--tags=publish,serve"
STREAM_SECONDS = 10.0
REQUESTS = 2000


@dataclass(frozen=True)
class Swapped:
    """A run under load, and what became of the load's requests."""

    run: Run
    load: Load
    requests: list[Logged]


@pytest.fixture(scope="module")
def broken() -> Run:
    """The new version finds no memory on gpu1, the first host."""
    return serve("v2", TAGS, faults={"gpu1": {"DOUBLE_CRASH": "memory"}})


@pytest.fixture(scope="module")
def swapped(broken: Run) -> Swapped:
    since = now()
    with Load(ENDPOINT, long_seconds=STREAM_SECONDS) as load:
        run = serve("v2", TAGS)
        load.reach(REQUESTS)
    return Swapped(run, load, logged(since))


def test_version_that_does_not_start_on_the_first_host_reaches_no_other(broken: Run) -> None:
    said = " ".join(broken.output.split())
    assert broken.status != 0
    assert broken.recap["gpu1"]["failed"] == 1
    assert "Free memory on device" in said
    assert "The generation before serves again" in said
    assert history("gpu1")["result"] == "reverted"
    assert served() == dict.fromkeys(HOSTS, "v1")


def test_swap_under_load_fails_no_request(swapped: Swapped) -> None:
    assert swapped.run.status == 0, swapped.run.output[-3000:]
    assert swapped.load.failures == []
    assert set(swapped.load.versions) == {"v1", "v2"}
    assert swapped.load.requests >= REQUESTS
    assert all(request.whole for request in swapped.requests)
    assert served() == dict.fromkeys(HOSTS, "v2")


@pytest.mark.parametrize("name", HOSTS)
def test_stream_goes_on_to_its_end_while_its_host_drains(swapped: Swapped, name: str) -> None:
    assert across(swapped.requests, name) > STREAM_SECONDS * 0.9
    assert history(name)["result"] == "served"
