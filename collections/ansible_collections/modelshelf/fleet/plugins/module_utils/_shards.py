# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the shards of a model are all there: against its index, or against the numbers in their names."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._formats import WEIGHT_SUFFIXES, SafetensorsHeader

_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>[0-9]{5})-of-(?P<count>[0-9]{5})(?P<suffix>\.[a-z]+)")


def matching(names: Sequence[str], *patterns: str) -> list[str]:
    """The names in the top folder that fit one of the globs."""
    return [
        name for name in names if "/" not in name and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]


def hf_weights(names: Sequence[str]) -> list[str]:
    """The weights that a loader of the Hugging Face layout reads."""
    found = matching(names, "*.safetensors", "pytorch_model*.bin")
    return [name for name in found if not name.startswith(("adapter_model.", "consolidated"))]


def index_faults(
    index: str, content: Mapping[str, Any], names: Sequence[str], headers: Mapping[str, SafetensorsHeader]
) -> list[str]:
    """Where an index and the shards disagree. Loaders drop an absent shard without a word or refuse the set.

    `headers` are those of the sound safetensors files. An index is ignored when the directory has no file of its
    format but weights of another one: downloads often leave the index of a format that was filtered out.
    """
    weight_map = content.get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(shard, str) for shard in weight_map.values()):
        return [f"{index} has no weight_map from tensors to files"]
    named = set(weight_map.values())
    suffix = "." + index[: -len(".index.json")].rpartition(".")[2]
    consolidated = index.startswith("consolidated")
    present = {
        name
        for name in matching(names, f"*{suffix}")
        if name.startswith("consolidated") == consolidated and not name.startswith(("adapter_model", "training_args"))
    }
    if not present and (hf_weights(names) or matching(names, "consolidated*.safetensors")):
        return []
    absent, extra = sorted(named - present), sorted(present - named)
    if absent or extra:
        return [
            f"{index} and the shards disagree: in index, not on disk: {', '.join(absent) or 'none'};"
            f" on disk, not in index: {', '.join(extra) or 'none'} (exclude what is no part of the model)"
        ]
    if suffix != ".safetensors":
        return []
    unsound = sorted(named - set(headers))
    if unsound:
        return _size_hint(index, content, unsound, sum(headers[shard].data_bytes for shard in named & set(headers)))
    held = frozenset().union(*(headers[shard].tensors for shard in named))
    lost = sorted(tensor for tensor in weight_map if tensor not in held)
    if not lost:
        return []
    return [f"{index} names {len(lost)} tensors that no shard holds: {', '.join(lost[:3])}{' ...' if lost[3:] else ''}"]


def _size_hint(index: str, content: Mapping[str, Any], unsound: Sequence[str], sound_bytes: int) -> list[str]:
    """How much a damaged shard should hold, where the index has the sum and all other shards are sound."""
    metadata = content.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if len(unsound) != 1 or not isinstance(total, int) or total <= sound_bytes:
        return []
    return [f"by {index}, {unsound[0]} should hold {total - sound_bytes} bytes of tensors"]


def series_faults(names: Sequence[str]) -> list[str]:
    """Gaps in series such as model-00001-of-00003 where no index tells of them."""
    series: dict[tuple[str, str, str], set[int]] = {}
    for name in names:
        found = _SHARD.fullmatch(name)
        if found and found["suffix"] in WEIGHT_SUFFIXES and f"{found['stem']}{found['suffix']}.index.json" not in names:
            series.setdefault((found["stem"], found["count"], found["suffix"]), set()).add(int(found["number"]))
    faults = []
    for (stem, count, suffix), numbers in sorted(series.items()):
        gaps = sorted(set(range(1, int(count) + 1)) - numbers)
        if gaps:
            listed = ", ".join(f"{stem}-{number:05d}-of-{count}{suffix}" for number in gaps[:5])
            faults.append(f"{len(gaps)} of {int(count)} shards are missing: {listed}{' ...' if gaps[5:] else ''}")
    return faults
