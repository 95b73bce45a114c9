# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import Identity, WeightsFault, read_manifest
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_files import (
    Reading,
    check_files,
    check_refused_write,
    identity_of,
    identity_of_process,
    read_inside,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import FILES, publish

ME = Identity(os.geteuid(), os.getegid(), tuple(os.getgroups()))


def check(version: Path, *, hashes: bool) -> None:
    manifest = read_manifest(str(version), timeout=10)
    check_files(str(version), manifest, ME, Reading(hashes), timeout=10)


@pytest.mark.parametrize("hashes", [False, True])
def test_a_whole_version_passes(tmp_path: Path, hashes: bool) -> None:
    publish(tmp_path / "v1")
    check(tmp_path / "v1", hashes=hashes)


@pytest.mark.parametrize(
    ("hashes", "change", "expected"),
    [
        (False, lambda v: (v / "model.safetensors").unlink(), "in the manifest, not on the mount: model.safetensors"),
        (False, lambda v: (v / "x.bin").write_bytes(b"x"), "on the mount, not in the manifest: x.bin"),
        (
            False,
            lambda v: (v / "sub/tokenizer.json").write_bytes(b"{"),
            "sub/tokenizer.json: expected 3 bytes, found 1",
        ),
        (True, lambda v: (v / "config.json").write_bytes(b"[]"), "config.json: expected SHA-256 "),
        (True, lambda v: (v / "empty").write_bytes(b"x"), "empty: expected 0 bytes, found 1"),
    ],
    ids=["missing", "extra", "short", "changed", "grown"],
)
def test_a11_every_difference_is_named(
    tmp_path: Path, hashes: bool, change: Callable[[Path], Any], expected: str
) -> None:
    publish(tmp_path / "v1")
    change(tmp_path / "v1")
    with pytest.raises(WeightsFault) as caught:
        check(tmp_path / "v1", hashes=hashes)
    assert caught.value.kind == _weights.DAMAGED
    assert expected in str(caught.value)


def test_files_that_are_named_are_read_whole_without_hashes(tmp_path: Path) -> None:
    publish(tmp_path / "v1")
    manifest, read = read_manifest(str(tmp_path / "v1"), timeout=10), list[int]()
    named = Reading(whole=frozenset({"model.safetensors"}), rate=1e9)
    check_files(str(tmp_path / "v1"), manifest, ME, named, timeout=10, read=read.append)
    assert sum(read) == len(FILES["model.safetensors"])
    (tmp_path / "v1" / "model.safetensors").write_bytes(b"{}")
    with pytest.raises(WeightsFault, match="expected 300000 bytes, found 2"):
        check_files(str(tmp_path / "v1"), manifest, ME, named, timeout=10)


def test_all_differences_are_in_one_message_and_none_twice(tmp_path: Path) -> None:
    publish(tmp_path / "v1")
    (tmp_path / "v1" / "model.safetensors").unlink()
    (tmp_path / "v1" / "config.json").write_bytes(b"")
    with pytest.raises(WeightsFault) as caught:
        check(tmp_path / "v1", hashes=False)
    assert str(caught.value).count("model.safetensors") == 1
    assert "config.json: expected 2 bytes, found 0" in str(caught.value)


def test_a_writable_directory_is_refused_and_left_clean(tmp_path: Path) -> None:
    with pytest.raises(WeightsFault, match="writable by me") as caught:
        check_refused_write(str(tmp_path), "me", ME, 10)
    assert caught.value.kind == _weights.WRITABLE
    assert not list(tmp_path.iterdir())


def test_a_write_that_fails_for_another_reason_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(WeightsFault, match="expected to be refused, but: No such file or directory"):
        check_refused_write(str(tmp_path / "absent"), "me", ME, 10)


def test_identities() -> None:
    assert identity_of("root") == Identity(0, 0, tuple(os.getgrouplist("root", 0)))
    assert identity_of_process(os.getpid()).uid == os.geteuid()
    with pytest.raises(WeightsFault, match="no user 'nosuchuser'"):
        identity_of("nosuchuser")


def test_read_inside_a_process_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(WeightsFault, match="No such file or directory"):
        read_inside(1, "/etc/passwd", timeout=10, proc=str(tmp_path))
