# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files below a directory as a publisher sees them: links resolved, excluded names left out."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import ManifestError, check_path

RESERVED = ".modelshelf"
"""The folder of the manifest. What a directory itself has under this name is never published."""


@dataclass(frozen=True)
class TreeFile:
    """A regular file: its path below the directory, where it really is, its size in bytes and its state.

    Two states of a file are equal when nobody wrote to it in between.
    """

    path: str
    location: Path
    size: int
    state: tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """All files that are to be published, sorted by path, and what stands in the way."""

    files: tuple[TreeFile, ...]
    faults: tuple[str, ...]


def file_state(location: Path) -> tuple[int, ...]:
    """What changes when a file is written or replaced. The change time also gives away a restored mtime."""
    found = location.stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def excluded(path: str, patterns: Sequence[str]) -> bool:
    """Whether a glob of `patterns` fits: one without a slash any part of the path, one with a slash the whole path.

    `*` and `**` cross slashes in a whole path. `name/**` fits everything below `name`.
    """
    parts = PurePosixPath(path).parts
    for pattern in patterns:
        if "/" in pattern.rstrip("/"):
            if fnmatch.fnmatchcase(path, pattern.lstrip("/")):
                return True
        elif any(fnmatch.fnmatchcase(part, pattern.rstrip("/")) for part in parts):
            return True
    return False


def read_tree(directory: Path, exclude: Sequence[str]) -> Tree:
    """Every file below `directory`, which exists. Content is not read."""
    root = directory.resolve()
    faults: list[str] = []
    files = sorted(_walk(root, root, "", exclude, faults, (root,)), key=lambda item: item.path.encode())
    return Tree(files=tuple(files), faults=tuple(faults))


def _walk(
    root: Path, folder: Path, below: str, exclude: Sequence[str], faults: list[str], above: tuple[Path, ...]
) -> Iterator[TreeFile]:
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except PermissionError:
        faults.append(f"the folder {below or '.'} cannot be listed by this user")
        return
    for name in names:
        path = f"{below}/{name}" if below else name
        if path == RESERVED or excluded(path, exclude):
            continue
        try:
            check_path(path)
            target = (folder / name).resolve(strict=True)
            mode = target.stat().st_mode
        except ManifestError as error:
            faults.append(str(error))
            continue
        except (FileNotFoundError, RuntimeError, NotADirectoryError):
            faults.append(f"{path} is a link to something that is not there")
            continue
        except OSError as error:
            faults.append(f"{path} cannot be looked at: {error.strerror}")
            continue
        if root not in target.parents and target != root:
            faults.append(f"{path} is a link to {target}, outside the directory: put the file itself there")
        elif stat.S_ISDIR(mode):
            if target in above:
                faults.append(f"{path} is a link to a folder that it is in")
            else:
                yield from _walk(root, target, path, exclude, faults, (*above, target))
        elif not stat.S_ISREG(mode):
            faults.append(f"{path} is neither a file nor a folder")
        elif not os.access(target, os.R_OK):
            faults.append(f"{path} cannot be read by this user")
        else:
            state = file_state(target)
            yield TreeFile(path=path, location=target, size=target.stat().st_size, state=state)
