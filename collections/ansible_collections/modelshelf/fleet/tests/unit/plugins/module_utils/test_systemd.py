# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import (
    Systemd,
    SystemdError,
    parse_show,
    through,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import ABSENT, CRASHED, show


def test_a_running_unit() -> None:
    state = parse_show(show(pid=4711, restarts=2))
    assert state.exists
    assert state.is_active
    assert (state.main_pid, state.restarts, state.job) == (4711, 2, False)
    assert state.control_group == "/system.slice/modelshelf-vllm@main.service"
    assert str(state) == "active/running, 2 automatic restarts"


def test_a_crashed_unit() -> None:
    state = parse_show(show(**CRASHED))
    assert not state.is_active
    assert str(state) == "activating/auto-restart, result exit-code, exit status 1"


def test_a_unit_that_does_not_exist() -> None:
    state = parse_show(ABSENT)
    assert not state.exists
    assert str(state) == "not there"


def test_a_queued_job_is_seen() -> None:
    assert parse_show(show(active="inactive", sub="dead", job=1712)).job


class Commands:
    def __init__(self, *outputs: str) -> None:
        self.outputs, self.asked = list(outputs), list[Sequence[str]]()

    def __call__(self, command: Sequence[str]) -> str:
        self.asked.append(command)
        return self.outputs.pop(0)


def test_the_journal_is_that_of_one_run() -> None:
    commands = Commands("first\nlast\n")
    assert Systemd(commands).journal("u.service", "abc", 400) == ["first", "last"]
    assert commands.asked[0][-1] == "_SYSTEMD_INVOCATION_ID=abc"


def test_a_run_that_wrote_nothing_leaves_the_journal_of_the_unit() -> None:
    commands = Commands("\n", "from before\n")
    assert Systemd(commands).journal("u.service", "abc") == ["from before"]
    assert commands.asked[1][-1] == "--unit=u.service"


def test_a_runner_has_a_limit_and_plain_words() -> None:
    asked: list[list[str]] = []

    def run_command(command: list[str], **options: object) -> tuple[int, str, str]:
        asked.append(command)
        return (0, "ActiveState=active\n", "") if len(asked) == 1 else (1, "", "Unit not loaded.\n")

    systemd = Systemd(through(run_command))
    assert systemd.state("u.service").is_active
    assert asked[0][:3] == ["timeout", "30", "systemctl"]
    with pytest.raises(SystemdError, match=r"systemctl reload -- u\.service failed with 1: Unit not loaded\."):
        systemd.reload("u.service")
