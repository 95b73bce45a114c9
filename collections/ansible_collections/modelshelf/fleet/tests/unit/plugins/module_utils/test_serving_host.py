# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._serving_host import (
    bandwidth,
    cached_versions,
    gpus,
    room,
)


def answering(output: str, status: int = 0, errors: str = "") -> tuple[list[list[str]], object]:
    asked: list[list[str]] = []

    def run(command: list[str]) -> tuple[int, str, str]:
        asked.append(command)
        return status, output, errors

    return asked, run


def test_bytes_of_a_version_are_those_that_are_allocated(tmp_path: Path) -> None:
    place = tmp_path / "tiny/vfs/shelf-tiny/models/tiny"
    (place / "v1/sub").mkdir(parents=True)
    (place / "v1/a").write_bytes(bytes(10_000))
    (place / "v1/sub/b").write_bytes(b"x")
    (place / "v2").mkdir()
    with (place / "v2/sparse").open("wb") as file:
        file.write(os.urandom(8192))
        file.truncate(1_000_000)
    (tmp_path / "tiny/vfsMeta/shelf-tiny/models/tiny/v1").mkdir(parents=True)
    (tmp_path / "tiny/vfs/shelf-tiny/other/tiny/v9").mkdir(parents=True)
    assert cached_versions(str(tmp_path), "models") == {"tiny": {"v1": 10_001, "v2": 8192}}


def test_cache_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    assert cached_versions(str(tmp_path / "none"), "models") == {}


def test_room_of_a_directory_that_is_not_there_yet(tmp_path: Path) -> None:
    found = room(str(tmp_path / "not/yet"))
    assert found["total"] == room(str(tmp_path))["total"] > found["free"] > 0


def test_gpus_by_uuid() -> None:
    asked, run = answering("GPU-1\nGPU-2\n")
    assert gpus(run, "/usr/bin/nvidia-smi") == (["GPU-1", "GPU-2"], "")
    assert asked[0][2:] == ["/usr/bin/nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]


def test_gpus_are_unknown_without_the_program_or_its_driver() -> None:
    assert gpus(answering("")[1], None) == (None, "")
    _asked, run = answering("NVIDIA-SMI has failed", status=9)
    assert gpus(run, "nvidia-smi") == (None, "nvidia-smi ended with 9: NVIDIA-SMI has failed")


@pytest.mark.parametrize(("speed", "expected"), [("25000\n", 3.125e9), ("-1\n", None), ("", None), (None, None)])
def test_bandwidth_of_the_interface_towards_the_store(
    tmp_path: Path, speed: str | None, expected: float | None
) -> None:
    (tmp_path / "eth1").mkdir()
    if speed is not None:
        (tmp_path / "eth1/speed").write_text(speed)
    asked, run = answering(json.dumps([{"dst": "127.0.0.1", "dev": "eth1"}]))
    assert bandwidth(run, "ip", "localhost", str(tmp_path)) == expected
    assert asked[0][:4] == ["ip", "-json", "route", "get"]


@pytest.mark.parametrize(("output", "status"), [("[]", 0), ("no JSON", 0), ("", 2)])
def test_bandwidth_is_unknown_without_a_route(tmp_path: Path, output: str, status: int) -> None:
    assert bandwidth(answering(output, status)[1], "ip", "127.0.0.1", str(tmp_path)) is None


def test_bandwidth_is_unknown_without_ip_or_for_a_name_that_is_none() -> None:
    _asked, run = answering("[]")
    assert bandwidth(run, None, "127.0.0.1") is None
    assert bandwidth(run, "ip", "no-such-host.invalid") is None
