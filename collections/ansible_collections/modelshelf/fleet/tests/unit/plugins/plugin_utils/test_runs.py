# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.plugin_utils import _runs
from ansible_collections.modelshelf.fleet.plugins.plugin_utils._runs import commit, is_gone, this_run
from ansible_collections.modelshelf.fleet.plugins.test.gone_run import TestModule as GoneRun

ME = this_run().rsplit(":", 2)[0]


def test_the_run_is_the_parent_and_is_there() -> None:
    assert this_run() == this_run()
    assert this_run().startswith(f"{socket.gethostname()}/")
    assert this_run().startswith(f"{ME}:{os.getppid()}:")
    assert not is_gone(this_run())
    assert not GoneRun().tests()["gone_run"](this_run())


def test_a_process_that_ended_is_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(f"{ME}:{ended.pid}:12345")


def test_another_process_of_the_same_number_is_another_run(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    fields = " ".join(str(number) for number in range(3, 53))
    (tmp_path / "7" / "stat").write_text(f"7 (odd ) (name) {fields}\n")
    assert not is_gone(f"{ME}:7:22", str(tmp_path))
    assert is_gone(f"{ME}:7:23", str(tmp_path))


@pytest.mark.parametrize("run", ["", "x", f"{ME}:x:1", "other-machine:1:1", f"{ME}"])
def test_what_cannot_be_known_counts_as_there(run: str) -> None:
    assert not is_gone(run)


def test_machines_and_containers_of_one_name_do_not_know_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_runs, "_machine", lambda: "runner/b1/4026532001")
    assert is_gone("runner/b1/4026532001:1:1")
    for other in ("runner/b1/4026532002", "runner/b0/4026532001", "runner"):
        assert not is_gone(f"{other}:1:1")


def test_the_commit_of_a_directory_and_whether_it_was_changed_since(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@x"]
        return subprocess.run(
            ["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True, text=True
        ).stdout

    inventory = tmp_path / "inventories"
    inventory.mkdir()
    (inventory / "hosts.yml").write_text("one")
    git("init")
    git("add", ".")
    git("commit", "-m", "x")
    git("tag", "v1")
    head = git("rev-parse", "HEAD").strip()
    assert commit(str(inventory)) == head
    (inventory / "hosts.yml").write_text("two")
    assert commit(str(inventory)) == f"{head}-dirty"


@pytest.mark.parametrize("directory", [None, "", "/proc/no-such-directory", "/proc"])
def test_a_directory_that_is_not_in_git_has_no_commit(directory: str | None) -> None:
    assert commit(directory) == ""
