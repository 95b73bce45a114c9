# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import SILENT, WeightsFault
from ansible_collections.modelshelf.fleet.plugins.modules import weights_verify
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import FILES, publish


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], **changes: Any) -> dict[str, Any]:
    arguments = {
        "path": str(tmp_path / "v1"),
        "mountpoint": str(tmp_path),
        "user": pwd.getpwuid(os.geteuid()).pw_name,
        "timeout": 1,
        **changes,
    }
    with patch_module_args(arguments), pytest.raises(SystemExit):
        weights_verify.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    digest = publish(tmp_path / "v1")
    # A directory can be written; tests/contract has mounts that cannot.
    monkeypatch.setattr(
        "ansible_collections.modelshelf.fleet.plugins.module_utils._weights_verify.check_refused_write",
        lambda *arguments: None,
    )
    for check in ("sizes", "hashes"):
        result = run(tmp_path, capsys, fstype="", check=check)
        assert result["changed"] is False
        assert (result["manifest_digest"], result["version"], result["versions"]) == (digest, "v1", ["v1"])
        assert (result["files"], result["bytes"]) == (len(FILES), sum(map(len, FILES.values())))


def test_a_writable_directory_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish(tmp_path / "v1")
    result = run(tmp_path, capsys, fstype="")
    assert (result["failed"], result["fault"]) == (True, "writable")


def test_a34_without_a_mount_check_mode_skips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(tmp_path, capsys, _ansible_check_mode=True)
    assert result["changed"] is False
    assert f"{tmp_path} is not a mount point: expected a fuse.rclone mount" in result["skipped_reason"]


def test_a34_check_mode_forgives_a_version_that_the_run_would_publish(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path / "v0")
    result = run(tmp_path, capsys, fstype="", may_be_absent=True, _ansible_check_mode=True)
    assert f"has no v1/{MANIFEST_PATH}" in result["skipped_reason"]
    for changes in ({"_ansible_check_mode": True}, {"may_be_absent": True}):
        result = run(tmp_path, capsys, fstype="", **changes)
        assert (result["failed"], result["fault"]) == (True, "not mounted")


def test_a14_without_a_mount_a_real_run_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish(tmp_path / "v1")
    result = run(tmp_path, capsys)
    assert (result["failed"], result["fault"]) == (True, "not mounted")


def refused(*arguments: Any, **named: Any) -> None:
    raise WeightsFault(SILENT, "no answer: the store does not answer, or refuses the reader's key")


def test_stale_mount_that_does_not_answer_may_be_restarted_by_a_later_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(weights_verify, "verify", refused)
    monkeypatch.setattr(weights_verify.AnsibleModule, "warn", lambda module, text: warned.append(text))
    started, settings = tmp_path / "started", tmp_path / "rclone.conf"
    started.touch()
    settings.touch()
    given = {"started": str(started), "settings": [str(settings), str(tmp_path / "absent")], "may_be_refused": True}
    os.utime(started, ns=(2, 2))
    result = run(tmp_path, capsys, **given)
    assert (result["changed"], result["stale"], result["refused"]) == (False, True, True)
    assert len(warned) == 1 and "refuses the reader's key. " in warned[0]
    assert "manifest_digest" not in result
    assert run(tmp_path, capsys, **given, _ansible_check_mode=True, fstype="")["refused"] is True
    assert run(tmp_path, capsys, **{**given, "may_be_refused": False})["fault"] == "no answer"
    os.utime(settings, ns=(1, 1))
    assert run(tmp_path, capsys, **given)["fault"] == "no answer"
    assert run(tmp_path, capsys, **given, stale=True)["refused"] is True


def test_stale_mount_is_verified_where_it_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish(tmp_path / "v1")
    for given in ({"stale": True, "may_be_refused": True}, {}):
        result = run(tmp_path, capsys, fstype="", **given)
        assert (result["failed"], result["fault"]) == (True, "writable")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": ["/etc/modelshelf/rclone.conf"]}, "parameters are required together: started, settings"),
        ({"path": "/elsewhere/v1"}, "is not directly below mountpoint"),
        ({"timeout": 0}, "expected more than 0 seconds"),
        ({"user": "nosuchuser"}, "no user 'nosuchuser'"),
        ({"check": "all"}, "check"),
    ],
)
def test_unusable_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], message: str
) -> None:
    result = run(tmp_path, capsys, **changes)
    assert result["failed"] is True
    assert message in result["msg"]
