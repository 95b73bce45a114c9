# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import (
    Mount,
    Stalled,
    WeightsFault,
    check_release,
    in_child,
    main,
    mount_at,
    read_manifest,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import publish

MOUNTINFO = r"""
24 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
90 24 0:50 / /srv/modelshelf/weights/qwen ro,nosuid,nodev,relatime shared:60 - fuse.rclone shelf:models/qwen/ ro
91 24 0:51 / /srv/with\040blank ro,relatime - nfs4 nas:/model\040store ro
92 24 0:52 / /srv/stacked rw - tmpfs tmpfs rw
93 92 0:53 / /srv/stacked ro - fuse.rclone shelf:models/other ro
"""


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("/srv/modelshelf/weights/qwen", Mount("fuse.rclone", "shelf:models/qwen/")),
        ("/srv/modelshelf/weights/qwen/", Mount("fuse.rclone", "shelf:models/qwen/")),
        ("/srv/modelshelf/weights", None),
        ("/srv/modelshelf/weights/qwen/v1", None),
        ("/srv/with blank", Mount("nfs4", "nas:/model store")),
        ("/srv/stacked", Mount("fuse.rclone", "shelf:models/other")),
    ],
)
def test_mount_at(directory: str, expected: Mount | None) -> None:
    assert mount_at(directory, MOUNTINFO) == expected


def test_this_machine_has_a_root() -> None:
    assert mount_at("/") is not None


def test_a_child_answers_one_value_after_another() -> None:
    def work() -> Iterator[Any]:
        yield from ({"n": 1}, "two", 0, "x" * 200_000)

    assert list(in_child(work, stall=10)) == [{"n": 1}, "two", 0, "x" * 200_000]


def test_a_silent_child_is_left_behind_in_time() -> None:
    def work() -> Iterator[Any]:
        yield "alive"
        time.sleep(60)
        yield "late"

    start, heard = time.monotonic(), []
    with pytest.raises(Stalled):
        for value in in_child(work, stall=0.3):
            heard.append(value)
    assert heard == ["alive"]
    assert time.monotonic() - start < 5


def test_a_child_holds_nothing_of_its_caller() -> None:
    reader, writer = os.pipe()

    def work() -> Iterator[Any]:
        yield [str(Path("/proc/self/fd", name).readlink()) for name in "012"]
        yield [str(Path(entry).readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]

    standard, everything = in_child(work, stall=10)
    assert standard == ["/dev/null"] * 3
    assert f"pipe:[{os.fstat(writer).st_ino}]" not in everything
    os.close(reader)
    os.close(writer)


def test_an_error_in_a_child_is_told() -> None:
    def work() -> Iterator[Any]:
        yield Path("/nonexistent").read_text(encoding="utf-8")

    with pytest.raises(RuntimeError, match=r"FileNotFoundError: .*/nonexistent"):
        list(in_child(work, stall=10))


def fault_of(path: Path) -> WeightsFault:
    with pytest.raises(WeightsFault) as caught:
        read_manifest(str(path), timeout=10)
    return caught.value


def test_read_manifest(tmp_path: Path) -> None:
    expected = publish(tmp_path / "v1")
    assert read_manifest(str(tmp_path / "v1"), timeout=10).digest == expected
    absent = fault_of(tmp_path / "v2")
    assert absent.kind == _weights.NOT_MOUNTED
    assert f"{tmp_path} is not a mount point, and has no v2/.modelshelf/manifest.json" in str(absent)


def test_a_manifest_that_is_none_is_damaged(tmp_path: Path) -> None:
    publish(tmp_path / "v1")
    (tmp_path / "v1" / MANIFEST_PATH).write_bytes(b"\xff{")
    assert fault_of(tmp_path / "v1").kind == _weights.DAMAGED


def test_a3_absence_on_a_mount_names_the_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_weights, "mount_at", lambda directory: Mount("fuse.rclone", "shelf:models/qwen/"))
    fault = fault_of(tmp_path / "v9")
    assert fault.kind == _weights.ABSENT
    assert "no manifest at shelf:models/qwen/v9/" in str(fault)
    assert "not uploaded or not listable" in str(fault)


def release(tmp_path: Path, **fields: object) -> str:
    path = tmp_path / "release.json"
    path.write_text(json.dumps({"weights_path": str(tmp_path / "v1"), **fields}))
    return str(path)


def test_check_release(tmp_path: Path) -> None:
    digest = publish(tmp_path / "v1")
    check_release(release(tmp_path, manifest_digest=digest), timeout=10)
    with pytest.raises(WeightsFault, match="another digest") as caught:
        check_release(release(tmp_path, manifest_digest="sha256:0"), timeout=10)
    assert caught.value.kind == _weights.OTHER
    with pytest.raises(WeightsFault, match="no usable release description"):
        check_release(release(tmp_path), timeout=10)


def test_the_program_says_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = publish(tmp_path / "v1")
    assert main(["check", release(tmp_path, manifest_digest=digest)]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["check", release(tmp_path, weights_path=str(tmp_path / "v2"), manifest_digest=digest)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("modelshelf: weights are not mounted: ")
    assert said.count("\n") == 1
