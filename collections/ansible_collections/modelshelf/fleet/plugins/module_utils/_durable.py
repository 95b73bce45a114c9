# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are there as a whole, also after a power failure, or not at all. Standard library and Python 3.9 only."""

from __future__ import annotations

import os
from pathlib import Path


def write_file(path: Path, text: str, mode: int) -> None:
    """Write a new file with this mode, whatever the umask. Raises FileExistsError and other OSErrors."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, mode)
        file.write(text)
        file.flush()
        os.fsync(descriptor)


def replace_file(path: Path, text: str, mode: int) -> None:
    """Put a file in the place of one that may be there, at once. Raises OSError."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    write_file(draft, text, mode)
    draft.replace(path)
    sync_directory(path.parent)


def make_directory(directory: Path) -> None:
    """A directory that everybody may enter, whatever the umask, and those above it that are missing."""
    if not directory.is_dir():
        make_directory(directory.parent)
        directory.mkdir()
        directory.chmod(0o755)


def sync_directory(directory: Path) -> None:
    """Have the names in a directory survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
