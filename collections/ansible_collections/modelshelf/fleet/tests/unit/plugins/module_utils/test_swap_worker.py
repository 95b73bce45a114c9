# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The process that carries a move out on its host: started once, joined, or said to have died."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, JournalError, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import REVERTED, SERVED
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap_states import moved, taken_over, worker_command
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import ABSENT, Host, show
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.swap_parts import with_versions

LIBRARY = "/usr/local/lib/modelshelf.zip"


@pytest.fixture
def main(tmp_path: Path) -> Instance:
    return with_versions(tmp_path)


@pytest.fixture
def journal(main: Instance) -> Journal:
    return Journal(main.path)


def begin(journal: Journal, step: str = "begun", run: str = "r1") -> None:
    move = Move(run=run, who="ops", action="swap", before=3, to=4, previous=None, step=step, began=0.0)
    journal.begin(move)


def waiting(states: Sequence[str], log: str = "") -> Systemd:
    return Systemd(Host(states, log).run)


def test_the_host_is_asked_once_and_waited_for(main: Instance, journal: Journal) -> None:
    begin(journal)
    started: list[list[str]] = []

    def start(command: Sequence[str]) -> None:
        started.append(list(command))
        journal.reach("r1", REVERTED, "too big")

    report = moved(main, "r1", start, waiting([ABSENT, show(), ABSENT]), back=False, library=LIBRARY)
    assert (report["changed"], report["move"]["step"], report["move"]["cause"]) == (True, REVERTED, "too big")
    assert started == [worker_command(main, "r1", back=False, library=LIBRARY)]
    again = moved(main, "r1", start, waiting([ABSENT]), back=False, library=LIBRARY)
    assert (again["changed"], again["move"]["step"]) == (False, REVERTED)
    assert len(started) == 1


def test_a_move_that_goes_on_is_joined(main: Instance, journal: Journal) -> None:
    begin(journal, "gate")
    states = iter([show(), show(), ABSENT])

    def run(command: Sequence[str]) -> str:
        state = next(states)
        if state == ABSENT:
            journal.reach("r1", SERVED)
        return state

    report = moved(main, "r1", pytest.fail, Systemd(run), back=False, library=LIBRARY)
    assert (report["changed"], report["move"]["step"]) == (True, SERVED)


def test_a_move_goes_on_where_the_process_of_the_run_that_is_gone_leaves_it(main: Instance, journal: Journal) -> None:
    begin(journal, "gate", run="r0")
    taken_over(main, "r1", "ops", check_mode=False)
    started: list[list[str]] = []

    def start(command: Sequence[str]) -> None:
        started.append(list(command))
        journal.reach("r1", SERVED)

    report = moved(main, "r1", start, waiting([show(), ABSENT, show(), ABSENT]), back=False, library=LIBRARY)
    assert (report["changed"], report["move"]["step"]) == (True, SERVED)
    assert started == [worker_command(main, "r1", back=False, library=LIBRARY)]


def test_a_process_that_dies_is_said_with_its_last_words(main: Instance, journal: Journal) -> None:
    begin(journal)
    with pytest.raises(JournalError, match=r"modelshelf-swap@main.service ended at the step begun: No such file. Run"):
        moved(main, "r1", lambda command: None, waiting([ABSENT], "No such file"), back=False, library=LIBRARY)


def test_the_worker_gets_no_secret_and_no_shell(main: Instance) -> None:
    command = worker_command(main, "r1", back=True, library=LIBRARY)
    assert command[0] == "systemd-run"
    assert command[-4:] == [str(main.path.parent), "main", "r1", "--back"]
    assert f"--setenv=PYTHONPATH={LIBRARY}" in command
