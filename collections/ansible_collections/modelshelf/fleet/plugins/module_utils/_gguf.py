# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a GGUF file must be, from its header, to tell a whole one from one whose download broke off.

The layout is that of ggml's docs/gguf.md, versions 2 and 3; the block sizes are those of gguf-py's GGML_QUANT_SIZES.
"""

from __future__ import annotations

import struct
from math import prod
from pathlib import Path
from typing import BinaryIO

_NUMBERS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of each value type that is a number."""
_UINT32, _STRING, _ARRAY = 4, 8, 9

_BLOCKS = {
    **{0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40)},
    **{10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292)},
    **{16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82)},
    **{23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2)},
    **{34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18)},
}
"""Values and bytes of a block of each tensor type. Of an unknown, newer type only the beginning is demanded."""

_KEY_ALIGNMENT = b"general.alignment"
_DEFAULT_ALIGNMENT = 32


class _Damaged(ValueError):
    """The header contradicts itself."""


def gguf_fault(path: Path, name: str, size: int) -> str:
    """The sentence that says why a GGUF file of `size` bytes cannot be loaded, or an empty string."""
    with path.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            return f"{name} is not a GGUF file: it does not begin with GGUF"
        try:
            expected = _expected_size(stream, size)
        except EOFError:
            return f"{name} is truncated: its header is not complete, found {size} bytes"
        except (_Damaged, RecursionError) as error:
            return f"{name} has a damaged header: {error}"
    return f"{name} is truncated: expected {expected} bytes, found {size} bytes" if size < expected else ""


def _expected_size(stream: BinaryIO, size: int) -> int:
    """The number of bytes up to the end of the last tensor; 0 where the version is not one that is known here."""
    (version,) = _unpack(stream, "<I")
    if version not in (2, 3):
        return 0  # version 1, big endian, or newer than this
    tensors, pairs = _unpack(stream, "<QQ")
    if max(tensors, pairs) > size:
        raise _Damaged("it counts more tensors or fields than the file has bytes")
    alignment = _DEFAULT_ALIGNMENT
    for _number in range(pairs):
        key = _string(stream)
        (kind,) = _unpack(stream, "<I")
        if key == _KEY_ALIGNMENT and kind == _UINT32:
            (alignment,) = _unpack(stream, "<I")
        else:
            _skip(stream, kind)
    end = 0
    for _number in range(tensors):
        _string(stream)
        (dimensions,) = _unpack(stream, "<I")
        if dimensions > 8:
            raise _Damaged(f"it has a tensor of {dimensions} dimensions")
        shape = _unpack(stream, f"<{dimensions}Q")
        kind, offset = _unpack(stream, "<IQ")
        values, length = _BLOCKS.get(kind, (1, 0))
        end = max(end, offset + prod(shape) // values * length)
    if alignment == 0:
        raise _Damaged("its alignment is 0")
    return -(-stream.tell() // alignment) * alignment + end if tensors else stream.tell()


def _skip(stream: BinaryIO, kind: int) -> None:
    """Passes over one value of the given type."""
    if kind == _STRING:
        _string(stream)
    elif kind == _ARRAY:
        inner, count = _unpack(stream, "<IQ")
        if inner in _NUMBERS:
            _take(stream, _NUMBERS[inner] * count)
        else:
            for _number in range(count):
                _skip(stream, inner)
    elif kind in _NUMBERS:
        _take(stream, _NUMBERS[kind])
    else:
        raise _Damaged(f"it has a field of the unknown type {kind}")


def _string(stream: BinaryIO) -> bytes:
    (length,) = _unpack(stream, "<Q")
    return _take(stream, length)


def _unpack(stream: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, _take(stream, struct.calcsize(form)))


def _take(stream: BinaryIO, count: int) -> bytes:
    """Exactly `count` bytes. No length in a header is trusted further than the file goes."""
    content = stream.read(min(count, 1 << 30))
    if len(content) < count:
        raise EOFError
    return content
