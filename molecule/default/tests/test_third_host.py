# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that is added to the inventory serves after one run of site.yml, and the others do not notice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.settings import CHECKOUT
from tests.support.fleet import SERVING, Run, host, play
from tests.support.serving import BROWN, MOUNT, MOUNTPOINT, SERVER, complete, pids, reloads, root

State = tuple[dict[str, tuple[int, int]], list[int]]
ADDED = CHECKOUT / "molecule" / "third-host"


@pytest.fixture(scope="module")
def before() -> State:
    return state()


@pytest.fixture(scope="module")
def added(before: State) -> Iterator[Run]:
    yield play(inventories=[ADDED])
    host("gpu3").run(f"systemctl disable --now {SERVER} {MOUNT}")


def test_third_host_serves_with_no_other_step(added: Run) -> None:
    assert added.status == 0, added.output[-2000:]
    assert complete("gpu3") == BROWN
    assert root("gpu3") == f"{MOUNTPOINT}/v1"


def test_a25_nothing_else_was_changed_restarted_or_reloaded(added: Run, before: State) -> None:
    assert list(added.changed()) == ["gpu3"]
    assert {"store1", "localhost", *SERVING} <= added.recap.keys()
    assert state() == before


def state() -> State:
    """The processes that serve, and how often systemd read its units."""
    return pids(*SERVING), [reloads(name) for name in SERVING]
