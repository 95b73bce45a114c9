# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is told of a run of Ansible: a name for it, and the commit of its inventory."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path


def this_run(proc: str = "/proc") -> str:
    """The run that this process works for: machine, pid of ansible-playbook, and when that process started.

    Ansible forks the process that carries out a task from the one of the run.
    """
    pid = os.getppid()
    return f"{_machine()}:{pid}:{_started(pid, proc)}"


def is_gone(run: str, proc: str = "/proc") -> bool:
    """Whether a run of this machine has ended. Of another machine's runs that cannot be known: they count as there.

    Another machine or container may have the same name. So what ran here before a reboot counts as there, too.
    """
    machine, pid, started = [*run.rsplit(":", 2), "", ""][:3]
    return machine == _machine() and pid.isdigit() and _started(int(pid), proc) != started


def commit(directory: str | None) -> str:
    """The commit of the git work tree that a directory is in, with `-dirty` where files of it were changed since.

    Empty where there is none, or no git.
    """
    if not directory:
        return ""
    command = ["git", "-C", directory, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _machine() -> str:
    """Name, boot and pid namespace of this machine: a pid means nothing in another one."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        space = str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        boot = space = ""
    return f"{socket.gethostname()}/{boot}/{space}"


def _started(pid: int, proc: str) -> str:
    """When a process started, in clock ticks since the boot (field 22 of proc(5) stat); empty when there is none."""
    try:
        text = Path(proc, str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field, the command in parentheses, may have blanks and parentheses in it.
    return text.rpartition(")")[2].split()[19]
