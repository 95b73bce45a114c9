# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that are directories of this machine, for playbooks that change nothing on them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
PLACES = {
    "__vllm_state": "{{ place }}/instances",
    "__weights_cache": "{{ place }}/cache",
    "ansible_python_interpreter": sys.executable,
}


@dataclass
class Fleet:
    """Three hosts that serve v1 of one model. `variables` are theirs, `hosts` what each has of its own."""

    folder: Path
    variables: dict[str, Any]
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def run(self, *arguments: str, playbook: str = "playbooks/plan.yml", **changes: Any) -> Run:
        inventory = self.folder / "hosts.json"
        groups = {"gpu": {"hosts": self.hosts}, "empty": {"hosts": {}}}
        inventory.write_text(json.dumps({"all": {"vars": {**self.variables, **changes}, "children": groups}}))
        programs = self.folder / "bin"
        done = subprocess.run(
            [str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(inventory), playbook, "-e",
             json.dumps(PLACES), *arguments],
            cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env={**os.environ, "ANSIBLE_CONFIG": str(REPOSITORY / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1",
                 "ANSIBLE_ROLES_PATH": str(REPOSITORY / "roles"), "PATH": f"{programs}:{os.environ['PATH']}"},
        )  # fmt: skip
        return Run(done.returncode, done.stdout)


@dataclass(frozen=True)
class Run:
    status: int
    output: str

    @property
    def text(self) -> str:
        """The output in one line, so that nothing is broken by its width."""
        return " ".join(self.output.split())

    def row(self, name: str) -> str:
        """The line of a host in the table."""
        found = re.search(rf"^\s*- '?({re.escape(name)}\s.*?)'?$", self.output, re.M)
        assert found, self.output
        return " ".join(found[1].split())

    def changed(self) -> int:
        return sum(int(number) for number in re.findall(r" changed=(\d+) ", self.output))


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
