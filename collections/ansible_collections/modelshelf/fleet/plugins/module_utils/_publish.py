# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A checked directory becomes a version on the shelf, all of it or nothing that anybody can see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    AlreadyThere,
    DamagedManifest,
    DirectoryFaults,
    StoreError,
    VersionTaken,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._file_tree import TreeFile
from ansible_collections.modelshelf.fleet.plugins.module_utils._hashing import changed_since
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import (
    MANIFEST_PATH,
    FileEntry,
    Manifest,
    ManifestError,
    parse_manifest,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_dir import ModelDirectory
from ansible_collections.modelshelf.fleet.plugins.module_utils._progress import Progress
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3 import Store, Upload

_LISTED = 5
"""How many names of a kind a message lists before it says how many more there are."""


@dataclass(frozen=True)
class Found:
    """What is under a version's prefix: sizes in bytes by relative path, and the manifest if there is one."""

    objects: Mapping[str, int]
    manifest: Manifest | None = None


@dataclass(frozen=True)
class Plan:
    """What publishing will do. `commit`: the manifest is still to be written. `strangers` belong to no manifest."""

    manifest: Manifest
    prefix: str
    upload: tuple[FileEntry, ...]
    skip: tuple[FileEntry, ...]
    commit: bool
    strangers: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything will be written to the store."""
        return self.commit or bool(self.upload)


def find(store: Store, prefix: str) -> Found:
    """What is under `prefix`. Raises StoreError, also for a manifest that cannot be understood."""
    objects = {key[len(prefix) + 1 :]: size for key, size in store.list_objects(f"{prefix}/").items()}
    if MANIFEST_PATH not in objects:
        return Found(objects)
    return Found(objects, read_manifest(store, prefix))


def read_manifest(store: Store, prefix: str) -> Manifest:
    """The manifest of a version. Raises NotFound when there is none, and DamagedManifest."""
    key = f"{prefix}/{MANIFEST_PATH}"
    try:
        return parse_manifest(store.read(key))
    except ManifestError as error:
        raise DamagedManifest(f"{store.connection.url(key)}: {error}") from error


def refuse_other_content(found: Found, files: Sequence[TreeFile], where: str) -> None:
    """Raises VersionTaken when names and sizes alone show that the version has other content. Reads no file."""
    if found.manifest is not None:
        old = (replace(entry, sha256="") for entry in found.manifest.files)
        _compare(found.manifest, old, (FileEntry(item.path, item.size, "") for item in files), where)


def make_plan(store: Store, wanted: Manifest, found: Found, prefix: str) -> Plan:
    """What has to be sent so that the store has `wanted`. Raises VersionTaken when the prefix has other content."""
    where = store.connection.url(f"{prefix}/")
    present = {path: size for path, size in found.objects.items() if path != MANIFEST_PATH}
    strangers = tuple(sorted(set(present) - {entry.path for entry in wanted.files}))
    if found.manifest is not None:
        _compare(found.manifest, found.manifest.files, wanted.files, where)
        sound = {entry for entry in wanted.files if present.get(entry.path) == entry.size}
        return Plan(found.manifest, prefix, *_split(wanted, sound), commit=False, strangers=strangers)
    if strangers:
        raise VersionTaken(
            f"{where} has no manifest, but objects that are no part of the directory: {_names(strangers)}."
            " Remove them, or choose another version"
        )
    finished = {
        entry
        for entry in wanted.files
        if present.get(entry.path) == entry.size and store.recorded_hash(f"{prefix}/{entry.path}") == entry.sha256
    }
    return Plan(wanted, prefix, *_split(wanted, finished), commit=True)


def carry_out(
    store: Store, plan: Plan, directory: ModelDirectory, part_size: int, say: Callable[[str], None]
) -> Manifest:
    """Sends what the plan names and writes the manifest last. Returns the manifest that is then on the shelf.

    `part_size` is in bytes, and fits the largest file.
    """
    locations = {item.path: item.location for item in directory.files}
    uploads = [
        Upload(locations[entry.path], f"{plan.prefix}/{entry.path}", entry.size, entry.sha256) for entry in plan.upload
    ]
    total = sum(entry.size for entry in plan.upload)
    progress = Progress(f"{plan.prefix}: sent", total, say)
    say(f"{plan.prefix}: sending {len(uploads)} files, {total} bytes")
    try:
        store.upload(uploads, part_size, progress.add)
    except StoreError as error:
        raise type(error)(
            f"{error}. Nothing was published; what is sent in full is not sent again next time"
        ) from error
    changed = changed_since(directory.files)
    if changed:
        raise DirectoryFaults(str(directory.path), [f"{path} was written to while it was sent" for path in changed])
    found = find(store, plan.prefix)
    short = [entry for entry in plan.manifest.files if found.objects.get(entry.path) != entry.size]
    if short:
        sizes = (
            f"{entry.path} (expected {entry.size}, found {found.objects.get(entry.path, 'none')})" for entry in short
        )
        raise StoreError(
            f"{store.connection.url(plan.prefix + '/')} has wrong sizes after the upload: {', '.join(sizes)}"
        )
    return _commit(store, plan, found) if plan.commit else plan.manifest


def _split(wanted: Manifest, there: set[FileEntry]) -> tuple[tuple[FileEntry, ...], tuple[FileEntry, ...]]:
    """The files to send and those to skip."""
    missing = tuple(entry for entry in wanted.files if entry not in there)
    return missing, tuple(entry for entry in wanted.files if entry in there)


def _commit(store: Store, plan: Plan, found: Found) -> Manifest:
    """Writes the manifest, unless somebody else has just done so."""
    if found.manifest is None:
        with suppress(AlreadyThere):  # what is there is compared below
            store.write_new(f"{plan.prefix}/{MANIFEST_PATH}", plan.manifest.to_json().encode())
    written = read_manifest(store, plan.prefix)
    _compare(written, written.files, plan.manifest.files, store.connection.url(f"{plan.prefix}/"))
    return written


def _compare(manifest: Manifest, old: Iterable[FileEntry], new: Iterable[FileEntry], where: str) -> None:
    """Raises VersionTaken, naming what differs, unless both sides have the same files."""
    shelved, offered = ({entry.path: entry for entry in side} for side in (old, new))
    kinds = {
        "only on the shelf": sorted(set(shelved) - set(offered)),
        "only in the directory": sorted(set(offered) - set(shelved)),
        "different": sorted(path for path in set(shelved) & set(offered) if shelved[path] != offered[path]),
    }
    differing = [f"{kind}: {_names(paths)}" for kind, paths in kinds.items() if paths]
    if differing:
        raise VersionTaken(
            f"version {manifest.version} of {manifest.display_name} is on the shelf with other content, at {where}."
            f" {'; '.join(differing)}. A version never changes: choose a new one, or publish the directory it came from"
        )


def _names(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return ", ".join(paths[:_LISTED]) + more
