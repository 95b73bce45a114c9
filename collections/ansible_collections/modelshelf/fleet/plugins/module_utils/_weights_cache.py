# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filling the cache of a mount with a version before anything is stopped for it, and emptying it of what nobody uses.

Standard library and Python 3.9 only.
"""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import human_bytes
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import instances
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import Manifest
from ansible_collections.modelshelf.fleet.plugins.module_utils._progress import Progress
from ansible_collections.modelshelf.fleet.plugins.module_utils._rclone import Cache, cache_of
from ansible_collections.modelshelf.fleet.plugins.module_utils._serving_host import room
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import Identity, read_manifest
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_files import (
    Reading,
    answers,
    check_files,
    identity_of,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_verify import check_mount

_WRITTEN_DOWN = 20.0
"""Seconds within which rclone writes down what it has of a file that was closed (it keeps one open for 5 more)."""

_NAMED = 5


class CacheFault(Exception):
    """A cache that cannot hold what it should. The message has the numbers."""


@dataclass(frozen=True)
class Wanted:
    """What the cache of a mount should hold: the parameters of the module weights_cache, which documents them."""

    path: str
    mountpoint: str
    user: str
    rc: Path
    cache: str
    instances: str
    fill: bool
    check: str
    bandwidth: float | None
    max_size: int | None
    timeout: float


@dataclass(frozen=True)
class Use:
    """The versions of a model that the instances of a host serve now, and all that they may start with."""

    served: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Work:
    """What is to be done: bytes that are missing of each file of the version, versions to remove with their bytes."""

    missing: Mapping[str, int]
    remove: Mapping[str, int]

    @property
    def bytes(self) -> int:
        return sum(self.missing.values())


def bring(wanted: Wanted, *, check_mode: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Fill the cache with the version, remove what nobody uses, and return what the module returns.

    Raises WeightsFault, CacheFault, GenerationError, JournalError, RcloneError, OSError.
    """
    if posixpath.dirname(wanted.path) != wanted.mountpoint:
        raise CacheFault(f"path {wanted.path} is not directly below mountpoint {wanted.mountpoint}")
    check_mount(wanted.mountpoint, "fuse.rclone")
    model, version = posixpath.basename(wanted.mountpoint), posixpath.basename(wanted.path)
    identity, use = identity_of(wanted.user), versions_in_use(wanted.instances, model)
    manifest = read_manifest(wanted.path, timeout=wanted.timeout, identity=identity) if wanted.fill else None
    if manifest and wanted.max_size is not None:
        check_budget(wanted.max_size, sizes_at(wanted, use.served | {version}, identity), model)
    reading = Reading(hashes=wanted.check == "hashes", rate=wanted.bandwidth)
    cache = cache_of(str(wanted.rc), wanted.cache, model, wanted.timeout) if wanted.rc.exists() else None
    if cache is None:
        if manifest and reading.hashes:
            streamed = replace(reading, whole=frozenset(entry.path for entry in manifest.files))
            check_files(wanted.path, manifest, identity, streamed, timeout=wanted.timeout)
        told = f"the mount at {wanted.mountpoint} was started without a cache; it keeps one after its next start"
        return {"changed": False, "skipped_reason": told}
    there = cache.versions()
    work = plan(cache, version, manifest, use)
    if work.missing:
        check_room(cache, work)
    paths = {unused: [] if check_mode else cache.remove(unused) for unused in work.remove}
    if manifest and not check_mode and (work.missing or reading.hashes):
        fill(cache, wanted, manifest, work, identity, reading, say)
    kept = {name: size for name, size in there.items() if name not in work.remove}
    more = {version: there.get(version, 0) + work.bytes} if work.missing else {}
    return {
        "changed": bool(work.missing or work.remove),
        **({"manifest_digest": manifest.digest} if manifest else {}),
        "read": {"files": len(work.missing), "bytes": work.bytes},
        "removed": [{"version": name, "bytes": size, "paths": paths[name]} for name, size in work.remove.items()],
        "diff": {"before": there, "after": {**kept, **more}},
    }


