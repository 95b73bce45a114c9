# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd
from ansible_collections.modelshelf.fleet.plugins.modules import vllm_ready
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import (
    ABSENT,
    CRASHED,
    Host,
    Vllm,
    publish,
    serving,
    show,
)

KEY = "canary-key-7f3a"


@pytest.fixture(autouse=True)
def own_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this test's process, which listens, for the unit's."""
    monkeypatch.setattr(
        "ansible_collections.modelshelf.fleet.plugins.module_utils._listeners.in_control_group",
        lambda pid, group, proc: pid == os.getpid(),
    )


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str, log: str = "", **changes: Any
) -> dict[str, Any]:
    host = Host([state], log)
    monkeypatch.setattr(vllm_ready, "Systemd", lambda runner: Systemd(host.run))
    arguments = {"unit": "u.service", "address": "127.0.0.1", "port": 1, "served_names": ["q"], "root": "/w/v1"}
    wanted = {**arguments, "api_key": KEY, "timeout": 1, "_ansible_inject_invocation": True, **changes}
    with patch_module_args(wanted), pytest.raises(SystemExit):
        vllm_ready.main()
    text = capsys.readouterr().out
    assert KEY not in text
    result: dict[str, Any] = json.loads(text)
    return result


@pytest.mark.parametrize("check", [False, True])
def test_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], check: bool
) -> None:
    publish(tmp_path / "v1")
    with serving(Vllm("q", root=str(tmp_path / "v1"), key=KEY)) as vllm:
        changes = {"port": vllm.port, "root": str(tmp_path / "v1"), "_ansible_check_mode": check}
        result = run(monkeypatch, capsys, show(pid=os.getpid()), **changes)
    assert (result["changed"], result["model"], result["root"]) == (False, "q", str(tmp_path / "v1"))
    assert result["completion"] == ("" if check else " brown brown")
    assert ("completion" in result["rungs"]) is not check
    assert len(vllm.requests) == (0 if check else 1)


def test_a_failure_has_rung_cause_and_log(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    log = f"args: {{'api_key': ['{KEY}']}}\nkey {KEY}\nRuntimeError: Cannot find any model weights with `/w/v1`"
    result = run(monkeypatch, capsys, show(**CRASHED), log)
    assert (result["failed"], result["rung"]) == (True, "unit")
    assert "the directory has no weight files" in result["msg"]
    assert len(result["log"]) == 3


@pytest.mark.parametrize(
    ("state", "reason"), [(ABSENT, "not there"), (show(active="inactive", sub="dead"), "inactive/dead")]
)
def test_a34_check_mode_skips_what_does_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str, reason: str
) -> None:
    result = run(monkeypatch, capsys, state, _ansible_check_mode=True)
    assert result["changed"] is False
    assert f"u.service is {reason}" in result["skipped_reason"]


def test_no_name_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "served_names is empty" in run(monkeypatch, capsys, ABSENT, served_names=[])["msg"]


def test_a_host_without_systemd(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with (
        patch_module_args({"unit": "u", "address": "127.0.0.1", "port": 1, "served_names": ["q"], "root": "/w"}),
        pytest.raises(SystemExit),
    ):
        vllm_ready.main()
    assert "systemctl show" in capsys.readouterr().out
