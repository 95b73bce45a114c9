# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules up to the store; tests/contract goes on from there with a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.modules import model_version, model_version_info
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import hf_files, write_tree

NOBODY = {
    "endpoint": "http://127.0.0.1:9",
    "bucket": "models",
    "access_key": "writer",
    "secret_key": "canary-secret",
    "timeout": 1,
}


def run(module: Any, capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    with patch_module_args({**NOBODY, **arguments}), pytest.raises(SystemExit):
        module.main()
    text = capsys.readouterr().out
    assert "canary-secret" not in text
    result: dict[str, Any] = json.loads(text)
    return result


def test_a34_dry_run_without_a_store_takes_it_for_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = str(write_tree(tmp_path, hf_files()))
    result = run(model_version, capsys, model="OPT/125m", version="v1", directory=directory, _ansible_check_mode=True)
    assert result["changed"] is True
    assert result["prefix"] == "opt-125m/v1"
    assert result["uploaded"]["files"] == result["diff"]["after"]["files"] == 3
    assert result["diff"]["before"] == {"digest": "", "files": 0, "bytes": 0}


def test_real_run_without_a_store_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = str(write_tree(tmp_path, hf_files()))
    result = run(model_version, capsys, model="opt", version="v1", directory=directory)
    assert result["failed"] is True
    assert "s3://models/opt/v1/ (endpoint http://127.0.0.1:9): no answer" in result["msg"]


@pytest.mark.parametrize("check_mode", [True, False])
def test_faults_of_the_directory_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], check_mode: bool
) -> None:
    directory = str(write_tree(tmp_path, {"config.json": "{}"}))
    result = run(model_version, capsys, model="opt", version="v1", directory=directory, _ansible_check_mode=check_mode)
    assert result["failed"] is True
    assert len(result["faults"]) == 2
    assert "2 faults" in result["msg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"version": "latest"}, "'latest'"),
        ({"model": "//"}, "no letter"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"endpoint": "store1:9000"}, "http://host:port"),
        ({"allow_missing": ["config"]}, "allow_missing"),
        ({"version": None}, "version"),
    ],
)
def test_unusable_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: dict[str, Any], message: str
) -> None:
    base = {"model": "opt", "version": "v1", "directory": str(tmp_path)}
    given = {key: value for key, value in {**base, **arguments}.items() if value is not None}
    result = run(model_version, capsys, **given)
    assert result["failed"] is True
    assert message in result["msg"]


def test_info_needs_a_model_for_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'version'" in run(model_version_info, capsys, version="v1")["msg"]


def test_info_without_a_store_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no answer" in run(model_version_info, capsys)["msg"]
