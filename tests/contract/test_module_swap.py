# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays with vllm_swap: each is a run of its own, and knows whether the one that began a move is still there."""

from __future__ import annotations

import getpass
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal
from tests.contract.playing import REPOSITORY


def command(playbook: Path) -> list[str]:
    program = str(Path(sys.executable).parent / "ansible-playbook")
    return [
        program,
        "-i",
        "localhost,",
        "-c",
        "local",
        "-e",
        f"ansible_python_interpreter={sys.executable}",
        str(playbook),
    ]


def play(playbook: Path, tasks: list[dict[str, Any]]) -> Path:
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    return playbook


def test_a_run_waits_for_one_that_is_there_and_takes_over_from_one_that_is_gone(tmp_path: Path) -> None:
    main = Instance(str(tmp_path), "main")
    for number in (1, 2):
        main.directory(number).mkdir(parents=True)
    main.flip(1)
    instance = {"instance": "main", "root": str(tmp_path)}
    begin: list[dict[str, Any]] = [
        {"modelshelf.fleet.vllm_generation_info": instance, "register": "host"},
        {
            "modelshelf.fleet.vllm_swap": {**instance, "state": "taken_over"},
            "when": ["host.instances[0].move is not none", "host.instances[0].move.run is modelshelf.fleet.gone_run"],
        },
        {"modelshelf.fleet.vllm_swap": {**instance, "state": "begun", "to": 2, "gate": {"user": "nobody"}}},
    ]
    second = play(tmp_path / "second.yml", begin)
    meanwhile = {
        "ansible.builtin.command": {"argv": command(second)},
        "register": "other",
        "failed_when": "other.rc != 2",
    }
    said = {"ansible.builtin.assert": {"that": "'Wait for it; if that run is gone' in other.stdout"}}
    first = play(tmp_path / "first.yml", [*begin, meanwhile, said])

    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(REPOSITORY / "collections")}
    runs = []
    for playbook in (first, second):
        ended = subprocess.run(command(playbook), env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        move = Journal(main.path).move()
        assert move
        assert (move.who, move.before, move.to) == (f"{getpass.getuser()}@{socket.gethostname()}", 1, 2)
        runs.append((move.run, move.taken_over))
    (began, _), (took, taken_over) = runs
    assert (began != took, taken_over) == (True, True)
