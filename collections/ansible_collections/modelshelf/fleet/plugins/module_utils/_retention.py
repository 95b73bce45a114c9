# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which generations of an instance and which engines of a host stay, and the removal of the others.

Standard library and Python 3.9 only.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from ansible_collections.modelshelf.fleet.plugins.module_utils._durable import sync_directory
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance, instances
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal

LEAST = 2
"""So many of the newest generations stay at least."""

_REMOVED = ".removed-"


def kept_generations(instance: Instance, keep: int) -> set[int]:
    """The newest `keep` generations, and those that `current`, `previous`, `staged`, a hold or a move under way names.

    The newest is among them: the next one gets its number from it, so no number is used twice.
    Raises ValueError for a `keep` below LEAST, JournalError when a hold or a move cannot be read.
    """
    if keep < LEAST:
        raise ValueError(f"keep is {keep}: {LEAST} generations stay at least")
    journal, numbers = Journal(instance.path), instance.numbers()
    move, hold = journal.move(), journal.hold()
    named = {instance.linked(link) for link in ("current", "previous", "staged")}
    if move:
        named |= {move.before, move.to, move.previous}
    if hold:
        named.add(hold.generation)
    return {number for number in numbers if number in named} | set(numbers[-keep:])


def installed_engines(root: str, marker: str) -> list[Path]:
    """The engines below `root` that the role has installed and finished: named vllm-*, with the file `marker`."""
    return sorted(path for path in Path(root).glob("vllm-*") if (path / marker).is_file() and not path.is_symlink())


def used_engines(root: str, without: Mapping[str, Collection[int]]) -> set[str]:
    """The engines that generations of all instances below `root` link, as real paths.

    `without`: instance -> generations that do not count.
    """
    return {
        os.path.realpath(instance.directory(number) / "engine")
        for instance in instances(root)
        for number in instance.numbers()
        if number not in without.get(instance.name, ())
    }


def remove(directory: Path, names: Iterable[str], *, check_mode: bool, warn: Callable[[str], None]) -> list[str]:
    """Remove these directories below `directory`, and what killed runs have left of others. Returns the names that go.

    Each loses its name at once: nothing that is removed in part can be used. What cannot be removed is a warning and no
    error, since what serves does not need it gone. The next run tries again.
    """
    rest = sorted(directory.glob(f"{_REMOVED}*"))
    asked = [directory / name for name in names]
    gone: list[Path] = []
    for path in (*rest, *asked):
        try:
            if not check_mode:
                _remove(path)
            gone.append(path)
        except OSError as error:
            warn(f"{path} was not removed as a whole, the next run tries again: {error}")
            # It has lost its name: that is a change.
            if not path.exists():
                gone.append(path)
    return sorted({path.name.removeprefix(_REMOVED) for path in gone})


def _remove(path: Path) -> None:
    if not path.name.startswith(_REMOVED):
        path = path.rename(path.with_name(_REMOVED + path.name))
        sync_directory(path.parent)
    shutil.rmtree(path)
