# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every test of the fleet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.settings import CHECKOUT
from tests.support.fleet import RESULTS, RUNS, Run

JUDGED: list[Run] = []


@pytest.fixture(autouse=True)
def no_deprecation(request: pytest.FixtureRequest) -> Iterator[None]:
    """No run of Ansible in any test says that something is deprecated. What the runs said is kept for a look later."""
    yield
    RESULTS.mkdir(exist_ok=True)
    for run in RUNS[len(JUDGED) :]:
        JUDGED.append(run)
        name = f"run-{request.path.parent.parent.name}-{len(JUDGED):02}-{request.node.name[:60].replace('/', '_')}.log"
        (RESULTS / name).write_text(run.output)
        assert "DEPRECATION" not in run.output, run.output[run.output.index("DEPRECATION") :][:500]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Molecule runs the tests in the folder of the scenario."""
    monkeypatch.chdir(CHECKOUT)
