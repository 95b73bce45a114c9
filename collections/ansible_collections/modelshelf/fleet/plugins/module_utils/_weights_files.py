# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading all files of a version through a mount, and trying to write there. Standard library and Python 3.9 only."""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import pwd
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH, FileEntry, Manifest
from ansible_collections.modelshelf.fleet.plugins.module_utils._pace import Pace
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import (
    DAMAGED,
    DENIED,
    SILENT,
    WRITABLE,
    Identity,
    Stalled,
    WeightsFault,
    in_child,
)

_READERS = 8
_UNREAD = "Look into the journal of its mount, at the store, and whether the cache has room on its file system"
_BLOCK = 4 << 20
_NAMED = 10


def identity_of(user: str) -> Identity:
    """The identity of a user by name. Raises WeightsFault when this host has no such user."""
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise WeightsFault(DENIED, f"this host has no user {user!r}: create it, or name another one") from None
    return Identity(entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(user, entry.pw_gid)))


def identity_of_process(pid: int, proc: str = "/proc") -> Identity:
    """The identity that a running process has now. Raises OSError when there is none."""
    text = Path(proc, str(pid), "status").read_text(encoding="utf-8", errors="replace")
    fields = {name: value.split() for name, value in (line.split(":", 1) for line in text.splitlines())}
    return Identity(int(fields["Uid"][1]), int(fields["Gid"][1]), tuple(int(group) for group in fields["Groups"]))


def read_inside(pid: int, path: str, *, user: str = "", timeout: float, proc: str = "/proc") -> None:
    """Read the start of `path` as a process sees it: its root, its mounts, its user (or `user`).

    Raises WeightsFault that says why it cannot be read.
    """

    def work() -> Iterator[Any]:
        with Path(path).open("rb") as file:
            yield len(file.read(1))

    try:
        identity = identity_of(user) if user else identity_of_process(pid, proc)
        list(in_child(work, stall=timeout, identity=identity, root=posixpath.join(proc, str(pid), "root")))
    except (OSError, RuntimeError) as error:
        raise WeightsFault(DENIED, str(error)) from None
    except Stalled:
        raise WeightsFault(SILENT, f"no answer within {timeout:g} s: the store does not answer") from None


@dataclass(frozen=True)
class Reading:
    """How files are read: all of them whole and hashed, or those that `whole` names, and of the others both ends.

    `rate` is for those that `whole` names, in bytes a second, for all readers together; None is no bound.
    """

    hashes: bool = False
    whole: frozenset[str] = frozenset()
    rate: float | None = None


def check_files(
    root: str,
    manifest: Manifest,
    identity: Identity,
    reading: Reading,
    *,
    timeout: float,
    read: Callable[[int], None] = lambda count: None,
) -> None:
    """Read every file of the version below `root` as `identity`. `read` is told numbers of bytes.

    Raises WeightsFault that names what is missing, what is too much and what differs. `timeout` (seconds) limits how
    long the mount may be silent, not the whole.
    """
    expected = {entry.path: entry for entry in manifest.files}

    def work() -> Iterator[Any]:
        for path in _paths_below(root):
            yield {"listed": path}
        told: SimpleQueue[dict[str, Any]] = SimpleQueue()
        pace = Pace(reading.rate)
        with ThreadPoolExecutor(_READERS) as pool:
            for path in expected:
                pool.submit(_read_file, root, path, reading, pace, told.put)
            left = len(expected)
            while left:
                answer = told.get()
                left -= "path" in answer
                yield answer

    listed: set[str] = set()
    faults: dict[str, str] = {}
    unread: set[str] = set()
    for answer in answers(work, identity, timeout, f"reading the files of {root}"):
        if "listed" in answer:
            listed.add(answer["listed"])
        elif "read" in answer:
            read(answer["read"])
        else:
            why = _difference(answer, expected[answer["path"]], reading.hashes)
            faults.update({answer["path"]: f"{answer['path']}: {why}"} if why else {})
            unread.update([answer["path"]] if "why" in answer else [])
    missing, extra = sorted(set(expected) - listed), sorted(listed - set(expected))
    groups = {
        "in the manifest, not on the mount": missing,
        "on the mount, not in the manifest": extra,
        "not as in the manifest": [faults[path] for path in sorted(faults) if path not in missing],
    }
    found = [f"{title}: {_some(names)}" for title, names in groups.items() if names]
    if found:
        damaged = missing or extra or faults.keys() - unread
        advice = "Publish the model again under a new version" if damaged else _UNREAD
        raise WeightsFault(
            DAMAGED, f"{root}, read as uid {identity.uid}, is not what its manifest says. {'; '.join(found)}. {advice}"
        )


