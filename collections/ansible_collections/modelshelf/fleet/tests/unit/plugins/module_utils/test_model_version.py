# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _model_version
from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_quota import Quota
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    NotFound,
    NotPermitted,
    Refused,
    StoreError,
    Unavailable,
    Unreachable,
    VersionTaken,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3 import MIB
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import hf_files, write_tree


class Shelf:
    """Versions in memory, as a store that is read only."""

    connection = Connection("http://store", "models")

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.error: StoreError | None = None
        self.limit: Quota | None = None
        self.quota_error: StoreError | None = None

    def list_objects(self, prefix: str) -> dict[str, int]:
        if self.error is not None:
            raise self.error
        return {key: len(content) for key, content in self.objects.items() if key.startswith(prefix)}

    def quota(self) -> Quota | None:
        if self.quota_error is not None:
            raise self.quota_error
        return self.limit

    def list_folders(self, prefix: str) -> list[str]:
        keys = (key[len(prefix) :] for key in self.list_objects(prefix))
        return sorted({key.partition("/")[0] for key in keys if "/" in key})

    def read(self, key: str) -> bytes:
        if key not in self.objects:
            raise NotFound(key)
        return self.objects[key]


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    made = Shelf()
    monkeypatch.setattr(_model_version, "Store", lambda *arguments: made)
    return made


def dry_run(root: Path, warnings: list[str], **changes: Any) -> dict[str, Any]:
    params = {
        "endpoint": "http://store",
        "bucket": "models",
        "access_key": None,
        "secret_key": None,
        "region": "us-east-1",
        "ca_file": None,
        "validate_certs": True,
        "timeout": 30,
        "model": "OPT/125m",
        "version": "v1",
        "directory": str(write_tree(root, hf_files())),
        "exclude": _model_version.DEFAULT_EXCLUDE,
        "allow_missing": [],
        "concurrency": 2,
        "part_size": 64 * MIB,
    }
    return _model_version.publish_version(
        {**params, **changes}, check_mode=True, say=lambda text: None, warn=warnings.append
    )


def info(check_mode: bool = False, **asked: str) -> tuple[dict[str, Any], list[str]]:
    warnings: list[str] = []
    params = {"endpoint": "http://store", "bucket": "models", "region": "", "model": None, "version": None}
    found = _model_version.list_versions(
        {
            **params,
            **dict.fromkeys(("access_key", "secret_key", "ca_file")),
            "validate_certs": True,
            "timeout": 30,
            **asked,
        },
        check_mode=check_mode,
        warn=warnings.append,
    )
    return found, warnings


def put(shelf: Shelf, result: dict[str, Any], slug: str, version: str) -> None:
    manifest = {**result["manifest"], "model": slug, "version": version}
    text = _model_version.Manifest(
        **{
            **{key: value for key, value in manifest.items() if key not in ("format", "files", "exclude")},
            "files": tuple(_model_version.FileEntry(**entry) for entry in manifest["files"]),
        }
    ).to_json()
    shelf.objects[f"{slug}/{version}/{MANIFEST_PATH}"] = text.encode()


def test_manifest_of_a_dry_run(shelf: Shelf, tmp_path: Path) -> None:
    result = dry_run(tmp_path, [])
    manifest = result["manifest"]
    assert (result["changed"], result["prefix"]) == (True, "opt-125m/v1")
    assert (manifest["model"], manifest["display_name"], manifest["kind"]) == ("opt-125m", "OPT/125m", "hf")
    assert result["uploaded"] == {"files": 3, "bytes": manifest["bytes"]}
    assert result["reused"] == {"files": 0, "bytes": 0}


@pytest.mark.parametrize("error", [Unreachable("no answer"), NotFound("there is no bucket")])
def test_a34_check_mode_lists_an_absent_store_as_empty(shelf: Shelf, error: StoreError) -> None:
    shelf.error = error
    found, warnings = info(check_mode=True, model="opt-125m", version="v1")
    assert found == {"changed": False, "versions": [], "available": []}
    assert warnings == [f"{error}. The store was taken for empty"]
    with pytest.raises(StoreError):
        info(model="opt-125m", version="v1")


def test_check_mode_does_not_hide_a_refused_key(shelf: Shelf) -> None:
    shelf.error = StoreError("the store refused the key")
    with pytest.raises(StoreError, match="refused the key"):
        info(check_mode=True)


@pytest.mark.parametrize("error", [Unreachable("no answer"), NotFound("there is no bucket")])
def test_a34_dry_run_takes_an_absent_store_for_empty(shelf: Shelf, tmp_path: Path, error: StoreError) -> None:
    shelf.error = error
    warnings: list[str] = []
    assert dry_run(tmp_path, warnings)["changed"] is True
    assert warnings == [f"{error}. The store was taken for empty"]