def versions_in_use(root: str, model: str) -> Use:
    """What the instances below `root` use of a model (its slug): current, previous, newest, and where a move goes.

    Raises GenerationError or JournalError when that cannot be read.
    """
    served, kept = set[str](), set[str]()
    for instance in instances(root):
        move = Journal(instance.path).move()
        current = instance.linked("current")
        moved = (move.before, move.to, move.previous) if move else ()
        numbers = {current, instance.linked("previous"), *moved, *instance.numbers()[-1:]} - {None}
        for number in numbers:
            release = instance.release(int(number or 0))
            if release.get("model") == model:
                kept.add(str(release["version"]))
                if number == current:
                    served.add(str(release["version"]))
    return Use(frozenset(served), frozenset(kept))


def sizes_at(wanted: Wanted, versions: Iterable[str], identity: Identity) -> dict[str, int]:
    """The bytes of all files of versions, manifests included, as the mount shows them; 0 for one that it does not."""

    def work() -> Iterator[Any]:
        for version in sorted(versions):
            tree = os.walk(posixpath.join(wanted.mountpoint, version))
            yield version, sum(Path(folder, name).stat().st_size for folder, _folders, names in tree for name in names)

    return dict(answers(work, identity, wanted.timeout, f"listing {wanted.mountpoint}"))


def check_budget(limit: int, sizes: Mapping[str, int], model: str) -> None:
    """Raise CacheFault when `limit` bytes do not hold all these versions together."""
    needed = sum(sizes.values())
    if needed > limit:
        raise CacheFault(
            f"the cache of {model} may take {human_bytes(limit)} ({limit} bytes), but what this host serves and is"
            f" to serve needs {human_bytes(needed)}: {_told(sizes)}. Raise weights_cache_max_size to {needed} at least."
            " Nothing was read"
        )


def plan(cache: Cache, version: str, manifest: Manifest | None, use: Use) -> Work:
    """What is to be done for a version; without its manifest nothing is read.

    What nobody uses goes when room is needed, or when nothing is to be read.
    """
    lacks = {
        entry.path: entry.size - cache.present(version, entry.path) for entry in (manifest.files if manifest else ())
    }
    missing = {path: size for path, size in lacks.items() if size}
    unused = {name: size for name, size in cache.versions().items() if name not in use.kept | {version}}
    return Work(missing, unused if missing or not manifest else {})


def check_room(cache: Cache, work: Work) -> None:
    """Raise CacheFault when the file system of the cache does not take what is missing."""
    free = room(str(cache.files))["free"] + sum(work.remove.values())
    if work.bytes > free:
        raise CacheFault(
            f"{human_bytes(work.bytes)} are to be read into the cache at {cache.files}, where {human_bytes(free)} are"
            f" free: {human_bytes(work.bytes - free)} too little. Make room on its file system. Nothing was read"
        )


def fill(
    cache: Cache,
    wanted: Wanted,
    manifest: Manifest,
    work: Work,
    identity: Identity,
    reading: Reading,
    say: Callable[[str], None],
) -> None:
    """Read what is missing of the version through its mount, and see that the cache has it then.

    With hashes that is one read of everything, cached or not. Raises WeightsFault or CacheFault.
    """
    read = [entry for entry in manifest.files if reading.hashes or entry.path in work.missing]
    progress = Progress(f"{wanted.path}: read", sum(entry.size for entry in read), say)
    whole = replace(reading, whole=frozenset(work.missing))
    check_files(wanted.path, manifest, identity, whole, timeout=wanted.timeout, read=progress.add)
    check_kept(cache, manifest)


def check_kept(cache: Cache, manifest: Manifest, patience: float = _WRITTEN_DOWN) -> None:
    """Wait until rclone has written down that it has the version. Raises CacheFault for files that are not there."""
    deadline = time.monotonic() + patience
    while lacking := [entry for entry in manifest.files if entry.size > cache.present(manifest.version, entry.path)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    # Somebody else may have a file open: then it is all there, but not written down yet.
    lost = [entry for entry in lacking if cache.on_disk(manifest.version, entry.path) < entry.size]
    if lost:
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        raise CacheFault(
            f"the cache at {cache.files} did not keep all of {manifest.version}: it lacks"
            f" {', '.join(entry.path for entry in lost[:_NAMED])}{more}. Look for what else takes its room"
            " (weights_cache_max_size, the free space of its file system), and run this again"
        )


def _told(sizes: Mapping[str, int]) -> str:
    return " + ".join(f"{version} {human_bytes(size)} ({size})" for version, size in sorted(sizes.items()))
