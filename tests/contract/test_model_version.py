# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Publishing against a real S3 server: what arrives, what is sent, what is refused, and what leaks."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _model_version
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound, NotPermitted, VersionTaken
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH, parse_manifest
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3 import MIB, Store
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import hf_files, write_tree
from tests.contract.s3_server import Shelf

REPOSITORY = Path(__file__).parents[2]
PART = 5 * MIB


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Method and URL of every request that changes the store, as it leaves."""
    seen: list[str] = []

    class WatchedStore(Store):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.client.meta.events.register("before-send.s3", self._note)

        def _note(self, request: Any, **_others: Any) -> None:
            if request.method not in ("GET", "HEAD"):
                seen.append(f"{request.method} {request.url}")

    monkeypatch.setattr(_model_version, "Store", WatchedStore)
    return seen


def parameters(shelf: Shelf, directory: Path, **changes: Any) -> dict[str, Any]:
    return {
        **shelf.parameters(),
        "model": "OPT/125m",
        "version": "v1",
        "directory": str(directory),
        "exclude": _model_version.DEFAULT_EXCLUDE,
        "allow_missing": [],
        "concurrency": 4,
        "part_size": PART,
        **changes,
    }


def publish(shelf: Shelf, directory: Path, *, check_mode: bool = False, **changes: Any) -> dict[str, Any]:
    return _model_version.publish_version(
        parameters(shelf, directory, **changes), check_mode=check_mode, say=lambda text: None, warn=lambda text: None
    )


def pattern(size: int, seed: int = 0) -> bytes:
    """Bytes that differ from part to part."""
    block = hashlib.sha256(str(seed).encode()).digest() * (MIB // 32)
    return b"".join(number.to_bytes(8, "big") + block[8:] for number in range(size // MIB + 1))[:size]


def test_a4_files_around_the_multipart_threshold_arrive_whole(shelf: Shelf, tmp_path: Path, writes: list[str]) -> None:
    sizes = {"below": PART - 1, "at": PART, "above": PART + 1, "large": 20 * MIB, "empty": 0}
    write_tree(tmp_path, {**hf_files(), **{name: pattern(size) for name, size in sizes.items()}})
    result = publish(shelf, tmp_path)
    assert any("partNumber=4" in line for line in writes)
    for entry in result["manifest"]["files"]:
        content = shelf.content(f"opt-125m/v1/{entry['path']}")
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["size"], entry["sha256"])
    assert parse_manifest(shelf.content(f"opt-125m/v1/{MANIFEST_PATH}")).as_dict() == result["manifest"]
    assert writes[-1].startswith("PUT") and writes[-1].endswith(f"/opt-125m/v1/{MANIFEST_PATH}")


def test_a5_second_run_and_other_part_size_send_nothing(shelf: Shelf, tmp_path: Path, writes: list[str]) -> None:
    write_tree(tmp_path, {**hf_files(), "large": pattern(20 * MIB)})
    assert publish(shelf, tmp_path)["changed"] is True
    writes.clear()
    again = publish(shelf, tmp_path)
    other_parts = publish(shelf, tmp_path, part_size=8 * MIB)
    assert (again["changed"], other_parts["changed"], writes) == (False, False, [])
    assert again["diff"]["before"] == again["diff"]["after"]
    assert again["reused"]["files"] == 4


def test_a5_other_content_of_the_same_size_and_time_is_refused(shelf: Shelf, tmp_path: Path, writes: list[str]) -> None:
    write_tree(tmp_path, {**hf_files(), "large": pattern(2 * MIB)})
    publish(shelf, tmp_path)
    before, writes[:] = (tmp_path / "large").stat(), []
    (tmp_path / "large").write_bytes(pattern(2 * MIB, seed=1))
    os.utime(tmp_path / "large", ns=(before.st_atime_ns, before.st_mtime_ns))
    for check_mode in (True, False):
        with pytest.raises(VersionTaken, match="different: large"):
            publish(shelf, tmp_path, check_mode=check_mode)
    assert writes == []
    assert publish(shelf, tmp_path, version="v2")["changed"] is True


def test_a5_killed_upload_resumes(shelf: Shelf, tmp_path: Path, writes: list[str]) -> None:
    model = write_tree(tmp_path / "model", {**hf_files(), **{f"part{n:02d}": pattern(3 * MIB, n) for n in range(40)}})
    (tmp_path / "parameters.json").write_text(json.dumps(parameters(shelf, model, concurrency=1)))
    script = (
        "import json, sys\n"
        "from ansible_collections.modelshelf.fleet.plugins.module_utils._model_version import publish_version\n"
        "publish_version(json.load(open(sys.argv[1])), check_mode=False, say=print, warn=print)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "collections")}
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "parameters.json")], env=environment)
    deadline = time.monotonic() + 60
    while len(shelf.keys()) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    finished = shelf.keys()
    assert f"opt-125m/v1/{MANIFEST_PATH}" not in finished
    result = publish(shelf, model)
    # The file that was on its way when the process died may be there and counts as sent or as reused.
    assert result["reused"]["files"] >= 4
    assert result["uploaded"]["files"] + result["reused"]["files"] == 43
    assert len([line for line in writes if line.startswith("PUT")]) == result["uploaded"]["files"] + 1
    assert publish(shelf, model)["changed"] is False


def test_dry_run_announces_what_the_real_run_sends(shelf: Shelf, tmp_path: Path, writes: list[str]) -> None:
    write_tree(tmp_path, hf_files(shards=3))
    announced = publish(shelf, tmp_path, check_mode=True)
    assert (shelf.keys(), writes) == ({}, [])
    done = publish(shelf, tmp_path)
    assert {**announced["manifest"], "created": ""} == {**done["manifest"], "created": ""}
    assert (announced["uploaded"], announced["diff"]) == (done["uploaded"], done["diff"])
    assert len(shelf.keys()) == announced["uploaded"]["files"] + 1
    assert publish(shelf, tmp_path, check_mode=True)["changed"] is False


def test_unusual_names_arrive_and_private_files_are_published(shelf: Shelf, tmp_path: Path) -> None:
    names = ["é b+c%20&?.txt", "a=b/#1.txt", "模型.txt", ".gitkeep"]
    write_tree(tmp_path, {**hf_files(), **dict.fromkeys(names, "")})
    (tmp_path / "model.safetensors").chmod(0o600)
    publish(shelf, tmp_path)
    assert {f"opt-125m/v1/{name}" for name in names} <= set(shelf.keys())
    assert publish(shelf, tmp_path)["changed"] is False


def test_absent_bucket(shelf: Shelf, tmp_path: Path) -> None:
    write_tree(tmp_path, hf_files())
    with pytest.raises(NotFound, match="there is no bucket 'absent-bucket'"):
        publish(shelf, tmp_path, bucket="absent-bucket")
    assert publish(shelf, tmp_path, bucket="absent-bucket", check_mode=True)["changed"] is True


@pytest.mark.parametrize("wrong", ["access_key", "secret_key"])
def test_wrong_key_fails_in_check_mode_too(shelf: Shelf, tmp_path: Path, wrong: str) -> None:
    write_tree(tmp_path, hf_files())
    for check_mode in (True, False):
        with pytest.raises(NotPermitted, match="check the access key"):
            publish(shelf, tmp_path, check_mode=check_mode, **{wrong: "wrong-wrong-wrong"})


def test_info_lists_what_was_published(shelf: Shelf, tmp_path: Path) -> None:
    write_tree(tmp_path, hf_files())
    for version in ("v2", "v1"):
        publish(shelf, tmp_path, version=version)
    asked = {**shelf.parameters(), "model": "OPT/125m", "version": "v9"}
    found = _model_version.list_versions(asked, check_mode=False, warn=pytest.fail)
    assert (found["exists"], found["available"]) == (False, ["v1", "v2"])
    everything = _model_version.list_versions(
        {**asked, "model": None, "version": None}, check_mode=False, warn=pytest.fail
    )
    assert [line["display_name"] for line in everything["versions"]] == ["OPT/125m", "OPT/125m"]


def ansible(shelf: Shelf, tmp_path: Path, *options: str, **changes: Any) -> subprocess.CompletedProcess[str]:
    """The module as Ansible runs it, with its arguments in a file, as a vault would give them."""
    arguments = {key: value for key, value in parameters(shelf, tmp_path / "model").items() if value is not None}
    arguments_file = tmp_path / "arguments.json"
    arguments_file.write_text(json.dumps({"arguments": {**arguments, **changes}}))
    play = tmp_path / "play.yml"
    task = {"name": "Publish", "modelshelf.fleet.model_version": "{{ arguments }}"}
    play.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "localhost,", "-c", "local"]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(REPOSITORY / "collections")}
    return subprocess.run(
        [
            *command,
            "-e",
            f"@{arguments_file}",
            "-e",
            f"ansible_python_interpreter={sys.executable}",
            *options,
            str(play),
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a35_secret_is_in_no_output_of_ansible(shelf: Shelf, tmp_path: Path) -> None:
    write_tree(tmp_path / "model", hf_files())
    runs = [
        ansible(shelf, tmp_path, "-vvv", "--diff", "--check"),
        ansible(shelf, tmp_path, "-vvv", "--diff"),
        ansible(shelf, tmp_path, "-vvv", "--diff"),
        ansible(shelf, tmp_path, "-vvv", "--diff", directory="/nowhere"),
        ansible(shelf, tmp_path, "-vvv", "--diff", access_key="wrong-wrong-wrong"),
    ]
    assert [run.returncode for run in runs] == [0, 0, 0, 2, 2], runs[0].stdout + runs[0].stderr
    assert ["changed=1" in run.stdout for run in runs] == [True, True, False, False, False]
    assert "DEPRECAT" not in "".join(run.stderr + run.stdout for run in runs)
    assert "opt-125m/v1" in runs[0].stdout
    for run in runs:
        assert shelf.server.secret_key not in run.stdout + run.stderr
