# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders that the server keeps its state in: found, checked and formatted as it does (rustfs.md 0, 3.2)."""

from __future__ import annotations

import itertools
import json
import os
import re
import uuid
from dataclasses import replace
from pathlib import Path

from .settings import Fatal, Settings

ELLIPSIS = re.compile(r"\{(\d+)\.\.\.(\d+)\}")
SET_SIZES = range(2, 17)


def expand(argument: str) -> list[str]:
    """`/data/rustfs{0...3}` as four folders; several ellipses multiply."""
    parts = ELLIPSIS.split(argument)
    choices = []
    for first, last in zip(parts[1::3], parts[2::3], strict=True):
        if int(first) > int(last):
            raise Fatal(f"invalid ellipsis in volume: {argument}")
        width = len(first) if first.startswith("0") and len(first) == len(last) else 0
        choices.append([str(number).zfill(width) for number in range(int(first), int(last) + 1)])
    texts = parts[0::3]
    return [
        texts[0] + "".join(number + text for number, text in zip(chosen, texts[1:], strict=True))
        for chosen in itertools.product(*choices)
    ]


def open_volumes(settings: Settings) -> Settings:
    """The settings with the volumes' folders and the store's deployment id. An empty folder is formatted without a
    word, as the server does. Raises Fatal when a folder cannot be used."""
    names = [name for argument in settings.volume_arguments for name in expand(argument)]
    remote = [name for name in names if "://" in name]
    if remote:
        raise Fatal(f"{remote[0]}: the stand-in has no distributed mode: give local folders")
    if len(names) > 1 and not any(len(names) % size == 0 for size in SET_SIZES):
        raise Fatal(f"{len(names)} drives cannot be divided into sets of 2 to 16")
    folders = tuple(Path(name).absolute() for name in names)
    for folder in folders:
        _usable(folder)
    if not settings.bypass_disk_check:
        _own_devices(folders)
    return replace(settings, volumes=folders, deployment_id=_deployment(folders))


def _usable(folder: Path) -> None:
    if not folder.is_dir():
        raise Fatal(f"Volume not found: {folder}")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise Fatal(f"Permission denied: {folder}")
    below = f"{folder.resolve()}/"
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = line.split()[4].encode().decode("unicode_escape")
        if point.startswith(below):
            raise Fatal(f"Cross-device mounts detected on path ({folder}): {point}")


def _own_devices(folders: tuple[Path, ...]) -> None:
    seen: dict[int, Path] = {}
    for folder in folders:
        device = folder.stat().st_dev
        if device in seen:
            raise Fatal(
                f"local drives share one physical device: {seen[device]}, {folder}: "
                "RUSTFS_UNSAFE_BYPASS_DISK_CHECK=true allows it"
            )
        seen[device] = folder


def _deployment(folders: tuple[Path, ...]) -> str:
    found = ""
    files = [folder / ".rustfs.sys" / "format.json" for folder in folders]
    for file in files:
        try:
            identity = json.loads(file.read_text())["id"] if file.exists() else ""
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Fatal(f"cannot read {file}: {error}") from None
        if found and identity and identity != found:
            raise Fatal(f"{file} belongs to another store")
        found = found or identity
    found = found or str(uuid.uuid4())
    for file in files:
        if not file.exists():
            try:
                file.parent.mkdir(mode=0o700, exist_ok=True)
                file.write_text(json.dumps({"version": "1", "format": "standin", "id": found}))
            except OSError as error:
                raise Fatal(f"{error.strerror}: {file}") from None
    return found