def test_dry_run_with_a_wrong_key_fails(shelf: Shelf, tmp_path: Path) -> None:
    shelf.error = NotPermitted("AccessDenied")
    with pytest.raises(NotPermitted):
        dry_run(tmp_path, [])


def test_too_small_part_size_is_raised_with_a_notice(shelf: Shelf, tmp_path: Path) -> None:
    warnings: list[str] = []
    dry_run(tmp_path, warnings, part_size=1000)
    assert warnings == ["part_size was raised to 5242880 bytes: S3 takes at most 10,000 parts of at least 5 MiB"]


def test_version_with_other_content_is_refused_in_a_dry_run(shelf: Shelf, tmp_path: Path) -> None:
    put(shelf, dry_run(tmp_path, []), "opt-125m", "v1")
    write_tree(tmp_path, {"added.txt": "x"})
    with pytest.raises(VersionTaken, match=r"only in the directory: added\.txt"):
        dry_run(tmp_path, [])


def test_a_version_that_does_not_fit_below_the_quota_is_refused_with_the_numbers(shelf: Shelf, tmp_path: Path) -> None:
    size = dry_run(tmp_path, [])["manifest"]["bytes"]
    shelf.limit = Quota(limit=1000, used=1001 - size)
    with pytest.raises(Refused, match=rf"needs {size} bytes .* leaves {size - 1}: .* limit is 1000 bytes, of which"):
        dry_run(tmp_path, [])


def test_the_manifest_has_to_fit_too(shelf: Shelf, tmp_path: Path) -> None:
    size = dry_run(tmp_path, [])["manifest"]["bytes"]
    shelf.limit = Quota(limit=size, used=0)
    with pytest.raises(Refused, match=f"leaves {size}: "):
        dry_run(tmp_path, [])
    shelf.limit = Quota(limit=size + 10_000, used=0)
    assert dry_run(tmp_path, [])["changed"] is True


def test_a_quota_that_is_not_told_in_time_is_a_warning(shelf: Shelf, tmp_path: Path) -> None:
    shelf.quota_error, warnings = Unavailable("usage is not available yet"), []
    assert dry_run(tmp_path, warnings)["changed"] is True
    assert warnings == [
        "usage is not available yet. Whether the version fits below the quota of the bucket is not known"
    ]


def test_default_exclude_leaves_clone_and_download_behind(shelf: Shelf, tmp_path: Path) -> None:
    write_tree(tmp_path, {".git/HEAD": "x", ".gitattributes": "x", ".cache/huggingface/x": "", ".gitkeep": ""})
    paths = [entry["path"] for entry in dry_run(tmp_path, [])["manifest"]["files"]]
    assert paths == [".gitkeep", "config.json", "model.safetensors", "tokenizer.json"]


def test_versions_are_listed_in_order(shelf: Shelf, tmp_path: Path) -> None:
    result = dry_run(tmp_path, [])
    for slug, version in (("qwen", "v2"), ("opt", "v1"), ("qwen", "v1")):
        put(shelf, result, slug, version)
    shelf.objects["opt/v2/config.json"] = b"an upload under way"
    found, warnings = info()
    assert [(line["model"], line["version"]) for line in found["versions"]] == [
        ("opt", "v1"),
        ("qwen", "v1"),
        ("qwen", "v2"),
    ]
    assert set(found["versions"][0]) == {
        "model",
        "display_name",
        "version",
        "kind",
        "bytes",
        "digest",
        "created",
        "files",
    }
    assert warnings == []
    assert "exists" not in found and "available" not in found


def test_absent_version_is_an_answer(shelf: Shelf, tmp_path: Path) -> None:
    put(shelf, dry_run(tmp_path, []), "qwen", "v1")
    absent = info(model="Qwen", version="v9")[0]
    assert (absent["exists"], absent["versions"], absent["available"]) == (False, [], ["v1"])
    present = info(model="qwen", version="v1")[0]
    assert (present["exists"], len(present["versions"])) == (True, 1)
    unknown = info(model="opt")[0]
    assert (unknown["versions"], unknown["available"]) == ([], [])


def test_damaged_manifest_is_a_warning(shelf: Shelf) -> None:
    shelf.objects[f"opt/v1/{MANIFEST_PATH}"] = b"{"
    found, warnings = info()
    assert found["versions"] == []
    assert "s3://models/opt/v1/.modelshelf/manifest.json" in warnings[0]
