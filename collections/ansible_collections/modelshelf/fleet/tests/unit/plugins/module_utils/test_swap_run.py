# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _swap_run
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import ServerFault


class Server:
    """A host whose generation 4 is as it is told to be."""

    good = True
    seen: tuple[Any, ...] = ()

    def __init__(self, instance: Instance, settings: Any, systemd: Any) -> None:
        Server.seen = (instance.name, settings.user)

    def stop(self, generations: Sequence[int]) -> None:
        """Nothing to do."""

    def start(self) -> None:
        """Nothing to do."""

    def gate(self, generation: int) -> None:
        if generation == 4 and not Server.good:
            raise ServerFault("out of memory\nreally")


@pytest.fixture
def main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instance:
    monkeypatch.setattr(_swap_run, "UnitServer", Server)
    instance = Instance(str(tmp_path), "main")
    for number in (3, 4):
        instance.directory(number).mkdir(parents=True)
    instance.flip(3)
    Journal(instance.path).begin(Move("r1", "ops", "swap", 3, 4, None, "begun", 0.0, settings={"user": "vllm"}))
    return instance


@pytest.mark.parametrize(
    ("good", "options", "status", "current", "said"),
    [
        (True, [], 0, 4, ""),
        (False, [], 1, 3, "modelshelf: reverted: out of memory really\n"),
        (True, ["--back"], 1, 3, "modelshelf: reverted: \n"),
    ],
)
def test_move_is_carried_out_and_what_came_of_it_is_said(
    main: Instance, tmp_path: Path, capsys: Any, good: bool, options: list[str], status: int, current: int, said: str
) -> None:
    Server.good = good
    assert _swap_run.main([str(tmp_path), "main", "r1", *options]) == status
    assert (main.linked("current"), capsys.readouterr().err) == (current, said)
    assert Server.seen == ("main", "vllm")


def test_other_run_and_unusable_name_are_refused(main: Instance, tmp_path: Path, capsys: Any) -> None:
    assert _swap_run.main([str(tmp_path), "main", "r2"]) == 1
    assert "another run has taken the instance over" in capsys.readouterr().err
    assert _swap_run.main([str(tmp_path), "Main!", "r1"]) == 1
    assert "is not usable" in capsys.readouterr().err
    assert main.linked("current") == 3


def test_commands_are_run_without_input_and_with_plain_words() -> None:
    assert _swap_run.run_command(["sh", "-c", "cat; echo $LC_ALL; exit 3"]) == (3, "C.UTF-8\n", "")
