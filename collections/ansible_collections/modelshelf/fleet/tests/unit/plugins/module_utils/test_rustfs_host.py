# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _rustfs_host
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_host import (
    Recorded,
    Rules,
    is_local,
    local_drives,
    mount_points,
    physical_devices,
    read_record,
    volume_problems,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_layout import Drive, parse_layout

ME = str(os.getuid())
SOMEBODY = str(os.getuid() + 4711)
NEW, KNOWN = Recorded(), Recorded("0a1b-known")


def mounted(root: Path, *points: str) -> str:
    """A tree whose proc says that these are mount points."""
    table = root / "proc/self/mountinfo"
    table.parent.mkdir(parents=True)
    rows = [f"3{n} 29 8:{n} / {point} rw shared:1 - xfs /dev/sd{n} rw" for n, point in enumerate(("/", *points))]
    table.write_text("\n".join(rows) + "\n")
    return str(root)


def formatted(folder: Path) -> Path:
    (folder / ".rustfs.sys").mkdir(parents=True)
    (folder / ".rustfs.sys/format.json").write_text("{}")
    return folder


def problems(*folders: Path, recorded: Recorded = NEW, root: str = "/", **rules: Any) -> list[str]:
    given = Rules(**{"user": ME, "allow_shared_device": True, **rules})
    return volume_problems([Drive(str(folder)) for folder in folders], given, recorded, root)


def test_new_empty_and_formatted_folders_are_fine(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "new-disk/lost+found").mkdir(parents=True)
    assert problems(tmp_path / "absent", tmp_path / "empty", tmp_path / "new-disk") == []
    assert problems(formatted(tmp_path / "store"), recorded=KNOWN) == []


def test_a9_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    (found,) = problems(formatted(tmp_path / "store"), user=SOMEBODY)
    assert f"belongs to {_rustfs_host._user_name(os.getuid())}, expected {SOMEBODY}" in found


def test_empty_folder_of_another_user_is_refused_and_roots_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    assert bool(problems(tmp_path / "empty", user=SOMEBODY)) == (os.getuid() != 0)
    # The one who runs the tests may be root: then a user of the name `root` is somebody else.
    monkeypatch.setattr(_rustfs_host, "_uid", lambda user: -1)
    assert bool(problems(tmp_path / "empty")) == (os.getuid() != 0)


def test_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photos/2024").mkdir(parents=True)
    (found,) = problems(tmp_path / "photos")
    assert "holds 1 entries that are no store of RustFS (2024)" in found
    (tmp_path / "file").touch()
    assert "is no folder" in problems(tmp_path / "file")[0]


@pytest.mark.parametrize(("made", "state"), [(False, "does not exist"), (True, "is empty")])
def test_folder_without_the_store_that_was_there_is_refused(tmp_path: Path, made: bool, state: str) -> None:
    if made:
        (tmp_path / "store").mkdir()
    (found,) = problems(tmp_path / "store", recorded=KNOWN)
    assert f"{state}, and this host has a store already (0a1b-known)" in found
    assert problems(tmp_path / "store", recorded=KNOWN, new_volumes=(str(tmp_path / "store"),)) == []


def test_mount_point_without_a_mount_is_refused(tmp_path: Path) -> None:
    root = mounted(tmp_path / "root", "/data/disk0")
    rules = {"mount_points": ("/data/disk0", "/data/disk1")}
    (found,) = problems(Path("/data/disk0/a"), Path("/data/disk1/a"), root=root, **rules)
    assert found.startswith("/data/disk1 should be a mount point, and nothing is mounted there")


def test_volume_beside_the_mount_points_is_refused(tmp_path: Path) -> None:
    root = mounted(tmp_path / "root", "/data/disk0")
    (found,) = problems(Path("/data/disk00"), root=root, mount_points=("/data/disk0",))
    assert "/data/disk00 lies on none of the mount points /data/disk0" in found


def test_file_systems_below_a_volume_are_refused(tmp_path: Path) -> None:
    root = mounted(tmp_path / "root", "/data/disk0/a\\040b", "/data/disk01")
    (found,) = problems(Path("/data/disk0"), root=root)
    assert found.endswith("which the server refuses: /data/disk0/a b")


def test_volumes_on_one_disk_are_refused_with_their_number(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    (found,) = problems(*folders, allow_shared_device=False)
    assert found.startswith("2 volumes lie on the disk ")
    assert problems(folders[0], allow_shared_device=False) == []


def test_disks_are_found_through_partitions_and_raid(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    blocks = tmp_path / "sys/devices"
    for name in ("sda/sda1", "sdb/sdb1"):
        (blocks / name).mkdir(parents=True)
        (blocks / name / "partition").touch()
    (blocks / "md0/slaves").mkdir(parents=True)
    for name in ("sda/sda1", "sdb/sdb1"):
        (blocks / "md0/slaves" / Path(name).name).symlink_to(blocks / name)
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / f"sys/dev/block/{os.major(device)}:{os.minor(device)}").symlink_to(blocks / "md0")
    assert physical_devices(str(tmp_path), str(tmp_path / "sys")) == {"sda", "sdb"}
    assert physical_devices(str(tmp_path), "/nowhere") == {f"{os.major(device)}:{os.minor(device)}"}


def test_nearly_full_disk_is_refused_with_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = namedtuple("space", "f_blocks f_bavail f_frsize")
    monkeypatch.setattr(os, "statvfs", lambda place: space(100 * 2**18, 2 * 2**18, 4096))
    (found,) = problems(tmp_path / "a", tmp_path / "b", minimum_free=5)
    assert "2.0 GiB of 100.0 GiB are free (2.0 %), expected at least 5 %" in found
    assert problems(tmp_path / "a", minimum_free=2) == []


def test_record_of_the_store(tmp_path: Path) -> None:
    place = tmp_path / "store.json"
    assert read_record(str(place)) == Recorded()
    place.write_text('{"deployment_id": "0a1b-known"}')
    assert read_record(str(place)) == KNOWN
    for damaged in ("", "[]", "{}"):
        place.write_text(damaged)
        with pytest.raises(ValueError, match="cannot be read"):
            read_record(str(place))


def test_drives_of_this_host_are_told_by_its_addresses() -> None:
    assert is_local("127.0.0.1")
    assert not is_local("192.0.2.1")
    layout = parse_layout(["http://127.0.0.{1...1}:9000/d{0...1}", "http://192.0.2.{1...1}:9000/d{0...1}"])
    assert [str(drive) for drive in local_drives(layout)] == ["http://127.0.0.1:9000/d0", "http://127.0.0.1:9000/d1"]
    assert len(local_drives(parse_layout(["/d{0...3}"]))) == 4


def test_table_of_mounts_that_cannot_be_read_has_none(tmp_path: Path) -> None:
    assert mount_points(tmp_path / "absent") == set()
