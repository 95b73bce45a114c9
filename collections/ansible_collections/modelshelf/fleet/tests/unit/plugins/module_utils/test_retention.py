# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Hold, Journal, JournalError, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._retention import (
    installed_engines,
    kept_generations,
    remove,
    used_engines,
)


@pytest.fixture
def main(tmp_path: Path) -> Instance:
    """An instance with the generations 1 to 9. Odd ones have one engine, even ones another."""
    instance = Instance(str(tmp_path / "instances"), "main")
    for number in range(1, 10):
        directory = instance.directory(number)
        directory.mkdir(parents=True)
        (directory / "engine").symlink_to(tmp_path / "engines" / ("vllm-1" if number % 2 else "vllm-2"))
    return instance


def under_way(**changes: Any) -> Move:
    move: dict[str, Any] = {"run": "r", "who": "ops", "action": "swap", "step": "stop", "began": 0.0}
    return Move(**{**move, "before": 2, "to": 3, "previous": 1, **changes})


def test_newest_stay(main: Instance) -> None:
    assert kept_generations(main, 3) == {7, 8, 9}
    assert kept_generations(main, 20) == set(range(1, 10))


def test_what_is_named_stays(main: Instance) -> None:
    main.flip(4)
    main.flip(5)
    assert kept_generations(main, 2) == {4, 5, 8, 9}
    main.stage(7)
    Journal(main.path).begin(under_way())
    assert kept_generations(main, 2) == {1, 2, 3, 4, 5, 7, 8, 9}
    Journal(main.path).end("r", "reverted", Hold("tiny", "v2", 6, "ops", "today"))
    assert kept_generations(main, 2) == {4, 5, 6, 7, 8, 9}


def test_first_move_of_an_instance_has_no_generation_before(main: Instance) -> None:
    Journal(main.path).begin(under_way(before=None, previous=None))
    assert kept_generations(main, 2) == {3, 8, 9}


def test_what_is_named_need_not_be_there_any_more(main: Instance) -> None:
    Journal(main.path).begin(under_way(to=12))
    assert kept_generations(main, 2) == {1, 2, 8, 9}


def test_nothing_is_decided_without_the_journal(main: Instance) -> None:
    (main.path / "journal.json").write_text("{")
    with pytest.raises(JournalError, match="is not the JSON"):
        kept_generations(main, 2)


@pytest.mark.parametrize("keep", [1, 0, -1])
def test_too_few_are_refused(main: Instance, keep: int) -> None:
    with pytest.raises(ValueError, match="2 generations stay at least"):
        kept_generations(main, keep)


def test_engines_are_those_that_the_role_has_finished(tmp_path: Path) -> None:
    for name in ("vllm-1", "vllm-2", "own", ".removed-vllm-3"):
        (tmp_path / name).mkdir()
    for name in ("vllm-1", "own", ".removed-vllm-3"):
        (tmp_path / name / "marker").touch()
    (tmp_path / "vllm-4").symlink_to("vllm-1")
    assert [path.name for path in installed_engines(str(tmp_path), "marker")] == ["vllm-1"]
    assert installed_engines(str(tmp_path / "none"), "marker") == []


def test_engines_are_used_by_every_generation_of_every_instance(main: Instance, tmp_path: Path) -> None:
    root, engines = str(tmp_path / "instances"), tmp_path / "engines"
    assert used_engines(root, {}) == {str(engines / "vllm-1"), str(engines / "vllm-2")}
    assert used_engines(root, {"main": [1, 3, 5, 7, 9]}) == {str(engines / "vllm-2")}
    other = Instance(root, "gone-from-the-inventory").directory(1)
    other.mkdir(parents=True)
    (engines / "vllm-1").mkdir(parents=True)
    (tmp_path / "way").symlink_to(engines)
    (other / "engine").symlink_to(tmp_path / "way" / "vllm-1")
    assert used_engines(root, {"main": range(1, 10)}) == {str(engines / "vllm-1")}


def test_a_removal_that_was_killed_leaves_nothing_under_the_name_and_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    warnings: list[str] = []
    for name in ("a", "b"):
        (tmp_path / name / "bin").mkdir(parents=True)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(tmp_path, ["a"], check_mode=False, warn=warnings.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".removed-a", "b"]
    # Somebody has made it again meanwhile.
    (tmp_path / "a" / "bin").mkdir(parents=True)
    assert remove(tmp_path, ["a"], check_mode=True, warn=warnings.append) == ["a"]
    assert len(list(tmp_path.iterdir())) == 3
    assert remove(tmp_path, ["a"], check_mode=False, warn=warnings.append) == ["a"]
    assert ([path.name for path in tmp_path.iterdir()], warnings) == (["b"], [])


def test_what_cannot_be_removed_is_a_warning_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> None:
        raise PermissionError(f"busy: {path}")

    warnings: list[str] = []
    (tmp_path / "a").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refused)
        assert remove(tmp_path, ["a", "nowhere"], check_mode=False, warn=warnings.append) == ["a", "nowhere"]
        assert remove(tmp_path, [], check_mode=False, warn=warnings.append) == []
    assert [path.name for path in tmp_path.iterdir()] == [".removed-a"]
    assert "a was not removed as a whole, the next run tries again: busy" in warnings[0]
    assert remove(tmp_path, [], check_mode=False, warn=warnings.append) == ["a"]
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_keeps_its_name_has_not_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, target: Path) -> Path:
        raise OSError("read-only file system")

    warnings: list[str] = []
    (tmp_path / "a").mkdir()
    monkeypatch.setattr(Path, "rename", refused)
    assert remove(tmp_path, ["a"], check_mode=False, warn=warnings.append) == []
    assert "read-only file system" in warnings[0]
    assert (tmp_path / "a").is_dir()
