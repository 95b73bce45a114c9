# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/recover.yml on hosts that are directories of this machine, with moves that runs have left."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Move
from ansible_collections.modelshelf.fleet.plugins.plugin_utils._runs import this_run

ROOT = Path(__file__).parents[2]
GONE = f"{this_run().rsplit(':', 2)[0]}:1:0"
ELSEWHERE = "elsewhere:1:0"


def left(place: Path, run: str, **more: Any) -> None:
    """A run has left the first move of an instance."""
    instance = place / "instances/main"
    (instance / "generations").mkdir(parents=True)
    move = Move(run, "ops@there", "swap", None, 1, None, **{"step": "drained", "began": 0.0, **more})
    (instance / "journal.json").write_text(json.dumps(asdict(move)), encoding="utf-8")


def recover(folder: Path, *hosts: str, **variables: Any) -> tuple[int, str]:
    """Exit status and output of the playbook on these hosts; to `lost` there is no connection."""
    silent = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9}
    common = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "modelshelf_models": [{"name": "opt", "version": "v1"}],
        "modelshelf_instances": [{"name": "main", "model": "opt", "port": 1}],
        "vllm_address": "127.0.0.1",
        "place": f"{folder}/{{{{ inventory_hostname }}}}",
    }
    content = {"all": {"vars": common, "hosts": {name: silent if name == "lost" else {} for name in hosts}}}
    (folder / "hosts.json").write_text(json.dumps(content), encoding="utf-8")
    systemctl = folder / "bin/systemctl"
    systemctl.parent.mkdir()
    systemctl.write_text("#!/bin/sh\necho inactive\n", encoding="utf-8")
    systemctl.chmod(0o755)
    places = {"__vllm_state": "{{ place }}/instances", "__vllm_library": "{{ place }}/library.zip"}
    argv: list[str | Path] = [Path(sys.executable).with_name("ansible-playbook"), "-i", folder / "hosts.json"]
    done = subprocess.run(
        [*argv, "playbooks/recover.yml", "-e", json.dumps({**places, **variables})],
        cwd=ROOT, env={**os.environ, "PATH": f"{systemctl.parent}:{os.environ['PATH']}", "ANSIBLE_NOCOLOR": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def result(place: Path) -> str:
    line = (place / "instances/main/history.jsonl").read_text(encoding="utf-8")
    return str(json.loads(line)["result"])


def test_hosts_that_fail_or_are_lost_keep_no_other_from_recovering(tmp_path: Path) -> None:
    left(tmp_path / "busy", ELSEWHERE)
    for name in ("one", "two"):
        left(tmp_path / name, GONE)
    (tmp_path / "idle").mkdir()
    status, said = recover(tmp_path, "busy", "lost", "one", "idle", "two")
    assert status != 0
    assert [result(tmp_path / name) for name in ("one", "two")] == ["abandoned"] * 2
    for row in (
        "one main swap - 1 abandoned",
        "two main swap - 1 abandoned",
        "idle - - - - nothing was left",
        "busy - - - - not at all",
        "lost - - - - unreachable",
    ):
        assert row in said
    assert "busy: ops@there is moving the instance main to generation 1 (step drained). Wait until" in said
    assert "lost: it did not answer" in said


def test_move_that_has_failed_stays_drained_and_says_how_to_undrain(tmp_path: Path) -> None:
    left(tmp_path / "one", GONE, step="failed", cause="the GPU is gone")
    for name in ("drain", "undrain"):
        mark = [{"ansible.builtin.file": {"path": f"{{{{ place }}}}/{name}ed", "state": "touch"}}]
        (tmp_path / f"{name}.yml").write_text(json.dumps(mark), encoding="utf-8")
    ways = {f"rollout_{name}_tasks": str(tmp_path / f"{name}.yml") for name in ("drain", "undrain")}
    status, said = recover(tmp_path, "one", rollout_drain="tasks", **ways)
    assert status != 0
    assert re.search(r"one: main: the GPU is gone\. It gets no requests: .*--tags undrain", said), said
    assert result(tmp_path / "one") == "failed"
    assert not (tmp_path / "one/undrained").exists()


def test_move_that_has_served_is_undrained(tmp_path: Path) -> None:
    left(tmp_path / "one", GONE, step="served")
    mark = [{"ansible.builtin.file": {"path": "{{ place }}/undrained", "state": "touch"}}]
    (tmp_path / "undrain.yml").write_text(json.dumps(mark), encoding="utf-8")
    files = {f"rollout_{name}_tasks": str(tmp_path / f"{name}.yml") for name in ("drain", "undrain")}
    status, said = recover(tmp_path, "one", rollout_drain="tasks", **files)
    assert status == 0, said
    assert result(tmp_path / "one") == "served"
    assert (tmp_path / "one/undrained").exists()