def _difference(answer: dict[str, Any], entry: FileEntry, hashes: bool) -> str:
    if "why" in answer:
        return f"cannot be read: {answer['why']}"
    if answer["size"] != entry.size:
        return f"expected {entry.size} bytes, found {answer['size']}"
    if hashes and answer["sha256"] != entry.sha256:
        return f"expected SHA-256 {entry.sha256}, found {answer['sha256']}"
    return ""


def _paths_below(root: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(root, onerror=refuse):
        below = posixpath.relpath(folder, root)
        if below == ".":
            folders[:] = [name for name in folders if name != posixpath.dirname(MANIFEST_PATH)]
        yield from (posixpath.normpath(posixpath.join(below, name)) for name in names)


def _read_file(root: str, path: str, reading: Reading, pace: Pace, tell: Callable[[dict[str, Any]], None]) -> None:
    """Tell what a file is: its size by reading its ends, or all of it, with signs of life between, and its hash."""
    try:
        with Path(root, path).open("rb", buffering=0) as file:
            size, read, hasher = os.fstat(file.fileno()).st_size, 0, hashlib.sha256()
            if not reading.hashes and path not in reading.whole:
                ends = [os.pread(file.fileno(), 1, offset) for offset in (0, max(0, size - 1))]
                if size and not all(ends):
                    raise OSError(errno.EIO, "short read")
            else:
                while True:
                    if path in reading.whole:
                        pace.wait(min(_BLOCK, max(0, size - read)), lambda: tell({"read": 0}))
                    block = file.read(_BLOCK)
                    if not block:
                        break
                    if reading.hashes:
                        hasher.update(block)
                    read += len(block)
                    tell({"read": len(block)})
                size = read
        tell({"path": path, "size": size, "sha256": hasher.hexdigest()})
    except OSError as error:
        tell({"path": path, "why": error.strerror or str(error)})


def check_refused_write(root: str, name: str, identity: Identity, timeout: float) -> None:
    """Try to create a directory and a file below `root` as the user `name`. Raises WeightsFault unless refused."""
    probe = posixpath.join(root, f".modelshelf-write-probe-{os.getpid()}")

    def work() -> Iterator[Any]:
        # The directory comes first: where it can be made, nothing has to be written. A file that was closed on a
        # writable rclone mount reaches the store even when it is deleted at once.
        for create, delete in ((os.mkdir, os.rmdir), (_create_file, os.unlink)):
            try:
                create(probe)
            except OSError as error:
                yield error.errno
            else:
                with suppress(OSError):
                    delete(probe)
                yield 0
                return

    for code in answers(work, identity, timeout, f"trying to write below {root}"):
        if code == 0:
            raise WeightsFault(
                WRITABLE,
                f"{root} is writable by {name}: weights must be mounted read-only. Remount it read-only",
            )
        if code not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise WeightsFault(
                SILENT, f"a write by {name} below {root} was expected to be refused, but: {os.strerror(code)}"
            )


def _create_file(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def answers(work: Callable[[], Iterator[Any]], identity: Identity, timeout: float, doing: str) -> Iterator[Any]:
    """What `work` yields in a child of that identity. Silence for `timeout` seconds and failures are WeightsFaults."""
    try:
        yield from in_child(work, stall=timeout, identity=identity)
    except Stalled:
        raise WeightsFault(SILENT, f"no answer within {timeout:g} s while {doing}: the store does not answer") from None
    except RuntimeError as error:
        raise WeightsFault(DENIED, f"failed while {doing} as uid {identity.uid}: {error}") from None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
