# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of single files of a model, each as the program that will load the file would see it.

A check returns the sentence that describes the fault, or an empty string.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".tensors")

_LFS_LINE = b"version https://git-lfs.github.com/spec/"
_LFS_LARGEST = 1024
"""Bytes. The Git LFS specification limits pointer files to less than this."""

_HEADER_LARGEST = 100_000_000
"""Bytes. The safetensors library refuses a longer header."""


@dataclass(frozen=True)
class SafetensorsHeader:
    """The names of the tensors in a file and the number of bytes of their data, or the fault that hides them."""

    tensors: frozenset[str] = frozenset()
    data_bytes: int = 0
    fault: str = ""


def lfs_pointer_size(path: Path, size: int) -> int | None:
    """The size in bytes of the file that a Git LFS pointer stands for; None when `path` is no pointer."""
    if not 0 < size < _LFS_LARGEST:
        return None
    content = path.read_bytes()
    if not content.startswith(_LFS_LINE):
        return None
    found = re.search(rb"^size ([0-9]+)$", content, re.MULTILINE)
    return int(found.group(1)) if found else 0


def read_safetensors(path: Path, name: str, size: int) -> SafetensorsHeader:
    """The header of a safetensors file, compared with the file's size as the safetensors library compares them."""
    if size < 8:
        return SafetensorsHeader(fault=f"{name} is truncated: expected 8 bytes and a header, found {size} bytes")
    with path.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > _HEADER_LARGEST or (stream.read(1) != b"{" and size > 8):
            return SafetensorsHeader(fault=f"{name} is not a safetensors file: its first bytes are no header length")
        if 8 + length > size:
            return SafetensorsHeader(
                fault=f"{name} is truncated: its header ends at byte {8 + length}, found {size} bytes"
            )
        stream.seek(8)
        text = stream.read(length)
    try:
        header = json.loads(text)
        ranges = {key: tuple(value["data_offsets"]) for key, value in header.items() if key != "__metadata__"}
        ordered = sorted(ranges.values())
        end = 0
        for begin, until in ordered:
            if begin != end or until < begin:
                return SafetensorsHeader(fault=f"{name} has a damaged header: its tensors do not follow each other")
            end = until
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return SafetensorsHeader(fault=f"{name} has a damaged header: it is not the JSON that safetensors writes")
    expected = 8 + length + end
    if size < expected:
        return SafetensorsHeader(fault=f"{name} is truncated: expected {expected} bytes, found {size} bytes")
    if size > expected:
        return SafetensorsHeader(fault=f"{name} is too long: expected {expected} bytes, found {size} bytes")
    return SafetensorsHeader(tensors=frozenset(ranges), data_bytes=end)


def torch_fault(path: Path, name: str) -> str:
    """Why a PyTorch file cannot be one: neither a complete zip archive nor an old pickle."""
    with path.open("rb") as stream:
        start = stream.read(4)
    if start.startswith(b"PK"):
        # The directory of a zip archive is at its end, so a file that breaks off has none.
        return (
            ""
            if zipfile.is_zipfile(path)
            else f"{name} is truncated: the directory at the end of its archive is missing"
        )
    return "" if start.startswith(b"\x80") else f"{name} is not a PyTorch file: neither a zip archive nor a pickle"


def read_json_object(path: Path, name: str) -> tuple[dict[str, Any], str]:
    """The JSON object in a file, and the fault when there is none in it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        return {}, f"{name} is not JSON: {error}"
    if not isinstance(data, dict):
        return {}, f"{name} is not a JSON object"
    return data, ""
