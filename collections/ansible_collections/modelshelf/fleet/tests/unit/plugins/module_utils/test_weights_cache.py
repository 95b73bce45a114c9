# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights_cache
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import parse_manifest
from ansible_collections.modelshelf.fleet.plugins.module_utils._rclone import Cache
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_cache import (
    CacheFault,
    Use,
    Work,
    check_budget,
    check_kept,
    check_room,
    plan,
    versions_in_use,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import FILES, publish


def instance(root: Path, name: str, versions: Mapping[int, str], model: str = "tiny", **links: int) -> Path:
    for number, version in versions.items():
        release = root / name / "generations" / str(number) / "release.json"
        release.parent.mkdir(parents=True)
        release.write_text(json.dumps({"format": 1, "model": model, "version": version}))
    for link, number in links.items():
        (root / name / link).symlink_to(f"generations/{number}")
    return root / name


def test_current_previous_newest_and_both_ends_of_a_move_are_in_use(tmp_path: Path) -> None:
    assert versions_in_use(str(tmp_path / "nowhere"), "tiny") == Use()
    numbers = {number: f"v{number}" for number in range(1, 8)}
    moving = instance(tmp_path, "main", numbers, current=3, previous=2)
    instance(tmp_path, "other", {1: "v9"}, model="large", current=1)
    assert versions_in_use(str(tmp_path), "tiny") == Use(frozenset({"v3"}), frozenset({"v2", "v3", "v7"}))
    Journal(moving).begin(Move("run", "me", "swap", before=3, to=5, previous=1, step="begun", began=0.0))
    assert versions_in_use(str(tmp_path), "tiny").kept == {"v1", "v2", "v3", "v5", "v7"}
    instance(tmp_path, "second", {1: "v8"}, current=1)
    assert versions_in_use(str(tmp_path), "tiny").served == {"v3", "v8"}


def test_nothing_is_taken_for_unused_while_a_generation_cannot_be_read(tmp_path: Path) -> None:
    instance(tmp_path, "main", {1: "v1", 2: "v2"}, current=2, previous=1)
    (tmp_path / "main/generations/1/release.json").unlink()
    with pytest.raises(GenerationError, match=r"release\.json cannot be read"):
        versions_in_use(str(tmp_path), "tiny")


def test_budget_names_what_it_has_to_hold() -> None:
    check_budget(30, {"v1": 10, "v2": 20}, "tiny")
    with pytest.raises(CacheFault) as caught:
        check_budget(29, {"v1": 10, "v2": 20}, "tiny")
    for part in ("29 B (29 bytes)", "needs 30 B: v1 10 B (10) + v2 20 B (20)", "weights_cache_max_size to 30 at least"):
        assert part in str(caught.value)


def test_room_counts_what_is_removed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path / "vfs", tmp_path / "vfsMeta")
    monkeypatch.setattr(_weights_cache, "room", lambda directory: {"free": 2048})
    check_room(cache, Work({"a": 3000}, {"v1": 1000}))
    with pytest.raises(CacheFault, match=r"3\.9 KiB are to be read .* where 3\.0 KiB are free: 952 B too little"):
        check_room(cache, Work({"a": 4000}, {"v1": 1000}))


def test_whole_files_are_not_missing_and_what_nobody_uses_makes_room(tmp_path: Path) -> None:
    publish(tmp_path / "v2")
    manifest = parse_manifest((tmp_path / "v2/.modelshelf/manifest.json").read_text())
    cache, use = Cache(tmp_path / "vfs", tmp_path / "vfsMeta"), Use(kept=frozenset({"v1"}))
    for version in ("v0", "v1"):
        (cache.files / version).mkdir(parents=True)
    sizes = {path: len(data) for path, data in FILES.items() if data}
    assert plan(cache, "v2", manifest, use) == Work(sizes, {"v0": 0})
    with pytest.raises(CacheFault, match=r"not keep all of v2: it lacks config\.json, model\.safetensors, sub/token"):
        check_kept(cache, manifest, patience=0)
    for path, size in sizes.items():
        for place, data in ((cache.files, FILES[path]), (cache.meta, json.dumps({"Size": size, "Rs": None}).encode())):
            (place / "v2" / path).parent.mkdir(parents=True, exist_ok=True)
            (place / "v2" / path).write_bytes(data)
    check_kept(cache, manifest, patience=0)
    assert plan(cache, "v2", manifest, use).missing == sizes, "somebody has them open: it is not known to be whole"
    for path, size in sizes.items():
        (cache.meta / "v2" / path).write_text(json.dumps({"Size": size, "Rs": [{"Pos": 0, "Size": size}]}))
    assert plan(cache, "v2", manifest, use) == Work({}, {})
    assert plan(cache, "v2", None, use) == Work({}, {"v0": 0})
