# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a serving host has for a rollout: versions in its cache, room, GPUs, network. Changes nothing.

Standard library and Python 3.9 only. What cannot be found out is None.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ansible_collections.modelshelf.fleet.plugins.module_utils._names import model_slug

Run = Callable[[list[str]], tuple[int, str, str]]
"""Runs a command: its exit status, output and errors."""

_BLOCK = 512
"""The unit of st_blocks, whatever the file system (stat(2))."""

_BITS = 8
_MEGA = 1_000_000


def cached_versions(cache: str, bucket: str) -> dict[str, dict[str, int]]:
    """The bytes that rclone's caches have of each version, by model and version.

    `cache` has a directory for each mount. In it rclone keeps `vfs/<remote>/<bucket>/<key>`, a sparse file as large as
    the object: what counts is what is allocated.
    """
    found: dict[str, dict[str, int]] = {}
    for version in Path(cache).glob(f"*/vfs/*/{bucket}/*/*"):
        model = version.parent.name
        if version.is_dir() and model == model_slug(model):
            there = found.setdefault(model, {})
            there[version.name] = there.get(version.name, 0) + allocated(version)
    return found


def room(directory: str) -> dict[str, int]:
    """Free bytes, without those kept for root, and all bytes of the file system that `directory` is or will be on."""
    path = Path(directory)
    while not path.exists():
        path = path.parent
    found = os.statvfs(path)
    return {"free": found.f_bavail * found.f_frsize, "total": found.f_blocks * found.f_frsize}


def gpus(run: Run, program: str | None) -> tuple[list[str] | None, str]:
    """The UUIDs of the GPUs in the order of their indexes, and why they are not known where nvidia-smi fails."""
    if not program:
        return None, ""
    status, output, errors = run(["timeout", "60", program, "--query-gpu=uuid", "--format=csv,noheader"])
    if status:
        return None, f"{program} ended with {status}: {(errors or output).strip()}"
    return [line.strip() for line in output.splitlines() if line.strip()], ""


def bandwidth(run: Run, program: str | None, store: str, net: str = "/sys/class/net") -> float | None:
    """What the interface towards the host `store` can take, in bytes a second. Virtual ones tell none."""
    if not program:
        return None
    try:
        address = socket.getaddrinfo(store, None, type=socket.SOCK_STREAM)[0][4][0]
        status, output, _errors = run([program, "-json", "route", "get", str(address)])
        device = json.loads(output)[0]["dev"] if status == 0 else ""
        speed = int(Path(net, device, "speed").read_text(encoding="ascii")) if device else 0
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return speed * _MEGA / _BITS if speed > 0 else None


def allocated(directory: Path) -> int:
    """The bytes that the files below `directory` have on disk."""
    return sum(on_disk(Path(folder, name)) for folder, _folders, files in os.walk(directory) for name in files)


def on_disk(file: Path) -> int:
    """The bytes that a file has on disk, 0 for one that is gone: files leave a cache at any time."""
    with suppress(OSError):
        found = file.lstat()
        return min(found.st_size, found.st_blocks * _BLOCK)
    return 0
