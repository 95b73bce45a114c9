# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import DirectoryFaults
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_dir import ModelDirectory, check_directory
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import (
    hf_files,
    lfs_pointer,
    safetensors,
    shard_name,
    write_tree,
)

WEIGHTS = safetensors({"w": 10})
KINDS: dict[str, dict[str, bytes | str]] = {
    "hf": hf_files(),
    "mistral": {"params.json": "{}", "consolidated.safetensors": WEIGHTS, "tekken.json": "{}"},
    "gguf": {"opt-q4.gguf": b"GGUF\3\0\0\0" + bytes(16)},
    "tensorizer": {"config.json": "{}", "model.tensors": b"x", "tokenizer.model": b"x"},
    "lora": {"adapter_config.json": '{"base_model_name_or_path": "opt"}', "adapter_model.safetensors": WEIGHTS},
}


def check(root: Path, files: dict[str, bytes | str], **options: list[str]) -> ModelDirectory:
    return check_directory(str(write_tree(root, files)), **options)


def faults_of(root: Path, files: dict[str, bytes | str], **options: list[str]) -> tuple[str, ...]:
    with pytest.raises(DirectoryFaults) as caught:
        check(root, files, **options)
    for fault in caught.value.faults:
        assert fault in str(caught.value)
    return caught.value.faults


@pytest.mark.parametrize("kind", KINDS)
def test_complete_directory_of_each_kind(tmp_path: Path, kind: str) -> None:
    found = check(tmp_path, KINDS[kind])
    assert found.kind == kind
    assert [item.path for item in found.files] == sorted(KINDS[kind])


def test_configuration_is_summarised(tmp_path: Path) -> None:
    assert check(tmp_path / "hf", KINDS["hf"]).config == {"architecture": "OPTForCausalLM", "dtype": "float16"}
    assert check(tmp_path / "lora", KINDS["lora"]).config == {"base_model": "opt"}


@pytest.mark.parametrize(
    ("kind", "without", "sentence"),
    [
        ("hf", "config.json", "config.json is missing"),
        ("hf", "model.safetensors", "there are no weights: neither *.safetensors nor pytorch_model*.bin"),
        ("hf", "tokenizer.json", "there is no tokenizer: expected tokenizer.json, tokenizer.model, vocab.json with"),
        ("mistral", "params.json", "params.json is missing"),
        ("mistral", "consolidated.safetensors", "no consolidated*.safetensors"),
        ("mistral", "tekken.json", "expected tekken.json or tokenizer.model"),
        ("tensorizer", "config.json", "config.json is missing"),
        ("tensorizer", "tokenizer.model", "there is no tokenizer"),
        ("lora", "adapter_model.safetensors", "neither adapter_model.safetensors nor adapter_model.bin"),
        ("gguf", "opt-q4.gguf", "there is no model in it"),
    ],
)
def test_each_missing_part_has_its_sentence(tmp_path: Path, kind: str, without: str, sentence: str) -> None:
    (fault,) = faults_of(tmp_path, {name: content for name, content in KINDS[kind].items() if name != without})
    assert fault.startswith(sentence) or sentence in fault


@pytest.mark.parametrize(
    "tokenizer",
    [["tokenizer.json"], ["tokenizer.model"], ["tokenizer.model.v3"], ["vocab.json", "merges.txt"], ["tekken.json"]],
)
def test_any_tokenizer_will_do(tmp_path: Path, tokenizer: list[str]) -> None:
    files = {name: content for name, content in hf_files().items() if name != "tokenizer.json"}
    assert check(tmp_path, {**files, **dict.fromkeys(tokenizer, "{}")}).kind == "hf"


def test_half_a_tokenizer_will_not(tmp_path: Path) -> None:
    files = {name: content for name, content in hf_files().items() if name != "tokenizer.json"}
    (fault,) = faults_of(tmp_path, {**files, "vocab.json": "{}"})
    assert "there is no tokenizer" in fault


def test_absent_tokenizer_can_be_allowed(tmp_path: Path) -> None:
    files = {name: content for name, content in hf_files().items() if name != "tokenizer.json"}
    assert check(tmp_path, files, allow_missing=["tokenizer"]).kind == "hf"


def test_shards_with_index(tmp_path: Path) -> None:
    assert len(check(tmp_path, hf_files(shards=3)).files) == 6


def test_a11_index_names_missing_shard(tmp_path: Path) -> None:
    files = hf_files(shards=3)
    del files[shard_name(2, 3)]
    (fault,) = faults_of(tmp_path, files)
    assert f"in index, not on disk: {shard_name(2, 3)};" in fault
    assert "on disk, not in index: none" in fault


def test_a11_stale_index_lists_both_sides(tmp_path: Path) -> None:
    files = hf_files(shards=30)
    others = {shard_name(number, 15): safetensors({f"layer.{number}": 1}) for number in range(1, 16)}
    files = {**{name: content for name, content in files.items() if not name.startswith("model-")}, **others}
    (fault,) = faults_of(tmp_path, files)
    missing, extra = fault.split("on disk, not in index:")
    assert all(shard_name(number, 30) in missing for number in range(1, 31))
    assert all(name in extra for name in others)


