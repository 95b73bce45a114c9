# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet with its double, as it is before each file of tests, and one load on it for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fleet import play
from tests.support.load import Load
from tests.support.swap import ENDPOINT, serve


@pytest.fixture(scope="session")
def double() -> None:
    """The hosts have the engine's double."""
    installed = play(playbook="molecule/swap/double.yml")
    assert installed.status == 0, installed.output[-3000:]


@pytest.fixture(scope="module", autouse=True)
def fleet(double: None) -> None:
    """All hosts serve v1 as the inventory has it, whatever the file before has left."""
    run = serve("v1")
    assert run.status == 0, run.output[-3000:]


@pytest.fixture(scope="module")
def load(fleet: None) -> Iterator[Load]:
    """Goes on from the first test that asks for it to the end of the file."""
    with Load(ENDPOINT, long_seconds=8) as running:
        yield running
