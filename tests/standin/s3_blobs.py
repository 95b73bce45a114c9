# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bytes of the objects: one plain file for each part, on the disk before the database knows it."""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .s3_checksums import encoded, running
from .wire import BodyStream

PIECE = 1 << 18
Blobs = Sequence[tuple[str, int]]  # (name, bytes) in the order of the object


@dataclass(frozen=True)
class Received:
    """A file that was written: `md5` in hex, `checksums` in base64 by algorithm."""

    name: str
    size: int
    md5: str
    checksums: dict[str, str]


class BlobStore:
    """Files below one folder. A file that is being read outlives its object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._doomed: set[str] = set()
        for number in range(256):
            (folder / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def receive(self, body: BodyStream, algorithms: Iterable[str] = ()) -> Received:
        """Write a body to a file of its own. Nothing is left when it cannot be read to its end."""
        name, size, md5 = uuid.uuid4().hex, 0, hashlib.md5(usedforsecurity=False)
        sums = {algorithm: running(algorithm) for algorithm in algorithms}
        path = self._path(name)
        try:
            with path.open("xb", buffering=0) as file:
                while piece := body.read(PIECE):
                    file.write(piece)
                    md5.update(piece)
                    for one in sums.values():
                        one.update(piece)
                    size += len(piece)
                os.fsync(file.fileno())
            self._sync(path.parent)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return Received(name, size, md5.hexdigest(), {kind: encoded(one.digest()) for kind, one in sums.items()})

    @staticmethod
    def _sync(folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def hold(self, names: Iterable[str]) -> bool:
        """Keep these files until `let_go`; False (and nothing held) when one is gone already."""
        wanted = list(names)
        with self._lock:
            if any(name in self._doomed or not self._path(name).exists() for name in wanted):
                return False
            self._held.update(wanted)
        return True

    def let_go(self, names: Iterable[str]) -> None:
        """The end of `hold`."""
        with self._lock:
            for name in names:
                self._held[name] -= 1
                if not self._held[name]:
                    del self._held[name]
                    if name in self._doomed:
                        self._doomed.discard(name)
                        self._path(name).unlink(missing_ok=True)

    def discard(self, names: Iterable[str]) -> None:
        """Remove files that no object has any more."""
        with self._lock:
            for name in names:
                if name in self._held:
                    self._doomed.add(name)
                else:
                    self._path(name).unlink(missing_ok=True)

    def sweep(self, known: set[str]) -> None:
        """Remove what a killed server left half-written. Only for the one process that uses the folder."""
        for path in self._folder.glob("??/*"):
            if path.name not in known:
                path.unlink(missing_ok=True)

    def pieces(self, blobs: Blobs, start: int, length: int) -> Iterator[bytes]:
        """`length` bytes from `start` of files that are held."""
        for name, size in blobs:
            if start >= size:
                start -= size
                continue
            if not length:
                return
            with self._path(name).open("rb", buffering=0) as file:
                file.seek(start)
                take = min(size - start, length)
                length, start = length - take, 0
                while take:
                    piece = file.read(min(PIECE, take))
                    if not piece:
                        raise OSError(f"{name} is shorter than the database says")
                    take -= len(piece)
                    yield piece


class Held:
    """A held range as the body of an answer: what was held is let go, also when it is never read."""

    def __init__(self, store: BlobStore, blobs: Blobs, start: int, length: int) -> None:
        self._store, self._names = store, [name for name, _ in blobs]
        self._pieces = store.pieces(blobs, start, length)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        """Called once, by who sends the answer."""
        names, self._names = self._names, []
        self._store.let_go(names)
