# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Hold, Journal, JournalError, Move

MOVE = Move(run="r1", who="ops@desk", action="swap", before=3, to=4, previous=2, step="begun", began=1_800_000_000.0)
HOLD = Hold(model="tiny", version="v2", generation=4, who="ops@desk", time="2027-01-15T08:00:30Z")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


def test_move_is_read_back_at_every_step(journal: Journal) -> None:
    assert journal.move() is None
    journal.begin(MOVE)
    assert journal.move() == MOVE
    assert journal.reach("r1", "stop").step == "stop"
    assert journal.reach("r1", "gate", "too slow").cause == "too slow"
    assert journal.reach("r1", "revert-stop").cause == "too slow"


def test_ended_move_is_a_line_of_history(journal: Journal, tmp_path: Path) -> None:
    journal.begin(MOVE)
    line = journal.end("r1", "served", clock=1_800_000_041.26)
    assert line == {
        "time": "2027-01-15T08:00:41Z",
        "who": "ops@desk",
        "action": "swap",
        "from": 3,
        "to": 4,
        "result": "served",
        "cause": "",
        "seconds": 41.3,
        "inventory_commit": "",
    }
    assert journal.history() == [line]
    assert journal.move() is None
    assert not (tmp_path / "journal.json").exists()


def test_second_controller_is_told_to_wait(journal: Journal) -> None:
    journal.begin(MOVE)
    journal.begin(MOVE)
    other = Move(**{**MOVE.__dict__, "run": "r2", "who": "somebody@laptop"})
    with pytest.raises(JournalError, match=r"the swap to generation 4 that ops@desk began at 2027-01-15 08:00:00 UTC"):
        journal.begin(other)
    assert journal.move() == MOVE


@pytest.mark.parametrize(
    "what", [lambda j: j.reach("r1", "gate"), lambda j: j.end("r1", "served"), lambda j: j.own("r1")]
)
def test_run_whose_move_was_taken_over_can_do_nothing_more(journal: Journal, what: Any) -> None:
    journal.begin(MOVE)
    taken = journal.take_over("r2", "night@desk")
    assert taken
    assert (taken.action, taken.step, taken.began) == ("swap", "begun", MOVE.began)
    with pytest.raises(JournalError, match="another run has taken the instance over"):
        what(journal)
    line = journal.end("r2", "reverted")
    assert (line["who"], line["action"]) == ("night@desk", "recover")
    with pytest.raises(JournalError, match="no move is under way"):
        what(journal)
    assert journal.take_over("r3", "night@desk") is None


def test_hold_is_written_with_the_end_and_lifted_when_told(journal: Journal) -> None:
    journal.begin(MOVE)
    journal.end("r1", "served", HOLD)
    assert journal.hold() == HOLD
    assert (journal.summary()["move"], journal.summary()["hold"]["version"]) == (None, "v2")
    for _time in range(2):
        journal.lift()
        assert journal.hold() is None


@pytest.mark.parametrize("cut", [1, 17])
def test_line_that_a_crash_has_cut_off_hides_no_other(journal: Journal, tmp_path: Path, cut: int) -> None:
    for result in ("served", "reverted", "failed"):
        journal.begin(MOVE)
        journal.end("r1", result)
        if result == "reverted":
            with (tmp_path / "history.jsonl").open("r+b") as file:
                file.truncate(file.seek(0, 2) - cut)
    # Without its line feed alone, a line is still whole.
    expected = ["served", "reverted", "failed"] if cut == 1 else ["served", "failed"]
    assert [line["result"] for line in journal.history()] == expected
    assert [line["result"] for line in journal.history(newest=1)] == ["failed"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not the JSON that Modelshelf writes"),
        ("[]", "is not the JSON that Modelshelf writes"),
        ('{"format": 2}', "use a newer Modelshelf"),
        ('{"format": 1, "run": "r1"}', "lacks something"),
    ],
)
def test_files_that_cannot_be_read_are_said(journal: Journal, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "journal.json").write_text(text)
    (tmp_path / "hold.json").write_text(text)
    for look in (journal.move, journal.hold, lambda: journal.begin(MOVE)):
        with pytest.raises(JournalError, match=said):
            look()
    assert (tmp_path / "journal.json").read_text() == text


def test_fields_of_a_newer_writer_are_left_out(journal: Journal, tmp_path: Path) -> None:
    journal.begin(MOVE)
    path = tmp_path / "journal.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "colour": "blue"}))
    assert journal.move() == MOVE


def _begin(directory: Path, run: str, results: Any) -> None:
    try:
        Journal(directory).begin(Move(**{**MOVE.__dict__, "run": run}))
    except JournalError:
        results.put("refused")
    else:
        results.put(run)


def test_of_many_that_begin_at_once_one_gets_the_instance(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    processes = [context.Process(target=_begin, args=(tmp_path, f"r{number}", results)) for number in range(8)]
    for process in processes:
        process.start()
    said = sorted(results.get(timeout=30) for _process in processes)
    for process in processes:
        process.join()
    assert said.count("refused") == 7
    move = Journal(tmp_path).move()
    assert move
    assert move.run in said
