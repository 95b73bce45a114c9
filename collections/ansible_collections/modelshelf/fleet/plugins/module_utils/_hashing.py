# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading every file of a model once, in parallel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import DirectoryFaults
from ansible_collections.modelshelf.fleet.plugins.module_utils._file_tree import TreeFile, file_state
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import FileEntry
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_dir import ModelDirectory

_BLOCK = 4 * 1024 * 1024


def hash_files(directory: ModelDirectory, workers: int, read: Callable[[int], None]) -> tuple[FileEntry, ...]:
    """Size and SHA-256 of every file, in their order. `read` is called with numbers of bytes, from several threads.

    Raises DirectoryFaults for files that fail to be read, or that are written to meanwhile.
    """
    with ThreadPoolExecutor(max_workers=workers) as pool:
        results = list(pool.map(lambda item: _hash_file(item, read), directory.files))
    faults = [result for result in results if isinstance(result, str)]
    if faults:
        raise DirectoryFaults(str(directory.path), faults)
    return tuple(result for result in results if isinstance(result, FileEntry))


def changed_since(files: Sequence[TreeFile]) -> list[str]:
    """The paths of files that were written to, replaced or removed since the tree was read."""
    return [item.path for item in files if not _unchanged(item)]


def _unchanged(item: TreeFile) -> bool:
    try:
        return file_state(item.location) == item.state
    except OSError:
        return False


def _hash_file(item: TreeFile, read: Callable[[int], None]) -> FileEntry | str:
    result = hashlib.sha256()
    try:
        with item.location.open("rb") as stream:
            while block := stream.read(_BLOCK):
                result.update(block)
                read(len(block))
    except OSError as error:
        return f"{item.path} cannot be read: {error.strerror}"
    if not _unchanged(item):
        return f"{item.path} was written to while it was read"
    return FileEntry(path=item.path, size=item.size, sha256=result.hexdigest())
