# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who listens on the ports of a RustFS server. Standard library and Python 3.9 only.

RustFS binds with SO_REUSEPORT: a second server on the port neither fails nor warns, and the two share the requests.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ansible_collections.modelshelf.fleet.plugins.module_utils._listeners import foreign, listeners
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import UnitState

ENGINES = ("podman", "docker")
RunCommand = Callable[..., "tuple[int, str, str]"]
"""AnsibleModule.run_command, or what a test has for it."""


def control_groups(
    unit: UnitState, engines: Sequence[str], container: str, run_command: RunCommand, proc: str = "/proc"
) -> tuple[str, ...]:
    """The control groups of a server: that of its unit, and that of its container, which may be elsewhere."""
    groups = [unit.control_group] if unit.control_group else []
    # An engine that is not installed yet, or has no such container, has no process that could listen.
    for engine in filter(shutil.which, engines if container else ()):
        status, output, _error = run_command(
            ["timeout", "30", engine, "inspect", "--format", "{{.State.Pid}}", container]
        )
        if status == 0 and output.strip().isdigit() and int(output) > 0:
            with suppress(OSError):
                lines = Path(proc, output.strip(), "cgroup").read_text(encoding="utf-8").splitlines()
                groups += [line.split(":", 2)[-1] for line in lines]
    return tuple(dict.fromkeys(group for group in groups if group.strip("/")))


def strangers(address: str, port: int, groups: Sequence[str], proc: str = "/proc") -> list[str]:
    """Who listens there and belongs to none of the control groups. An empty address stands for all."""
    place = address or "0.0.0.0"
    found = foreign(place, port, "", proc)
    for group in groups:
        found = [item for item in found if item in foreign(place, port, group, proc)]
    return found


def is_open(address: str, port: int, proc: str = "/proc") -> bool:
    """Whether anything listens there."""
    return bool(listeners(address or "0.0.0.0", port, proc))


def port_problems(
    address: str, ports: Mapping[str, int], unit: str, groups: Sequence[str], proc: str = "/proc"
) -> list[str]:
    """What keeps the unit from having its ports (name -> number, 0 for none) for itself, as sentences."""
    numbers = [port for port in ports.values() if port]
    if len(set(numbers)) < len(numbers):
        return [f"{' and '.join(ports)} have the same port {numbers[0]}, which the server refuses. Give each its own"]
    found = []
    for name, port in ports.items():
        others = strangers(address, port, groups, proc) if port else []
        if others:
            found.append(
                f"the port {port} ({name}) is held by {', '.join(others)}, which is no process of {unit}: two servers"
                " would share it, and each get a part of the requests. Stop that process"
            )
    return found
