# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The look at a directory of weights with which vLLM's start begins and ends. Nothing is loaded."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from .crashes import bad_shard, missing_shards, no_config, no_directory, no_tokenizer, no_weights

_LARGEST_HEADER = 100 << 20
"""Bytes, as in safetensors."""


def check_model(path: str) -> int:
    """What the server looks at before there is an engine; the longest sequence in tokens. Raises Crash."""
    folder = Path(path)
    if not folder.is_dir():
        raise no_directory(path)
    config = folder / "config.json"
    if not config.is_file():
        raise no_config(path)
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise no_tokenizer()
    return int(json.loads(config.read_text()).get("max_position_embeddings", 2048))


def check_weights(path: str) -> None:
    """What a worker finds out when it loads: every shard is there and complete. Raises Crash."""
    folder = Path(path)
    index = folder / "model.safetensors.index.json"
    shards = sorted(folder.glob("*.safetensors"))
    if index.is_file():
        named = {folder / name for name in json.loads(index.read_text())["weight_map"].values()}
        if missing := sorted(str(shard) for shard in named - set(shards)):
            raise missing_shards(missing)
    if not shards and not any(folder.glob("*.bin")):
        raise no_weights(path)
    for shard in shards:
        _check_shard(shard)


def _check_shard(shard: Path) -> None:
    size = shard.stat().st_size
    with shard.open("rb") as file:
        head = file.read(8)
        if len(head) < 8:
            raise bad_shard("header too small")
        (length,) = struct.unpack("<Q", head)
        if length > min(size - 8, _LARGEST_HEADER):
            raise bad_shard("invalid header length")
        header = json.loads(file.read(length))
    end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
    if 8 + length + end != size:
        raise bad_shard("incomplete metadata, file not fully covered")
