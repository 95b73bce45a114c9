# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import StoreError
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_canary

SECRET = "canary-secret-41d8"


def run(capsys: pytest.CaptureFixture[str], **changes: Any) -> dict[str, Any]:
    wanted = {"endpoint": "http://store1:9000", "access_key": "root", "secret_key": SECRET, **changes}
    with patch_module_args(wanted), pytest.raises(SystemExit):
        rustfs_canary.main()
    text = capsys.readouterr().out
    assert SECRET not in text
    result: dict[str, Any] = json.loads(text)
    return result


def test_steps_are_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[Connection, float]] = []
    monkeypatch.setattr(
        rustfs_canary, "prove_write", lambda connection, deadline: asked.append((connection, deadline)) or ["put"]
    )
    found = run(capsys, timeout=77)
    assert (found["changed"], found["steps"]) == (False, ["put"])
    (connection, deadline) = asked[0]
    assert (connection.bucket, connection.secret_key, deadline) == ("modelshelf-canary", SECRET, 77)


def test_failure_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_connection: Connection, _deadline: float) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(rustfs_canary, "prove_write", fail)
    assert run(capsys)["msg"] == "the disk is full"


def test_check_mode_writes_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delattr(rustfs_canary, "prove_write")
    assert "writes no object" in run(capsys, _ansible_check_mode=True)["skipped_reason"]
