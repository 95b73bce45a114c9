# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._formats import (
    lfs_pointer_size,
    read_json_object,
    read_safetensors,
    torch_fault,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import lfs_pointer, safetensors

DATA = 4 * 300


def header_of(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return read_safetensors(path, "w", len(content)).fault


def test_sound_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_bytes(safetensors({"a": 10, "b": 0, "c": 7}))
    header = read_safetensors(path, "w", path.stat().st_size)
    assert (header.tensors, header.data_bytes, header.fault) == ({"a", "b", "c"}, 68, "")


@given(missing=st.integers(min_value=1, max_value=DATA + 60))
def test_a13_any_cut_is_noticed(missing: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    whole = safetensors({"a": 300})
    cut = safetensors({"a": 300}, missing=missing)
    fault = header_of(tmp_path_factory.getbasetemp() / "cut", cut)
    assert f"found {len(cut)} bytes" in fault
    if missing <= DATA:
        assert fault == f"w is truncated: expected {len(whole)} bytes, found {len(cut)} bytes"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected 8 bytes and a header, found 0 bytes"),
        (b"<html>not found</html>", "first bytes are no header length"),
        (struct.pack("<Q", 0), "damaged header"),
        (struct.pack("<Q", 3) + b"{,}", "damaged header"),
        (struct.pack("<Q", 10) + b'{"a": [1]}', "damaged header"),
        (struct.pack("<Q", 2) + b"{}" + b"x", "too long: expected 10 bytes, found 11 bytes"),
    ],
)
def test_what_is_no_safetensors(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in header_of(tmp_path / "w", content)


def test_tensors_with_a_gap(tmp_path: Path) -> None:
    text = json.dumps({"a": {"data_offsets": [0, 4]}, "b": {"data_offsets": [8, 12]}}).encode()
    fault = header_of(tmp_path / "w", struct.pack("<Q", len(text)) + text + bytes(12))
    assert "do not follow each other" in fault


def test_lfs_pointer(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_bytes(lfs_pointer(4_976_698_672))
    assert lfs_pointer_size(path, path.stat().st_size) == 4_976_698_672
    path.write_bytes(safetensors({"a": 1}))
    assert lfs_pointer_size(path, path.stat().st_size) is None


def test_torch(tmp_path: Path) -> None:
    path = tmp_path / "w"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", b"x" * 1000)
    assert torch_fault(path, "w") == ""
    path.write_bytes(path.read_bytes()[:-100])
    assert "truncated" in torch_fault(path, "w")
    path.write_bytes(b"\x80\x02}q")
    assert torch_fault(path, "w") == ""
    path.write_bytes(b"hello")
    assert "not a PyTorch file" in torch_fault(path, "w")


@pytest.mark.parametrize("text", ["", "{", "[]", "\udcff", "[" * 100_000])
def test_what_is_no_json_object(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert read_json_object(path, "config.json")[1].startswith("config.json is not")
