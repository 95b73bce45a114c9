# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import DirectoryFaults
from ansible_collections.modelshelf.fleet.plugins.module_utils._file_tree import read_tree
from ansible_collections.modelshelf.fleet.plugins.module_utils._hashing import changed_since, hash_files
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_dir import ModelDirectory
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import write_tree


def directory(root: Path, **files: str) -> ModelDirectory:
    return ModelDirectory(root, "hf", read_tree(write_tree(root, files), []).files)


def test_files_are_hashed_in_order(tmp_path: Path) -> None:
    read: list[int] = []
    entries = hash_files(directory(tmp_path, b="22", a="1", c=""), 3, read.append)
    expected = [("a", 1, b"1"), ("b", 2, b"22"), ("c", 0, b"")]
    assert [(item.path, item.size, item.sha256) for item in entries] == [
        (path, size, hashlib.sha256(content).hexdigest()) for path, size, content in expected
    ]
    assert sum(read) == 3


def test_all_files_that_fail_are_named(tmp_path: Path) -> None:
    found = directory(tmp_path, a="1", b="2", c="3")
    (tmp_path / "a").unlink()
    (tmp_path / "b").write_text("longer")
    with pytest.raises(DirectoryFaults) as caught:
        hash_files(found, 2, lambda count: None)
    assert caught.value.faults == (
        "a cannot be read: No such file or directory",
        "b was written to while it was read",
    )


def test_a5_restored_mtime_does_not_hide_a_write(tmp_path: Path) -> None:
    found = directory(tmp_path, a="1", b="2")
    assert changed_since(found.files) == []
    before = (tmp_path / "a").stat()
    (tmp_path / "a").write_text("9")
    os.utime(tmp_path / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert changed_since(found.files) == ["a"]
