# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._file_tree import excluded, read_tree
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import write_tree


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        (".git", ".git", True),
        ("sub/.git/config", ".git", True),
        (".gitkeep", ".git", False),
        (".gitkeep", ".git*", True),
        (".cache/x/y", ".cache/**", True),
        ("original/a.pth", "original/*", True),
        ("original/a.pth", "/original/a.pth", True),
        ("sub/original/a.pth", "original/*", False),
        ("a.bin", "*.bin", True),
        ("sub/a.bin", "*.bin", True),
        ("A.BIN", "*.bin", False),
        ("logs/a", "logs/", True),
    ],
)
def test_globs(path: str, pattern: str, fits: bool) -> None:
    assert excluded(path, [pattern]) is fits


def test_files_are_sorted_and_the_reserved_folder_is_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {"b": "1", "a/c": "22", "é": "", ".modelshelf/manifest.json": "{}", ".cache/x": "3"})
    tree = read_tree(tmp_path, [".cache"])
    assert [(item.path, item.size) for item in tree.files] == [("a/c", 2), ("b", 1), ("é", 0)]
    assert tree.faults == ()


def test_links_inside_are_followed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"blobs/1": "content", "dir/x": "y"})
    (tmp_path / "model").symlink_to("blobs/1")
    (tmp_path / "again").symlink_to("dir")
    tree = read_tree(tmp_path, [])
    assert [item.path for item in tree.files] == ["again/x", "blobs/1", "dir/x", "model"]
    assert tree.files[3].location == (tmp_path / "blobs/1").resolve()


def test_directory_itself_may_be_a_link(tmp_path: Path) -> None:
    write_tree(tmp_path / "real", {"a": "1"})
    (tmp_path / "current").symlink_to("real")
    assert [item.path for item in read_tree(tmp_path / "current", []).files] == ["a"]


def test_each_thing_that_cannot_be_published_has_its_sentence(tmp_path: Path) -> None:
    top = write_tree(tmp_path / "model", {"a": "1", "back\\slash": "2", "sub/x": "3"})
    write_tree(tmp_path, {"outside": "4"})
    (top / "escaping").symlink_to("../outside")
    (top / "dangling").symlink_to("nowhere")
    (top / "sub/up").symlink_to("..")
    (top / "turning").symlink_to("turning")
    os.mkfifo(top / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(top / "socket"))
        faults = read_tree(top, []).faults
    assert any(fault.startswith("escaping is a link to") and "outside the directory" in fault for fault in faults)
    assert "dangling is a link to something that is not there" in faults
    assert "sub/up is a link to a folder that it is in" in faults
    assert any(fault.startswith("turning ") for fault in faults)
    assert "pipe is neither a file nor a folder" in faults
    assert "socket is neither a file nor a folder" in faults
    assert any("backslash" in fault for fault in faults)
    assert len(faults) == 7


def test_unreadable_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"closed": "1", "sub/x": "2"})
    listed = Path.iterdir

    def refuse(folder: Path) -> object:
        if folder.name == "sub":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    # Mode bits do not bind the superuser, who often runs these tests.
    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    faults = read_tree(tmp_path, []).faults
    assert faults == ("closed cannot be read by this user", "the folder sub cannot be listed by this user")


def test_files_closed_to_others_are_published(tmp_path: Path) -> None:
    write_tree(tmp_path, {"model.safetensors": "1"})
    (tmp_path / "model.safetensors").chmod(0o600)
    assert len(read_tree(tmp_path, []).files) == 1
