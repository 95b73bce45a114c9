# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host on which a swap handles a unit, without systemd."""

from __future__ import annotations

import getpass
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap_server import Settings, UnitServer
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import CRASHED, Host, show

UNIT = "modelshelf-vllm@main.service"
STOPPED = show(active="inactive", sub="dead", group="")


class Commands(Host):
    """Takes commands that change something as well, unless they are to fail."""

    failing = False

    def run(self, command: Sequence[str]) -> str:
        if command[0] == "systemctl" and command[1] != "show" and not self.failing:
            self.asked.append(list(command))
            return ""
        return super().run(command)

    def changes(self) -> list[str]:
        return [" ".join(command) for command in self.asked if command[:2] != ["systemctl", "show"]]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def server(instance: Instance, host: Host, **settings: Any) -> UnitServer:
    clock = Clock()
    given = Settings.of({"user": getpass.getuser(), "timeout": 0.0, "colour": "blue", **settings})
    systemd = Systemd(host.run)
    return UnitServer(instance, given, systemd, clock=clock, sleep=clock.sleep, units=str(place(instance).parent))


def place(instance: Instance) -> Path:
    """Where the unit is that systemd starts."""
    directory = instance.path.parent.parent / "system"
    directory.mkdir(exist_ok=True)
    return directory / UNIT


class Starts(Commands):
    """Stops and starts, and remembers the unit that each start was made with, None where there was none.

    A server that is started by the unit `bad` crashes.
    """

    def __init__(self, state: str, instance: Instance, bad: str = "") -> None:
        super().__init__([state])
        self.place, self.bad = place(instance), bad
        self.units: list[str | None] = []

    def run(self, command: Sequence[str]) -> str:
        if command[:2] == ["systemctl", "start"]:
            self.units.append(self.place.read_text() if self.place.exists() else None)
            self.states = [show(**CRASHED) if self.units[-1] == self.bad else show()]
        if command[:2] == ["systemctl", "stop"]:
            self.states = [STOPPED]
        return super().run(command)


def with_versions(root: Path) -> Instance:
    """The instance main, with v1 to v3 as its generations 2 to 4."""
    instance = Instance(str(root), "main")
    for number, version in ((2, "v1"), (3, "v2"), (4, "v3")):
        instance.directory(number).mkdir(parents=True)
        release = {"format": 1, "generation": number, "model": "qwen", "version": version}
        (instance.directory(number) / "release.json").write_text(json.dumps(release))
    return instance
