# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Small model directories of every kind, for tests."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path


def safetensors(tensors: Mapping[str, int], missing: int = 0) -> bytes:
    """A safetensors file with float32 tensors of the given numbers of values, `missing` bytes short."""
    header, end = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": [values], "data_offsets": [end, end + 4 * values]}
        end += 4 * values
    text = json.dumps(header).encode()
    whole = struct.pack("<Q", len(text)) + text + bytes(range(256)) * (end // 256) + bytes(end % 256)
    return whole[: len(whole) - missing]


def lfs_pointer(size: int) -> bytes:
    """What a clone without Git LFS has in place of a file of `size` bytes."""
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize {size}\n"
    return text.encode()


def write_tree(root: Path, files: Mapping[str, bytes | str]) -> Path:
    """Writes the files below `root`, which is returned."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def shard_name(number: int, count: int) -> str:
    """The name that the Hugging Face tools give a shard."""
    return f"model-{number:05d}-of-{count:05d}.safetensors"


def hf_files(shards: int = 0) -> dict[str, bytes | str]:
    """A complete model in the Hugging Face layout, in one file or in shards with an index."""
    files: dict[str, bytes | str] = {
        "config.json": json.dumps({"architectures": ["OPTForCausalLM"], "torch_dtype": "float16"}),
        "tokenizer.json": "{}",
    }
    if not shards:
        return {**files, "model.safetensors": safetensors({"w": 10})}
    names = [shard_name(number, shards) for number in range(1, shards + 1)]
    weight_map = {f"layer.{number}": name for number, name in enumerate(names)}
    index = {"metadata": {"total_size": 40 * shards}, "weight_map": weight_map}
    files["model.safetensors.index.json"] = json.dumps(index)
    for number, name in enumerate(names):
        files[name] = safetensors({f"layer.{number}": 10})
    return files
