# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Hold, Journal, JournalError, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import FAILED, REVERTED, SERVED
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap_states import (
    ABANDONED,
    begun,
    ended,
    held,
    lifted,
    reached,
    taken_over,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.swap_parts import with_versions

MOVE = Move(run="r1", who="ops", action="swap", before=3, to=4, previous=None, step="begun", began=0.0)


def a_move(**changes: Any) -> Move:
    return Move(**{**MOVE.__dict__, **changes})


@pytest.fixture
def main(tmp_path: Path) -> Instance:
    return with_versions(tmp_path)


@pytest.fixture
def journal(main: Instance) -> Journal:
    return Journal(main.path)


def move_to(main: Instance, journal: Journal, step: str, **changes: Any) -> None:
    begun(main, a_move(**changes), named=False, check_mode=False)
    journal.reach(changes.get("run", "r1"), step, "too big")


def test_begun_once_and_again_by_the_same_run(main: Instance, journal: Journal) -> None:
    assert begun(main, MOVE, named=False, check_mode=True)["changed"] is True
    assert journal.move() is None
    assert begun(main, MOVE, named=False, check_mode=False)["changed"] is True
    assert begun(main, MOVE, named=False, check_mode=False)["changed"] is False
    assert journal.move() == MOVE


@pytest.mark.parametrize("check_mode", [True, False])
def test_second_controller_is_told_to_wait(main: Instance, check_mode: bool) -> None:
    begun(main, MOVE, named=False, check_mode=False)
    with pytest.raises(JournalError, match=r"that ops began at .* has not ended. Wait for it"):
        begun(main, a_move(run="r2"), named=False, check_mode=check_mode)


def test_generation_that_is_not_there_is_refused(main: Instance) -> None:
    with pytest.raises(
        GenerationError, match=r"no generation 9 .* there are 2 \(qwen v1\), 3 \(qwen v2\), 4 \(qwen v3\)"
    ):
        begun(main, a_move(to=9), named=False, check_mode=False)
    assert begun(main, a_move(to=9), named=False, check_mode=True)["changed"] is True


def test_rollback_holds_and_a_second_one_is_refused_with_the_generations(main: Instance, journal: Journal) -> None:
    move_to(main, journal, SERVED, action="rollback", before=4, to=3)
    report = ended(main, "r1")
    assert (report["result"], report["line"]["action"]) == (SERVED, "rollback")
    hold = journal.hold()
    assert hold
    assert (hold.model, hold.version, hold.generation, hold.who) == ("qwen", "v3", 4, "ops")
    for check_mode in (True, False):
        with pytest.raises(
            JournalError, match=r"left generation 4 \(qwen v3\) already.* rollback_to; there are 2 \(qwen v1\)"
        ):
            begun(main, a_move(action="rollback", before=3, to=4), named=False, check_mode=check_mode)


def test_a_named_rollback_goes_further_back_and_holds_the_same_version(main: Instance, journal: Journal) -> None:
    move_to(main, journal, SERVED, action="rollback", before=4, to=3)
    ended(main, "r1")
    begun(main, a_move(action="rollback", before=3, to=2), named=True, check_mode=False)
    journal.reach("r1", SERVED)
    ended(main, "r1")
    hold = journal.hold()
    assert hold
    assert hold.version == "v3"


def test_a_mere_restart_lifts_no_hold(main: Instance, journal: Journal) -> None:
    move_to(main, journal, SERVED, action="rollback", before=4, to=3)
    ended(main, "r1")
    move_to(main, journal, SERVED, before=3, to=3)
    ended(main, "r1")
    assert journal.hold()


def test_a_rollback_that_another_run_ends_holds_too(main: Instance, journal: Journal) -> None:
    move_to(main, journal, SERVED, action="rollback", before=4, to=3)
    journal.take_over("r2", "night")
    assert ended(main, "r2")["line"]["action"] == "recover"
    hold = journal.hold()
    assert hold
    assert (hold.generation, hold.who) == (4, "night")


@pytest.mark.parametrize(("step", "stays"), [(SERVED, False), (REVERTED, True), (FAILED, True), ("drained", True)])
def test_a_swap_that_serves_lifts_the_hold(main: Instance, journal: Journal, step: str, stays: bool) -> None:
    move_to(main, journal, SERVED, action="rollback", before=4, to=3)
    ended(main, "r1")
    move_to(main, journal, step, before=3, to=2)
    report = ended(main, "r1")
    assert report["result"] == (ABANDONED if step == "drained" else step)
    assert isinstance(journal.hold(), Hold) is stays


def test_a_crash_at_the_end_of_a_swap_leaves_no_hold(
    main: Instance, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_to(main, journal, SERVED, action="rollback", before=4, to=3)
    ended(main, "r1")
    move_to(main, journal, SERVED, before=3, to=2)
    with monkeypatch.context() as crash:
        crash.setattr(Journal, "_append", lambda self, line: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ended(main, "r1")
    assert ended(main, "r1")["result"] == SERVED
    assert (journal.hold(), journal.move()) == (None, None)


def test_an_instance_is_held_back_from_what_it_does_not_serve_yet(main: Instance, journal: Journal) -> None:
    rollback = a_move(action="rollback", to=2, inventory_commit="c0ffee")
    assert held(main, rollback, "qwen", "v3", check_mode=True) == {"changed": True}
    assert (journal.hold(), journal.history()) == (None, [])
    assert held(main, rollback, "qwen", "v3", check_mode=False) == {"changed": True}
    hold, line = journal.hold(), journal.history()[-1]
    assert hold and (hold.model, hold.version, hold.generation, hold.who) == ("qwen", "v3", 4, "ops")
    assert {key: line[key] for key in ("who", "action", "from", "to", "result", "inventory_commit")} == {
        "who": "ops", "action": "hold", "from": 3, "to": 3, "result": "held", "inventory_commit": "c0ffee",
    }  # fmt: skip
    assert held(main, rollback, "qwen", "v3", check_mode=False) == {"changed": False}
    assert len(journal.history()) == 1
    assert held(main, rollback, "qwen", "v9", check_mode=False) == {"changed": True}
    begun(main, a_move(run="another"), named=False, check_mode=False)
    with pytest.raises(JournalError, match="has not ended"):
        held(main, rollback, "qwen", "v8", check_mode=False)


def test_nothing_is_held_back_before_the_first_generation(main: Instance) -> None:
    with pytest.raises(GenerationError, match="no current generation"):
        held(main, a_move(before=None), "qwen", "v3", check_mode=False)


def test_what_is_in_the_middle_is_not_ended(main: Instance, journal: Journal) -> None:
    for step in ("stop", "gate", "revert-start"):
        move_to(main, journal, step)
        with pytest.raises(JournalError, match=rf"\(step {step}\) is in the middle"):
            ended(main, "r1")
    assert journal.history() == []


def test_steps_of_the_controller_never_go_back(main: Instance, journal: Journal) -> None:
    begun(main, MOVE, named=False, check_mode=False)
    assert reached(main, "r1", "drained")["changed"] is True
    assert reached(main, "r1", "drained")["changed"] is False
    journal.reach("r1", "gate")
    assert reached(main, "r1", "drained")["move"]["step"] == "gate"


def test_a_move_is_taken_over_once(main: Instance, journal: Journal) -> None:
    assert taken_over(main, "r2", "night", check_mode=False) == {"changed": False, "move": None}
    begun(main, MOVE, named=False, check_mode=False)
    assert taken_over(main, "r2", "night", check_mode=True)["changed"] is True
    assert journal.own("r1")
    assert taken_over(main, "r2", "night", check_mode=False)["move"]["who"] == "night"
    assert taken_over(main, "r2", "night", check_mode=False)["changed"] is False


def test_a_hold_is_lifted_when_told(main: Instance, journal: Journal) -> None:
    move_to(main, journal, SERVED, action="rollback", before=4, to=3)
    ended(main, "r1")
    assert [lifted(main, check_mode=check)["changed"] for check in (True, False, True, False)] == [
        True,
        True,
        False,
        False,
    ]


def test_an_instance_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert lifted(Instance(str(tmp_path), "other"), check_mode=False) == {"changed": False}
