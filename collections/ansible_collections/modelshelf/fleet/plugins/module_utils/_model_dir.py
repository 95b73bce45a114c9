# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a directory holds a whole model, looked at as a loader would look at it, and which kind of model.

All faults are found in one pass, so that a directory is not repaired one error at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import DirectoryFaults
from ansible_collections.modelshelf.fleet.plugins.module_utils._file_tree import TreeFile, read_tree
from ansible_collections.modelshelf.fleet.plugins.module_utils._formats import (
    WEIGHT_SUFFIXES,
    SafetensorsHeader,
    lfs_pointer_size,
    read_json_object,
    read_safetensors,
    torch_fault,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._gguf import gguf_fault
from ansible_collections.modelshelf.fleet.plugins.module_utils._shards import (
    hf_weights,
    index_faults,
    matching,
    series_faults,
)

_JSON_FILES = (
    "config.json",
    "params.json",
    "adapter_config.json",
    "tokenizer.json",
    "tekken.json",
    "tokenizer_config.json",
    "generation_config.json",
    "vocab.json",
    "*.index.json",
)
"""Read by loaders as JSON objects; damaged ones are refused."""

_TORCH_FILES = ("pytorch_model*.bin", "adapter_model.bin", "consolidated*.pth")
_TOKENIZER = "tokenizer.json, tokenizer.model, vocab.json with merges.txt, or tekken.json"


@dataclass(frozen=True)
class ModelDirectory:
    """A directory that can be published: its kind, its files sorted by path, and what its configuration says."""

    path: Path
    kind: str
    files: tuple[TreeFile, ...]
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class _Findings:
    """What one pass over the files found, and the content of those that passed their check."""

    faults: list[str] = field(default_factory=list)
    json: dict[str, dict[str, Any]] = field(default_factory=dict)
    headers: dict[str, SafetensorsHeader] = field(default_factory=dict)


def check_directory(
    directory: str, *, exclude: Sequence[str] = (), allow_missing: Collection[str] = ()
) -> ModelDirectory:
    """The model in `directory`. Raises DirectoryFaults, which has a sentence for every fault.

    `exclude` are globs of files to leave out; `allow_missing` may have `tokenizer`.
    """
    root = Path(directory)
    if not root.is_absolute():
        raise DirectoryFaults(directory, ["the directory is not an absolute path"])
    if not root.is_dir():
        raise DirectoryFaults(
            directory, ["there is no such directory on this machine" if not root.exists() else "it is a file"]
        )
    tree = read_tree(root, exclude)
    names = [item.path for item in tree.files]
    findings = _read_files(tree.files)
    findings.faults[:0] = tree.faults
    kind = _detect_kind(names)
    findings.faults.extend(_missing_parts(kind, names, allow_missing))
    for name in matching(names, "*.index.json"):
        if name in findings.json:
            findings.faults.extend(index_faults(name, findings.json[name], names, findings.headers))
    findings.faults.extend(series_faults(names))
    if findings.faults:
        raise DirectoryFaults(directory, findings.faults)
    return ModelDirectory(path=root, kind=kind, files=tree.files, config=_summary(kind, findings.json))


def _read_files(files: Sequence[TreeFile]) -> _Findings:
    findings = _Findings()
    pointers: list[str] = []
    for item in files:
        try:
            real_size = lfs_pointer_size(item.location, item.size)
            if real_size is None:
                findings.faults.extend(filter(None, [_content_fault(item, findings)]))
            else:
                pointers.append(f"{item.path} (stands for {real_size} bytes)")
        except OSError as error:
            findings.faults.append(f"{item.path} cannot be read: {error.strerror}")
    if pointers:
        number = f"{len(pointers)} files are Git LFS pointers" if len(pointers) > 1 else "1 file is a Git LFS pointer"
        findings.faults.append(f"{number} instead of content, run git lfs pull: {', '.join(pointers)}")
    return findings


def _content_fault(item: TreeFile, findings: _Findings) -> str:
    suffix = Path(item.path).suffix
    if matching([item.path], *_JSON_FILES):
        data, fault = read_json_object(item.location, item.path)
        if not fault:
            findings.json[item.path] = data
        return fault
    if suffix not in WEIGHT_SUFFIXES:
        return ""
    if item.size == 0:
        return f"{item.path} is empty: a weight file of 0 bytes is what a broken download leaves"
    if suffix == ".safetensors":
        header = read_safetensors(item.location, item.path, item.size)
        if not header.fault:
            findings.headers[item.path] = header
        return header.fault
    if suffix == ".gguf":
        return gguf_fault(item.location, item.path, item.size)
    if matching([Path(item.path).name], *_TORCH_FILES):
        return torch_fault(item.location, item.path)
    return ""


def _detect_kind(names: Sequence[str]) -> str:
    """hf, mistral, gguf, tensorizer or lora; unknown where nothing points to a kind."""
    if "adapter_config.json" in names and not hf_weights(names):
        return "lora"
    if matching(names, "*.tensors"):
        return "tensorizer"
    if hf_weights(names):
        return "hf"
    if matching(names, "*.gguf"):
        return "gguf"
    if "params.json" in names or matching(names, "consolidated*"):
        return "mistral"
    indexed = matching(names, "model.safetensors.index.json", "pytorch_model.bin.index.json")
    return "hf" if "config.json" in names or indexed else "unknown"


def _missing_parts(kind: str, names: Sequence[str], allow_missing: Collection[str]) -> list[str]:
    """What a loader of this kind opens and would not find."""
    if kind == "unknown":
        return ["there is no model in it: no config.json, params.json, adapter_config.json, .gguf or .tensors file"]
    missing: list[str] = []
    if kind in ("hf", "tensorizer") and "config.json" not in names:
        missing.append("config.json is missing: no loader can tell the architecture")
    if kind == "mistral" and "params.json" not in names:
        missing.append("params.json is missing: Mistral's consolidated layout needs it")
    if kind == "hf" and not hf_weights(names):
        missing.append("there are no weights: neither *.safetensors nor pytorch_model*.bin")
    if kind == "mistral" and not matching(names, "consolidated*.safetensors"):
        missing.append("there are no weights: no consolidated*.safetensors")
    if kind == "lora" and not matching(names, "adapter_model.safetensors", "adapter_model.bin"):
        missing.append("there are no weights: neither adapter_model.safetensors nor adapter_model.bin")
    if kind in ("hf", "tensorizer", "mistral") and "tokenizer" not in allow_missing:
        found = matching(names, "tekken.json", "tokenizer.model*")
        if kind != "mistral" and ("tokenizer.json" in names or {"vocab.json", "merges.txt"} <= set(names)):
            found = ["yes"]
        if not found:
            expected = "tekken.json or tokenizer.model" if kind == "mistral" else _TOKENIZER
            missing.append(f"there is no tokenizer: expected {expected} (allow_missing: [tokenizer] publishes without)")
    return missing


def _summary(kind: str, json_files: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The few facts of the configuration that a manifest repeats."""
    config = json_files.get("config.json", {})
    architectures = config.get("architectures")
    summary = {
        "architecture": architectures[0] if isinstance(architectures, list) and architectures else None,
        "dtype": config.get("dtype") or config.get("torch_dtype"),
        "base_model": json_files.get("adapter_config.json", {}).get("base_model_name_or_path")
        if kind == "lora"
        else None,
    }
    return {key: value for key, value in summary.items() if isinstance(value, str)}
