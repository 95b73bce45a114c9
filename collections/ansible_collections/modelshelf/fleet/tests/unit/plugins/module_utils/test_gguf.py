# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._gguf import gguf_fault

F32, F16, Q4_0 = 0, 1, 2


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def gguf(tensors: list[tuple[int, tuple[int, ...], int]], alignment: int = 0, version: int = 3) -> bytes:
    """A GGUF file whose tensors are given as type, shape and bytes; each begins on a multiple of the alignment."""
    fields = [
        string("general.architecture") + struct.pack("<I", 8) + string("llama"),
        string("tokens") + struct.pack("<IIQ", 9, 8, 2) + string("a") + string("bb"),
        string("nested") + struct.pack("<IIQ", 9, 9, 1) + struct.pack("<IQ", 4, 2) + bytes(8),
        string("flag") + struct.pack("<IB", 7, 1),
        string("scale") + struct.pack("<Id", 12, 0.5),
    ]
    if alignment:
        fields.append(string("general.alignment") + struct.pack("<II", 4, alignment))
    step = alignment or 32
    header = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(fields)) + b"".join(fields)
    data = b""
    for number, (kind, shape, length) in enumerate(tensors):
        data += bytes(-len(data) % step)
        header += string(f"t{number}") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        data += bytes([number + 1]) * length
    return header + bytes(-len(header) % step) + data


WHOLE = gguf([(F32, (32, 4), 512), (Q4_0, (64, 3), 108), (F16, (3,), 6)])


def fault_of(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return gguf_fault(path, "w.gguf", len(content))


@pytest.mark.parametrize("alignment", [0, 8, 64])
@pytest.mark.parametrize("version", [2, 3])
def test_whole_file(tmp_path: Path, alignment: int, version: int) -> None:
    content = gguf([(F32, (32, 4), 512), (F16, (3,), 6)], alignment, version)
    assert fault_of(tmp_path / "w", content) == ""
    assert fault_of(tmp_path / "w", content + bytes(26)) == ""
    assert f"expected {len(content)} bytes, found {len(content) - 1} bytes" in fault_of(tmp_path / "w", content[:-1])


@given(st.integers(min_value=1, max_value=len(WHOLE) - 4))
def test_a13_any_cut_is_noticed(tmp_path_factory: pytest.TempPathFactory, missing: int) -> None:
    assert "w.gguf is truncated" in fault_of(tmp_path_factory.getbasetemp() / "cut", WHOLE[:-missing])


@given(st.binary(max_size=200))
def test_noise_never_raises(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    fault_of(tmp_path_factory.getbasetemp() / "noise", b"GGUF" + struct.pack("<I", 3) + noise)


def test_unknown_version_and_type_are_not_judged(tmp_path: Path) -> None:
    assert fault_of(tmp_path / "w", b"GGUF" + struct.pack("<I", 9)) == ""
    assert fault_of(tmp_path / "w", gguf([(99, (1000,), 1)])) == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not begin with GGUF"),
        (b"GGML" + bytes(40), "does not begin with GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "more tensors or fields"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + string("k") + struct.pack("<I", 77), "unknown type 77"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + string("t") + struct.pack("<I", 900), "900 dimensions"),
    ],
)
def test_what_is_no_gguf(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in fault_of(tmp_path / "w", content)


def test_alignment_of_nothing(tmp_path: Path) -> None:
    content = gguf([(F16, (3,), 6)], 32).replace(
        string("general.alignment") + struct.pack("<II", 4, 32), string("general.alignment") + struct.pack("<II", 4, 0)
    )
    assert "alignment is 0" in fault_of(tmp_path / "w", content)
