# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host can run a RustFS server on its volumes, before anything is touched. Standard library, Python 3.9.

RustFS formats any empty folder that it is given and shares its port with whoever listens there already; so what would
go wrong without a word is looked for here. Nothing is changed.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_layout import Drive, Layout

FORMAT_FILE = ".rustfs.sys/format.json"
"""What a server writes first into a folder; a volume with it belongs to a store."""

_HARMLESS = {"lost+found"}
"""What a new file system may have in it."""


@dataclass(frozen=True)
class Rules:
    """What the volumes of a host have to be. `minimum_free` is in percent of a file system.

    `record` is the file that says which store the host had.
    """

    user: str
    mount_points: tuple[str, ...] = ()
    new_volumes: tuple[str, ...] = ()
    minimum_free: int = 0
    allow_shared_device: bool = False
    record: str = ""


@dataclass(frozen=True)
class Recorded:
    """What was written down about the store after its first start: which one it is."""

    deployment_id: str = ""


def read_record(place: str) -> Recorded:
    """The store that this host had before; an empty record when it had none. Raises ValueError for a damaged file."""
    try:
        data = json.loads(Path(place).read_text(encoding="utf-8"))
        return Recorded(str(data["deployment_id"]))
    except FileNotFoundError:
        return Recorded()
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{place} should say which store this host has, and cannot be read: {error!r}. Put it right, or remove it"
            " when the volumes are those of the right store"
        ) from None


def local_drives(layout: Layout) -> list[Drive]:
    """The drives of the layout that are on this host: all of them, or those whose host is an address of this one."""
    if not layout.distributed:
        return list(layout.drives)
    mine = {name for name in layout.hosts if is_local(name)}
    return [drive for drive in layout.drives if drive.host in mine]


def is_local(name: str) -> bool:
    """Whether a name or an address is one of this host: something can be bound to it."""
    with suppress(OSError):
        for family, kind, protocol, _name, address in socket.getaddrinfo(name, 0, type=socket.SOCK_DGRAM):
            with suppress(OSError), socket.socket(family, kind, protocol) as probe:
                probe.bind(address)
                return True
    return False


def volume_problems(drives: Sequence[Drive], rules: Rules, recorded: Recorded, root: str = "/") -> list[str]:
    """What is wrong with the folders, each as a sentence that says what was expected, found, and what to do."""
    mounts = mount_points(Path(root, "proc/self/mountinfo"))
    paths = [drive.path for drive in drives]
    found = [
        f"{path} should be a mount point, and nothing is mounted there: a store would be made on the disk below it."
        " Mount its file system, or take it out of rustfs_mount_points"
        for path in rules.mount_points
        if _normal(path) not in mounts
    ]
    found += _outside(paths, rules.mount_points) if rules.mount_points else []
    for path in paths:
        found += _folder_problems(path, rules, recorded, mounts)
    return found + _shared(paths, rules) + _full(paths, rules.minimum_free)


def mount_points(table: Path) -> set[str]:
    """The mount points of a text like /proc/self/mountinfo."""
    with suppress(OSError):
        lines = table.read_text(encoding="utf-8").splitlines()
        return {_unescaped(line.split()[4]) for line in lines if len(line.split()) > 4}
    return set()


def physical_devices(path: str, sys: str = "/sys") -> frozenset[str]:
    """The disks below a path, as the server tells them: through partitions, device mapper and RAID to the leaves."""
    device = Path(path).stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    place = Path(sys, "dev/block", number)
    if not place.exists():
        return frozenset({number})
    return frozenset(_leaves(place.resolve()))


def _leaves(device: Path) -> Iterable[str]:
    slaves = sorted((device / "slaves").iterdir()) if (device / "slaves").is_dir() else []
    if not slaves:
        return [device.parent.name if (device / "partition").exists() else device.name]
    return [leaf for slave in slaves for leaf in _leaves(slave.resolve())]


def _folder_problems(path: str, rules: Rules, recorded: Recorded, mounts: set[str]) -> list[str]:
    below = sorted(item for item in mounts if item.startswith(f"{_normal(path)}/"))
    if below:
        return [f"{path} has other file systems mounted below it, which the server refuses: {', '.join(below)}"]
    place = Path(path)
    if place.exists() and not place.is_dir():
        return [f"{path} is no folder"]
    entries = sorted({item.name for item in place.iterdir()} - _HARMLESS) if place.is_dir() else []
    formatted = (place / FORMAT_FILE).exists()
    found = []
    if recorded.deployment_id and not formatted and path not in rules.new_volumes:
        state = "does not exist" if not place.is_dir() else "is empty" if not entries else "holds no store"
        found.append(
            f"{path} {state}, and this host has a store already ({recorded.deployment_id}): a start would format the"
            " folder and serve an empty store. Mount its disk. If it is a new disk for that store, one of several, name"
            f" it in rustfs_new_volumes. If that store is lost for good, remove {rules.record}: a new one is made then"
        )
    if entries and not formatted and not recorded.deployment_id:
        found.append(
            f"{path} holds {len(entries)} entries that are no store of RustFS ({', '.join(entries[:3])}). Give the"
            " store a folder of its own"
        )
    owner = place.stat().st_uid if place.is_dir() else None
    # The top of a new file system is root's.
    expected = {_uid(rules.user)} if entries else {_uid(rules.user), 0}
    if owner is not None and owner not in expected:
        found.append(
            f"{path} belongs to {_user_name(owner)}, expected {rules.user}, whom the server runs as. If it is the"
            " store's, give it to that user with all in it (chown -R) while no server runs on it"
        )
    return found


def _outside(paths: Sequence[str], given: Sequence[str]) -> list[str]:
    tops = tuple(f"{_normal(item)}/" for item in given)
    lost = [path for path in paths if not f"{path}/".startswith(tops)]
    return [
        f"{path} lies on none of the mount points {', '.join(given)}: add its own to rustfs_mount_points"
        for path in lost
    ]


def _shared(paths: Sequence[str], rules: Rules) -> list[str]:
    if rules.allow_shared_device or len(paths) < 2:
        return []
    on: dict[str, list[str]] = {}
    for path in paths:
        for device in sorted(physical_devices(str(_nearest(path)))):
            on.setdefault(device, []).append(path)
    return [
        f"{len(shared)} volumes lie on the disk {device}: {', '.join(shared)}. Give each a disk of its own; for a test"
        " on one disk set rustfs_allow_shared_device"
        for device, shared in on.items()
        if len(shared) > 1
    ]


def _full(paths: Sequence[str], minimum: int) -> list[str]:
    found, seen = [], set()
    for path in paths:
        place = _nearest(path)
        device = place.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        space = os.statvfs(place)
        total, free = space.f_blocks * space.f_frsize, space.f_bavail * space.f_frsize
        if total and free * 100 < total * minimum:
            found.append(
                f"{path}: {free / 2**30:.1f} GiB of {total / 2**30:.1f} GiB are free ({free * 100 / total:.1f} %),"
                f" expected at least {minimum} % (rustfs_minimum_free): the server stays ready on a full disk while"
                " writes fail. Make room"
            )
    return found


def _nearest(path: str) -> Path:
    """The path, or the nearest folder above it that is there."""
    place = Path(path)
    return next(item for item in (place, *place.parents) if item.exists())


def _uid(user: str) -> int | None:
    if user.isdigit():
        return int(user)
    with suppress(KeyError):
        return pwd.getpwnam(user).pw_uid
    return None


def _user_name(uid: int) -> str:
    with suppress(KeyError):
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    return f"the user {uid}"


def _normal(path: str) -> str:
    return os.path.normpath(path)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), text)
