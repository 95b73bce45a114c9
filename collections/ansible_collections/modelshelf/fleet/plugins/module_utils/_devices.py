# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which processes hold GPUs, from proc(5). Standard library and Python 3.9 only."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

_DEVICE = re.compile(r"/dev/(nvidia[0-9]+|kfd|dri/renderD[0-9]+)")


def holders(user: int, proc: str = "/proc") -> list[int]:
    """The processes of a user, by uid, that have a GPU open. Root sees them all."""
    return sorted(
        int(directory.name)
        for directory in Path(proc).iterdir()
        if directory.name.isdigit() and _owner(directory) == user and _has_device(directory)
    )


def _owner(directory: Path) -> int:
    with suppress(OSError):
        return directory.stat().st_uid
    return -1


def _has_device(directory: Path) -> bool:
    # Processes come and go while this looks at them.
    with suppress(OSError):
        for descriptor in (directory / "fd").iterdir():
            with suppress(OSError):
                if _DEVICE.fullmatch(str(descriptor.readlink())):
                    return True
    return False
