# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    AlreadyThere,
    DamagedManifest,
    DirectoryFaults,
    NotFound,
    StoreError,
    VersionTaken,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._hashing import hash_files
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH, Manifest, digest
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_dir import ModelDirectory, check_directory
from ansible_collections.modelshelf.fleet.plugins.module_utils._publish import (
    Plan,
    carry_out,
    find,
    make_plan,
    refuse_other_content,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3 import MIB, Upload
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import hf_files, write_tree

PREFIX = "opt/v1"


class MemoryStore:
    """A bucket in memory. `writes` has the keys in the order in which they were written."""

    def __init__(self) -> None:
        self.connection = Connection("http://store", "models")
        self.objects: dict[str, tuple[bytes, str]] = {}
        self.writes: list[str] = []
        self.fail_after: int | None = None
        self.before_commit: Callable[[], None] = lambda: None

    def list_objects(self, prefix: str) -> dict[str, int]:
        return {key: len(content) for key, (content, _hash) in self.objects.items() if key.startswith(prefix)}

    def recorded_hash(self, key: str) -> str:
        return self.objects[key][1]

    def read(self, key: str) -> bytes:
        if key not in self.objects:
            raise NotFound(key)
        return self.objects[key][0]

    def write_new(self, key: str, content: bytes) -> None:
        self.before_commit()
        if key in self.objects:
            raise AlreadyThere(key)
        self.objects[key] = (content, "")
        self.writes.append(key)

    def upload(self, uploads: Sequence[Upload], part_size: int, sent: Callable[[int], None]) -> None:
        for number, item in enumerate(uploads):
            if number == self.fail_after:
                raise StoreError("the line broke")
            self.objects[item.key] = (item.location.read_bytes(), item.sha256)
            self.writes.append(item.key)
            sent(item.size)


@pytest.fixture
def store() -> Any:
    return MemoryStore()


@pytest.fixture
def model(tmp_path: Path) -> ModelDirectory:
    return check_directory(str(write_tree(tmp_path, hf_files(shards=3))))


def describe(model: ModelDirectory) -> Manifest:
    files = hash_files(model, 2, lambda count: None)
    total = sum(entry.size for entry in files)
    return Manifest("opt", "OPT", "v1", model.kind, "2026-11-29T20:00:00Z", files, total, digest(files))


def plan_for(store: Any, model: ModelDirectory) -> Plan:
    found = find(store, PREFIX)
    refuse_other_content(found, model.files, "here")
    return make_plan(store, describe(model), found, PREFIX)


def publish(store: Any, model: ModelDirectory) -> Plan:
    plan = plan_for(store, model)
    carry_out(store, plan, model, 64 * MIB, lambda text: None)
    return plan


def test_manifest_is_written_last(store: Any, model: ModelDirectory) -> None:
    plan = publish(store, model)
    assert store.writes[-1] == f"{PREFIX}/{MANIFEST_PATH}"
    assert len(store.writes) == len(plan.upload) + 1 == 7
    assert find(store, PREFIX).manifest == plan.manifest


def test_a5_second_run_writes_nothing(store: Any, model: ModelDirectory) -> None:
    publish(store, model)
    store.writes.clear()
    plan = plan_for(store, model)
    assert not plan.changes
    assert (plan.upload, len(plan.skip)) == ((), 6)


def test_a5_changed_byte_of_the_same_size_is_noticed(store: Any, model: ModelDirectory) -> None:
    publish(store, model)
    config = model.path / "config.json"
    config.write_text(config.read_text().replace("float16", "float32"))
    with pytest.raises(VersionTaken, match=r"version v1 of OPT .* different: config.json\. .* choose a new one"):
        plan_for(store, check_directory(str(model.path)))


def test_a5_interrupted_upload_resumes(store: Any, model: ModelDirectory) -> None:
    store.fail_after = 2
    with pytest.raises(StoreError, match=r"the line broke\. Nothing was published"):
        publish(store, model)
    assert find(store, PREFIX).manifest is None
    finished, store.fail_after = list(store.writes), None
    store.writes.clear()
    plan = publish(store, model)
    assert len(plan.skip) == 2
    assert not set(finished) & set(store.writes)
    assert find(store, PREFIX).manifest == plan.manifest


def test_leftover_of_the_same_size_with_another_hash_is_sent_again(store: Any, model: ModelDirectory) -> None:
    size = (model.path / "config.json").stat().st_size
    store.objects[f"{PREFIX}/config.json"] = (bytes(size), hashlib.sha256(bytes(size)).hexdigest())
    assert "config.json" in {entry.path for entry in plan_for(store, model).upload}


def test_leftovers_of_another_directory_are_refused(store: Any, model: ModelDirectory) -> None:
    store.objects[f"{PREFIX}/model-00004-of-00004.safetensors"] = (b"x", "")
    with pytest.raises(VersionTaken, match=r"has no manifest, but .* model-00004-of-00004.safetensors"):
        plan_for(store, model)


def test_names_and_sizes_are_compared_before_hashing(store: Any, model: ModelDirectory) -> None:
    publish(store, model)
    write_tree(model.path, {"new.txt": "1", "tokenizer.json": '{"a": 1}'})
    (model.path / "config.json").rename(model.path / "other.json")
    write_tree(model.path, {"config.json": "{}"})
    changed = check_directory(str(model.path))
    with pytest.raises(VersionTaken) as caught:
        refuse_other_content(find(store, PREFIX), changed.files, "here")
    text = str(caught.value)
    assert "only in the directory: new.txt, other.json" in text
    assert "different: config.json, tokenizer.json" in text


def test_lost_object_of_a_version_is_sent_again(store: Any, model: ModelDirectory) -> None:
    publish(store, model)
    del store.objects[f"{PREFIX}/config.json"]
    store.writes.clear()
    assert [entry.path for entry in publish(store, model).upload] == ["config.json"]
    assert store.writes == [f"{PREFIX}/config.json"]


def test_objects_that_the_manifest_does_not_know_are_named(store: Any, model: ModelDirectory) -> None:
    publish(store, model)
    store.objects[f"{PREFIX}/notes"] = (b"x", "")
    assert plan_for(store, model).strangers == ("notes",)


def test_sibling_version_is_not_seen(store: Any, model: ModelDirectory) -> None:
    store.objects["opt/v10/config.json"] = (b"x", "")
    assert find(store, PREFIX).objects == {}


def test_short_object_is_noticed_before_the_manifest(store: Any, model: ModelDirectory) -> None:
    plan = plan_for(store, model)
    whole = store.upload

    def lose_a_byte(*arguments: Any) -> None:
        whole(*arguments)
        content, recorded = store.objects[f"{PREFIX}/config.json"]
        store.objects[f"{PREFIX}/config.json"] = (content[:-1], recorded)

    store.upload = lose_a_byte
    with pytest.raises(StoreError, match=r"wrong sizes .* config.json \(expected 63, found 62\)"):
        carry_out(store, plan, model, 64 * MIB, lambda text: None)
    assert find(store, PREFIX).manifest is None


def test_file_written_to_meanwhile_is_noticed_before_the_manifest(store: Any, model: ModelDirectory) -> None:
    plan = plan_for(store, model)
    (model.path / "tokenizer.json").write_text('{"x": 1}')
    with pytest.raises(DirectoryFaults, match=r"tokenizer\.json was written to while it was sent"):
        carry_out(store, plan, model, 64 * MIB, lambda text: None)
    assert find(store, PREFIX).manifest is None


def test_another_publisher_with_the_same_content_is_no_fault(store: Any, model: ModelDirectory) -> None:
    plan = plan_for(store, model)
    text = plan.manifest.to_json().encode()
    store.before_commit = lambda: store.objects.update({f"{PREFIX}/{MANIFEST_PATH}": (text, "")})
    assert carry_out(store, plan, model, 64 * MIB, lambda said: None) == plan.manifest


def test_another_publisher_with_other_content_is(store: Any, model: ModelDirectory) -> None:
    plan = plan_for(store, model)
    files = plan.manifest.files[1:]
    other = Manifest("opt", "OPT", "v1", "hf", "", files, sum(entry.size for entry in files), digest(files))
    text = other.to_json().encode()
    store.before_commit = lambda: store.objects.update({f"{PREFIX}/{MANIFEST_PATH}": (text, "")})
    with pytest.raises(VersionTaken, match="only in the directory"):
        carry_out(store, plan, model, 64 * MIB, lambda said: None)


def test_damaged_manifest_is_named(store: Any) -> None:
    store.objects[f"{PREFIX}/{MANIFEST_PATH}"] = (b"{", "")
    with pytest.raises(DamagedManifest, match=r"s3://models/opt/v1/.modelshelf/manifest.json .* not JSON"):
        find(store, PREFIX)
