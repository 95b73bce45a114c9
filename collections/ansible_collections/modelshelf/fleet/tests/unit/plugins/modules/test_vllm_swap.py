# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vllm_swap as Ansible runs it: a move from its beginning to its end, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils import _swap_states
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap_server import Settings
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import UnitState
from ansible_collections.modelshelf.fleet.plugins.modules import vllm_swap

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def main(tmp_path: Path) -> Instance:
    instance = Instance(str(tmp_path), "main")
    for number in (1, 2):
        instance.directory(number).mkdir(parents=True)
        release = {"format": 1, "generation": number, "model": "qwen", "version": f"v{number}"}
        (instance.directory(number) / "release.json").write_text(json.dumps(release))
    instance.flip(1)
    return instance


@pytest.fixture
def run(main: Instance, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(state: str, check: bool = False, **changes: Any) -> dict[str, Any]:
        arguments = {"instance": "main", "root": str(tmp_path), "run": "r1", "state": state, **changes}
        with patch_module_args({**arguments, "_ansible_check_mode": check}), pytest.raises(SystemExit):
            vllm_swap.main()
        return dict(json.loads(capsys.readouterr().out))

    return run


def begin(start: Run, **changes: Any) -> dict[str, Any]:
    return start(
        "begun", to=2, gate={"user": "modelshelf", "timeout": 900}, who="ops", inventory_commit="abc", **changes
    )


def test_a_move_from_its_beginning_to_its_end(run: Run, main: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the host does by itself is in the tests of _swap."""
    journal = Journal(main.path)

    class Idle:
        def __init__(self, runner: Any) -> None:
            """There is no systemd here."""

        def state(self, unit: str) -> UnitState:
            return UnitState("not-found", "inactive", "dead")

    monkeypatch.setattr(vllm_swap, "Systemd", Idle)
    monkeypatch.setattr(
        vllm_swap.AnsibleModule, "run_command", lambda self, command, **how: journal.reach("r1", "served")
    )

    assert begin(run, check=True)["changed"]
    assert journal.move() is None
    assert begin(run)["move"]["before"] == 1
    assert begin(run)["changed"] is False
    move = journal.move()
    assert move
    assert Settings.of(move.settings) == Settings("modelshelf", timeout=900.0, restart=[])
    assert (set(move.settings), move.inventory_commit) == (set(vllm_swap.GATE), "abc")
    for state in ("drained", "moved", "ended"):
        assert run(state, check=True) == {"changed": True, "move": None}
    assert run("drained")["move"]["step"] == "drained"
    assert run("moved")["move"]["step"] == "served"
    ended = run("ended")
    assert (ended["result"], ended["line"]["who"], ended["line"]["to"]) == ("served", "ops", 2)
    assert (journal.move(), len(journal.history())) == (None, 1)


@pytest.mark.parametrize(
    ("state", "given", "said"),
    [
        ("begun", {"to": 2}, "state is begun but all of the following are missing: gate"),
        ("begun", {"to": 9, "gate": {"user": "x"}}, "instance main: no generation 9"),
        ("begun", {"to": 2, "gate": {"prompt": "x"}}, "missing required arguments: user"),
        ("ended", {}, "instance main: no move is under way"),
        ("moved", {"instance": "Main!"}, "is not usable"),
        ("stopped", {}, "value of state must be one of"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, state: str, given: dict[str, Any], said: str) -> None:
    result = run(state, **given)
    assert result["failed"]
    assert said in result["msg"]


def test_another_run_is_kept_out_until_it_takes_over(run: Run) -> None:
    begin(run)
    assert "that ops began at" in begin(run, run="r2")["msg"]
    assert run("taken_over", run="r2", who="night", check=True)["changed"]
    assert run("taken_over", run="r2", who="night")["move"]["who"] == "night"
    assert "another run has taken the instance over" in run("drained")["msg"]
    assert run("ended", run="r2")["result"] == _swap_states.ABANDONED
    assert run("lifted")["changed"] is False
