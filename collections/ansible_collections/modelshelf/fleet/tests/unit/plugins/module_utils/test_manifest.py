# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import (
    FileEntry,
    Manifest,
    ManifestError,
    check_path,
    digest,
    parse_manifest,
    sort_files,
)

ONE = FileEntry("config.json", 3, hashlib.sha256(b"{}\n").hexdigest())
TWO = FileEntry("sub/w.safetensors", 0, hashlib.sha256(b"").hexdigest())


def manifest(*files: FileEntry) -> Manifest:
    ordered = sort_files(files)
    total = sum(entry.size for entry in files)
    return Manifest("opt", "OPT", "v1", "hf", "2026-11-29T20:00:00Z", ordered, total, digest(files))


def changed(**fields: Any) -> str:
    return json.dumps({**manifest(ONE, TWO).as_dict(), **fields})


def test_digest_is_what_sha256sum_would_print() -> None:
    text = f"{ONE.sha256}  config.json\n{TWO.sha256}  sub/w.safetensors\n"
    assert digest([TWO, ONE]) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_files_are_sorted_by_bytes_not_by_characters() -> None:
    names = ["\U0001f600", "￿", "a", "B"]
    entries = sort_files(FileEntry(name, 0, "0" * 64) for name in names)
    assert [entry.path for entry in entries] == ["B", "a", "￿", "\U0001f600"]


@given(
    st.dictionaries(
        st.text(alphabet="aé/.-_ B\U0001f600", min_size=1, max_size=12),
        st.integers(min_value=0, max_value=2**45),
        max_size=8,
    )
)
def test_written_manifest_reads_back_the_same(sizes: dict[str, int]) -> None:
    entries = []
    for path, size in sizes.items():
        try:
            check_path(path)
        except ManifestError:
            continue
        entries.append(FileEntry(path, size, hashlib.sha256(path.encode()).hexdigest()))
    written = manifest(*entries)
    assert parse_manifest(written.to_json()) == written
    assert parse_manifest(written.to_json().encode()) == written


def test_unknown_fields_are_ignored() -> None:
    assert parse_manifest(
        changed(signature="x", files=[{**item, "x": 1} for item in manifest(ONE, TWO).as_dict()["files"]])
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        (b"\xff", "not JSON"),
        ("[]", "not a JSON object"),
        (changed(format=2), "format 2, newer"),
        (changed(format=True), "'format'"),
        (changed(bytes=4), "add up to 3"),
        (changed(digest="sha256:00"), "its files give sha256:"),
        (changed(files={}), "'files'"),
        (changed(files=[1]), "not an object"),
        (changed(model=None), "'model'"),
        (changed(exclude=[1]), "list of strings"),
        (changed(files=[{"path": "../etc/passwd", "size": 1, "sha256": "0" * 64}]), "plain relative path"),
        (changed(files=[{"path": "/etc/passwd", "size": 1, "sha256": "0" * 64}]), "plain relative path"),
        (changed(files=[{"path": "a", "size": -1, "sha256": "0" * 64}]), "no usable size"),
        (changed(files=[{"path": "a", "size": 1, "sha256": "0" * 63 + "G"}]), "no usable size"),
        (changed(files=[{"path": "a", "size": 1, "sha256": "0" * 64}] * 2), "more than once: a"),
    ],
)
def test_what_is_no_manifest_is_refused(text: str, message: str) -> None:
    with pytest.raises(ManifestError, match=message):
        parse_manifest(text)


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "./a", "a/../b", "a\\b", "a\nb", "a\udcff"])
def test_unsafe_path_is_refused(path: str) -> None:
    with pytest.raises(ManifestError):
        check_path(path)
