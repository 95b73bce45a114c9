# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_preflight
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import ABSENT, Host


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], record: Path, **changes: Any
) -> dict[str, Any]:
    monkeypatch.setattr(rustfs_preflight, "Systemd", lambda runner: Systemd(Host([ABSENT]).run))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    wanted = {"user": str(os.getuid()), "unit": "u.service", "port": port, "record": str(record), **changes}
    with patch_module_args(wanted), pytest.raises(SystemExit):
        rustfs_preflight.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.parametrize("check", [False, True])
def test_host_that_is_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], check: bool
) -> None:
    options = {"volumes": [f"{tmp_path}/d{{0...3}}"], "allow_shared_device": True, "_ansible_check_mode": check}
    found = run(monkeypatch, capsys, tmp_path / "none", **options)
    assert found["paths"] == [f"{tmp_path}/d{number}" for number in range(4)]
    assert (found["changed"], found["drives"], found["sets"], found["hosts"]) == (False, 4, 1, [])
    assert list(tmp_path.iterdir()) == []


def test_everything_that_is_wrong_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as forgotten:
        forgotten.bind(("127.0.0.1", 0))
        forgotten.listen()
        options = {"volumes": [f"{tmp_path}/d{{0...1}}"], "hosts": 2, "port": forgotten.getsockname()[1]}
        found = run(monkeypatch, capsys, tmp_path / "none", **options)
    assert found["failed"]
    topology, disks, port = found["problems"]
    assert "2 hosts make up the store" in topology
    assert "2 volumes lie on the disk" in disks
    assert f"is held by pid {os.getpid()}" in port
    assert found["msg"].endswith(". Nothing was touched")


@pytest.mark.parametrize(("volume", "reason"), [("/d{0..3}", "three dots"), ("/d{1...17}", "17 drives")])
def test_volumes_that_the_server_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], volume: str, reason: str
) -> None:
    found = run(monkeypatch, capsys, tmp_path / "none", volumes=[volume])
    assert found["msg"].startswith("rustfs_volumes: ")
    assert reason in found["msg"]


def test_damaged_record_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store.json").write_text("{}")
    found = run(monkeypatch, capsys, tmp_path / "store.json", volumes=[str(tmp_path)])
    assert "cannot be read" in found["msg"]