def test_a11_index_names_tensor_that_no_shard_has(tmp_path: Path) -> None:
    files = hf_files(shards=2)
    files[shard_name(2, 2)] = safetensors({"other": 10})
    (fault,) = faults_of(tmp_path, files)
    assert fault == "model.safetensors.index.json names 1 tensors that no shard holds: layer.1"


def test_a11_gap_without_an_index(tmp_path: Path) -> None:
    files = hf_files(shards=3)
    del files["model.safetensors.index.json"], files[shard_name(3, 3)]
    (fault,) = faults_of(tmp_path, files)
    assert fault == f"1 of 3 shards are missing: {shard_name(3, 3)}"


def test_index_of_a_format_that_was_not_downloaded_is_ignored(tmp_path: Path) -> None:
    index = json.dumps({"weight_map": {"w": "pytorch_model-00001-of-00001.bin"}})
    assert check(tmp_path, {**hf_files(), "pytorch_model.bin.index.json": index}).kind == "hf"


def test_index_alone_still_names_its_shards(tmp_path: Path) -> None:
    files = {name: content for name, content in hf_files(shards=2).items() if not name.startswith("model-")}
    faults = faults_of(tmp_path, {**files, "optimizer.pt": b"\x80", "training_args.bin": b"\x80"})
    assert any(shard_name(1, 2) in fault for fault in faults)


@pytest.mark.parametrize("content", ["[]", "{}", '{"weight_map": {"w": 1}}'])
def test_damaged_index(tmp_path: Path, content: str) -> None:
    (fault,) = faults_of(tmp_path, {**hf_files(), "model.safetensors.index.json": content})
    assert fault.startswith("model.safetensors.index.json ")


def test_a12_lfs_pointer_as_weight(tmp_path: Path) -> None:
    files = hf_files(shards=2)
    files[shard_name(1, 2)] = lfs_pointer(4_976_698_672)
    files["tokenizer.json"] = lfs_pointer(17_209_530)
    fault = faults_of(tmp_path, {**files, "extra/old.bin": lfs_pointer(5)})[0]
    assert fault.startswith("3 files are Git LFS pointers instead of content")
    assert f"{shard_name(1, 2)} (stands for 4976698672 bytes)" in fault
    assert "tokenizer.json (stands for 17209530 bytes)" in fault
    assert "extra/old.bin (stands for 5 bytes)" in fault


def test_a13_zero_byte_and_truncated_shard(tmp_path: Path) -> None:
    files = hf_files(shards=3)
    whole = files[shard_name(3, 3)]
    files[shard_name(2, 3)] = b""
    files[shard_name(3, 3)] = whole[:-1]
    faults = faults_of(tmp_path, {**files, ".gitkeep": b""})
    assert f"{shard_name(2, 3)} is empty: a weight file of 0 bytes is what a broken download leaves" in faults
    assert f"{shard_name(3, 3)} is truncated: expected {len(whole)} bytes, found {len(whole) - 1} bytes" in faults


def test_a13_index_tells_what_an_empty_shard_should_hold(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, {**hf_files(shards=3), shard_name(2, 3): b""})
    assert f"by model.safetensors.index.json, {shard_name(2, 3)} should hold 40 bytes of tensors" in faults


def test_a13_harmless_empty_file_is_published(tmp_path: Path) -> None:
    found = check(tmp_path, {**hf_files(), ".gitkeep": b"", "notes.txt": b""})
    assert {".gitkeep", "notes.txt"} <= {item.path for item in found.files}


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "generation_config.json", "tokenizer_config.json"])
def test_damaged_json_is_refused(tmp_path: Path, name: str) -> None:
    (fault,) = faults_of(tmp_path, {**hf_files(), name: ""})
    assert fault.startswith(f"{name} is not JSON")


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    faults = faults_of(tmp_path, {"model.safetensors": b"", "pytorch_model.bin": b"hello"})
    assert len(faults) == 5


def test_excluded_files_are_not_looked_at(tmp_path: Path) -> None:
    found = check(tmp_path, {**hf_files(), "original/w.pth": b""}, exclude=["original/**"])
    assert "original/w.pth" not in {item.path for item in found.files}


def test_repository_with_both_layouts_is_read_as_hf(tmp_path: Path) -> None:
    assert check(tmp_path, {**hf_files(), **KINDS["mistral"]}).kind == "hf"


@pytest.mark.parametrize(
    ("name", "sentence"), [("missing", "there is no such directory"), ("file", "it is a file"), (".", "no model in it")]
)
def test_path_that_is_no_directory(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DirectoryFaults, match=sentence):
        check_directory(str(tmp_path / name))


def test_relative_path_is_refused() -> None:
    with pytest.raises(DirectoryFaults, match="not an absolute path"):
        check_directory("models")
