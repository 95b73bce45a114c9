# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_ready import Ladder, NotReady
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_ready
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import ABSENT, Host, show


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str, **changes: Any
) -> dict[str, Any]:
    monkeypatch.setattr(rustfs_ready, "Systemd", lambda runner: Systemd(Host([state]).run))
    with patch_module_args({"unit": "u.service", "port": 9, **changes}), pytest.raises(SystemExit):
        rustfs_ready.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.parametrize("check", [False, True])
def test_ready(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], check: bool) -> None:
    monkeypatch.setattr(Ladder, "climb", lambda self: ["unit", "ready"])
    found = run(monkeypatch, capsys, show(), _ansible_check_mode=check, nodes=["http://n1:9000"])
    assert (found["changed"], found["rungs"]) == (False, ["unit", "ready"])


def test_not_ready(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_ladder: Ladder) -> None:
        raise NotReady("ready", "after 240 s no", ["line"])

    monkeypatch.setattr(Ladder, "climb", fail)
    found = run(monkeypatch, capsys, show())
    assert (found["msg"], found["log"]) == ("ready: after 240 s no", ["line"])


@pytest.mark.parametrize("state", [ABSENT, show(active="inactive", sub="dead")])
def test_check_mode_before_the_first_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    assert "does not run yet" in run(monkeypatch, capsys, state, _ansible_check_mode=True)["skipped_reason"]
    assert run(monkeypatch, capsys, state)["failed"]
