# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof that a version on a host is mounted, whole, readable by the service's user and writable by nobody.

Standard library and Python 3.9 only. Nothing here changes the host, except that a mount's listing cache may be dropped.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH, Manifest
from ansible_collections.modelshelf.fleet.plugins.module_utils._rclone import RcloneError, refresh
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import SystemdError
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import (
    ABSENT,
    DAMAGED,
    DEAD,
    NOT_MOUNTED,
    SILENT,
    Identity,
    WeightsFault,
    mount_at,
    read_manifest,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_files import (
    Reading,
    answers,
    check_files,
    check_refused_write,
    identity_of,
)

SETTLE = 5.0
"""Seconds that a mount gets to come up, or to show a fresh listing after its cache was dropped."""


@dataclass(frozen=True)
class Wanted:
    """What to prove. `timeout` is in seconds: for the manifest to appear, and for any single answer of the mount.

    A mount whose rclone listens at the socket `rc` is told to list anew first; else `unit` is reloaded when needed.
    """

    path: str
    mountpoint: str
    user: str
    check: str = "sizes"
    timeout: float = 60.0
    unit: str = ""
    fstype: str = "fuse.rclone"
    cache_seconds: int = 0
    rc: str = ""

    def problem(self) -> str:
        """What is wrong with these values themselves, empty when nothing is."""
        if posixpath.dirname(posixpath.normpath(self.path)) != posixpath.normpath(self.mountpoint):
            return f"path {self.path} is not directly below mountpoint {self.mountpoint}"
        return "" if self.timeout > 0 else f"timeout: expected more than 0 seconds, found {self.timeout}"


@dataclass(frozen=True)
class Verified:
    """What was proven, and the versions that the mount shows."""

    manifest: Manifest
    versions: tuple[str, ...]


def verify(wanted: Wanted, reload: Callable[[str], None], sleep: Callable[[float], None] = time.sleep) -> Verified:
    """Prove all of it. `reload` makes the unit it is given drop its listing cache. Raises WeightsFault."""
    identity = identity_of(wanted.user)
    _await_mount(wanted, sleep)
    listed = _listed_anew(wanted)
    manifest = _await_manifest(wanted, identity, reload, sleep, listed)
    if manifest.version != posixpath.basename(wanted.path):
        raise WeightsFault(DAMAGED, f"the manifest below {wanted.path} is that of version {manifest.version}")
    check_files(wanted.path, manifest, identity, Reading(wanted.check == "hashes"), timeout=wanted.timeout)
    for name, writer in ((wanted.user, identity), ("root", Identity(0, 0))):
        check_refused_write(wanted.path, name, writer, wanted.timeout)
    return Verified(manifest, versions_at(wanted.mountpoint, identity, wanted.timeout))


def check_mount(mountpoint: str, fstype: str) -> None:
    """Raise WeightsFault unless a file system of type `fstype` is mounted there; an empty type checks nothing."""
    mount = mount_at(mountpoint)
    if fstype and mount is None:
        raise WeightsFault(
            NOT_MOUNTED, f"{mountpoint} is not a mount point: expected a {fstype} mount. Look at the mount's unit"
        )
    if fstype and mount is not None and mount.fstype != fstype:
        raise WeightsFault(
            NOT_MOUNTED, f"{mountpoint}: expected a {fstype} mount, found {mount.fstype} of {mount.source}"
        )


def newer_than(stamp: str, files: Sequence[str]) -> bool:
    """Whether one of `files` has changed since `stamp` was touched. What does not exist is not newer."""
    try:
        touched = Path(stamp).stat().st_mtime_ns
    except FileNotFoundError:
        return False
    return any(path.stat().st_mtime_ns > touched for path in map(Path, files) if path.exists())


def versions_at(mountpoint: str, identity: Identity, timeout: float) -> tuple[str, ...]:
    """The versions below `mountpoint` that have a manifest. Raises WeightsFault when the mount does not answer."""

    def work() -> Iterator[Any]:
        for entry in sorted(Path(mountpoint).iterdir()):
            yield entry.name if (entry / MANIFEST_PATH).is_file() else ""

    return tuple(name for name in answers(work, identity, timeout, f"listing {mountpoint}") if name)


def _await_mount(wanted: Wanted, sleep: Callable[[float], None]) -> None:
    deadline = time.monotonic() + min(SETTLE, wanted.timeout)
    while True:
        try:
            return check_mount(wanted.mountpoint, wanted.fstype)
        except WeightsFault:
            if time.monotonic() >= deadline:
                raise
        sleep(0.5)


def _listed_anew(wanted: Wanted) -> str:
    """How the mount was told to list anew, empty when it was not: then its rclone does not listen."""
    if not wanted.rc or not Path(wanted.rc).exists():
        return ""
    try:
        refresh(wanted.rc, wanted.timeout)
    except RcloneError as error:
        raise WeightsFault(SILENT, f"{wanted.mountpoint}: {error}. The mount was left as it is") from None
    return "it was made anew just now"


def _await_manifest(
    wanted: Wanted, identity: Identity, reload: Callable[[str], None], sleep: Callable[[float], None], cache: str
) -> Manifest:
    deadline, listed = time.monotonic() + wanted.timeout, bool(cache)
    while True:
        left = max(1.0, deadline - time.monotonic())
        try:
            return read_manifest(wanted.path, timeout=left, identity=identity)
        except WeightsFault as fault:
            if fault.kind not in (ABSENT, DEAD, SILENT, NOT_MOUNTED):
                raise
            if fault.kind == ABSENT and wanted.unit and not cache:
                # One listing of the mount may be older than the version; a second one cannot be.
                cache, deadline = _dropped(wanted.unit, reload), min(deadline, time.monotonic() + SETTLE)
            elif time.monotonic() >= deadline - 0.5 or (fault.kind == ABSENT and listed):
                raise _explained(wanted, fault, identity, cache or "the version may be newer than that") from None
        sleep(0.5)


def _dropped(unit: str, reload: Callable[[str], None]) -> str:
    try:
        reload(unit)
    except SystemdError as error:
        return f"it could not be dropped: {error}"
    return f"it was dropped by a reload of {unit}"


def _explained(wanted: Wanted, fault: WeightsFault, identity: Identity, seen: str) -> WeightsFault:
    """The fault of a version that is not there, with the versions that are."""
    if fault.kind != ABSENT:
        return fault
    version, model = posixpath.basename(wanted.path), posixpath.basename(wanted.mountpoint)
    there = ", ".join(versions_at(wanted.mountpoint, identity, wanted.timeout)) or "none"
    cache = f" ({wanted.cache_seconds} s)" if wanted.cache_seconds else ""
    return WeightsFault(
        ABSENT,
        f"version {version} of {model}: {fault}. Versions there: {there}."
        f" The mount keeps a listing cache{cache}; {seen}. Publish the version, or choose one that is there",
    )
