# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test hosts as the scenario tests use them: playbook runs, hosts by name."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import testinfra
import yaml
from testinfra.host import Host

from lab.settings import CHECKOUT, LABS, SSH_KEY

LAB = LABS[os.environ.get("MODELSHELF_LAB", "test")]
"""The hosts of the scenario: most share one lab, the scenario swap has its own."""
RESULTS = CHECKOUT / ".test-results"
SSH_OPTIONS = (
    "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "
    "-o ConnectTimeout=5 -o ControlMaster=auto -o ControlPersist=120 -o ControlPath=/tmp/.modelshelf-test-%C"
)
HOSTS = yaml.safe_load((CHECKOUT / LAB.inventories[-1] / "hosts.yml").read_text())["all"]
ADDRESSES = {
    name: facts["ansible_host"]
    for group in (HOSTS, *HOSTS.get("children", {}).values())
    for name, facts in group.get("hosts", {}).items()
}
SERVING = ["gpu1", "gpu2"]


@dataclass(frozen=True)
class Run:
    """One ansible-playbook run: exit status, all output, and per host the counters of the recap."""

    status: int
    output: str
    recap: dict[str, dict[str, int]]

    def changed(self) -> dict[str, int]:
        """Host -> how many tasks changed it, for those that anything changed."""
        return {host: counts["changed"] for host, counts in self.recap.items() if counts["changed"]}


RUNS: list[Run] = []
"""Every run of this process, so that something can be asked of all of them."""


def command(
    *arguments: str, inventories: Sequence[Path] = (), environment: Path | None = None, playbook: str = "site.yml"
) -> list[str]:
    """The command line that runs a playbook on the test hosts; `inventories` are read after those of the lab."""
    program = (environment or CHECKOUT / ".venv") / "bin" / "ansible-playbook"
    return [str(program), playbook, *[f"--inventory={path}" for path in (*LAB.inventories, *inventories)], *arguments]


def controller_env(**extra: str) -> dict[str, str]:
    """Not the configuration that molecule made for its own runs: the checkout's, as a user has it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "MOLECULE_"))}
    env |= {"ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    return {**env, "ANSIBLE_DEPRECATION_WARNINGS": "1", **extra}


def play(
    *arguments: str,
    inventories: Sequence[Path] = (),
    environment: Path | None = None,
    playbook: str = "site.yml",
    **extra_env: str,
) -> Run:
    """Runs a playbook on the test hosts."""
    done = subprocess.run(
        command(*arguments, inventories=inventories, environment=environment, playbook=playbook),
        cwd=CHECKOUT, env=controller_env(**extra_env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    rows = re.findall(r"^(\S+)\s+: (ok=\d+ .*)$", done.stdout, re.M)
    recap = {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", row)} for host, row in rows}
    RUNS.append(Run(done.returncode, done.stdout, recap))
    return RUNS[-1]


@cache
def host(name: str) -> Host:
    """A host of the test inventory through ssh, as testinfra sees it."""
    return testinfra.get_host(
        f"ssh://root@{ADDRESSES[name]}", ssh_identity_file=str(SSH_KEY), ssh_extra_args=SSH_OPTIONS
    )


def until(met: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits until `met()` is true; fails with `what` when it is not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(1)
