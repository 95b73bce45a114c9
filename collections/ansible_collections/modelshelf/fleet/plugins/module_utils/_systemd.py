# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd and its journal say about a unit. Standard library and Python 3.9 only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Runner = Callable[[Sequence[str]], str]
"""Runs a command and returns its standard output. Raises SystemdError when it fails."""

_PROPERTIES = (
    "LoadState",
    "ActiveState",
    "SubState",
    "Result",
    "NRestarts",
    "MainPID",
    "ControlGroup",
    "InvocationID",
    "ExecMainStatus",
    "Job",
)
_PATIENCE = 30
"""Seconds for one systemctl or journalctl call."""


class SystemdError(Exception):
    """systemctl or journalctl could not be asked."""


@dataclass(frozen=True)
class UnitState:
    """The properties of a unit that matter here, as `systemctl show` names them. `job`: one is queued or running."""

    load: str
    active: str
    sub: str
    result: str = "success"
    restarts: int = 0
    main_pid: int = 0
    control_group: str = ""
    invocation: str = ""
    main_status: int = 0
    job: bool = False

    @property
    def exists(self) -> bool:
        """Whether systemd has a unit file for it."""
        return self.load not in ("not-found", "")

    @property
    def is_active(self) -> bool:
        """Whether the unit has been started and runs."""
        return self.active in ("active", "reloading")

    def __str__(self) -> str:
        if not self.exists:
            return "not there"
        details = [f"{self.active}/{self.sub}"]
        details += [f"result {self.result}"] if self.result not in ("", "success") else []
        details += [f"exit status {self.main_status}"] if self.main_status else []
        details += [f"{self.restarts} automatic restarts"] if self.restarts else []
        return ", ".join(details)


def parse_show(text: str) -> UnitState:
    """The state in the output of `systemctl show`. Properties that an older systemd does not know count as empty."""
    found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return UnitState(
        load=found.get("LoadState", ""),
        active=found.get("ActiveState", ""),
        sub=found.get("SubState", ""),
        result=found.get("Result", ""),
        restarts=_number(found.get("NRestarts", "")),
        main_pid=_number(found.get("MainPID", "")),
        control_group=found.get("ControlGroup", ""),
        invocation=found.get("InvocationID", ""),
        main_status=_number(found.get("ExecMainStatus", "")),
        job=_number(found.get("Job", "")) != 0,
    )


class Systemd:
    """The service manager of this host, asked through its commands. Tests give it recorded answers by `run`."""

    def __init__(self, run: Runner) -> None:
        self._run = run

    def state(self, unit: str) -> UnitState:
        """The state of `unit`; one that does not exist has `exists` False."""
        return parse_show(self._run(["systemctl", "show", f"--property={','.join(_PROPERTIES)}", "--", unit]))

    def reload(self, unit: str) -> None:
        """Have `unit` reload its configuration; for a weights mount that drops the cached listing."""
        self._run(["systemctl", "reload", "--", unit])

    def stop(self, unit: str) -> None:
        """Have `unit` stopped; does not wait for it."""
        self._run(["systemctl", "stop", "--no-block", "--", unit])

    def restart(self, unit: str) -> None:
        """Have `unit` restarted with what its files say now; does not wait for it."""
        self._run(["systemctl", "daemon-reload"])
        self._run(["systemctl", "restart", "--no-block", "--", unit])

    def start(self, unit: str) -> None:
        """Have `unit` started, with what its files say now, however often it has failed; does not wait for it."""
        self._run(["systemctl", "daemon-reload"])
        self._run(["systemctl", "start", "--no-block", "--", unit])

    def journal(self, unit: str, invocation: str = "", lines: int = 400) -> list[str]:
        """The last lines that one run of the unit wrote, or those of all its runs when that one wrote nothing."""
        command = ["journalctl", "--no-pager", "--quiet", "--output=cat", f"--lines={lines}"]
        text = self._run([*command, f"_SYSTEMD_INVOCATION_ID={invocation}"]) if invocation else ""
        if not text.strip():
            text = self._run([*command, f"--unit={unit}"])
        return text.splitlines()


def through(run_command: Callable[..., tuple[int, str, str]]) -> Runner:
    """A runner that uses AnsibleModule.run_command, with a limit for how long a command may take."""

    def run(command: Sequence[str]) -> str:
        status, output, error = run_command(
            ["timeout", str(_PATIENCE), *command], environ_update={"LC_ALL": "C.UTF-8"}, errors="replace"
        )
        if status:
            raise SystemdError(f"{' '.join(command)} failed with {status}: {error.strip()}")
        return output

    return run


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0
