# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The batches that Ansible makes of the play "Serve, wave after wave", with the header that site.yml has."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
PLAYS = {play["name"]: play for play in yaml.safe_load((CHECKOUT / "playbooks/site.yml").read_text())}
STAGE = {
    "hosts": "all",
    "gather_facts": False,
    "tasks": [
        {"group_by": {"key": "{{ 'modelshelf_serving' if serves else 'modelshelf_not_serving' }}"}},
        {"set_fact": {"rollout_moving": "{{ inventory_hostname in moving }}"}, "when": "moving is defined"},
    ],
}


def batches(folder: Path, moving: list[str] | None, *arguments: str, **variables: Any) -> list[list[str]]:
    """The batches of gpu1 to gpu4, of which these move; None when that is not known. `variables` are their group's."""
    given = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, "serves": True, **variables}
    known = {} if moving is None else {"moving": moving}
    gpu = {"hosts": {f"gpu{number}": {} for number in range(1, 5)}, "vars": {**given, **known}}
    store = {"hosts": {"store1": {}}, "vars": {**given, **known, "serves": False}}
    (folder / "hosts.json").write_text(json.dumps({"all": {"children": {"store": store, "gpu": gpu}}}))
    header = {key: PLAYS["Serve, wave after wave"][key] for key in ("hosts", "gather_facts", "serial", "vars")}
    show = {"debug": {"msg": "batch {{ ansible_play_batch | join(',') }}."}, "run_once": True}
    (folder / "play.yml").write_text(json.dumps([STAGE, {**header, "tasks": [show]}]))
    done = subprocess.run(
        [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "hosts.json", "play.yml", *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        env={**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return [found.split(",") for found in re.findall(r"batch (\S+)\.", done.stdout)]


@pytest.mark.parametrize(
    ("moving", "serial", "expected"),
    [
        (["gpu3", "gpu4"], 1, ["gpu1 gpu2 gpu3", "gpu4"]),
        (["gpu3", "gpu4"], "50%", ["gpu1 gpu2 gpu3", "gpu4"]),
        (["gpu1", "gpu2", "gpu4"], [1, "100%"], ["gpu1", "gpu2 gpu3 gpu4"]),
        ([], 1, ["gpu1 gpu2 gpu3 gpu4"]),
        (None, 2, ["gpu1", "gpu2 gpu3", "gpu4"]),
    ],
)
def test_batches_are_the_waves_of_the_hosts_that_move(
    tmp_path: Path, moving: list[str] | None, serial: Any, expected: list[str]
) -> None:
    assert batches(tmp_path, moving, rollout_serial=serial) == [batch.split() for batch in expected]


def test_batches_as_minus_e_gives_them_for_a_limit(tmp_path: Path) -> None:
    arguments = ["--limit=gpu2:gpu3:gpu4", "-e", "rollout_serial=[1,100%]", "-e", "rollout_canary=no"]
    assert batches(tmp_path, ["gpu2", "gpu3", "gpu4"], *arguments) == [["gpu2"], ["gpu3", "gpu4"]]


def test_percentages_are_of_the_hosts_in_the_limit(tmp_path: Path) -> None:
    arguments = ["--limit=gpu2:gpu3:gpu4", "-e", "rollout_canary=no"]
    expected = [["gpu2"], ["gpu3"], ["gpu4"]]
    assert batches(tmp_path, ["gpu2", "gpu3", "gpu4"], *arguments, rollout_serial="50%") == expected


def test_both_plays_that_move_hosts_have_the_same_batches() -> None:
    keys = ("hosts", "serial", "vars")
    back, serve = (PLAYS[name] for name in ("Go back, wave after wave", "Serve, wave after wave"))
    assert [back[key] for key in keys] == [serve[key] for key in keys]
