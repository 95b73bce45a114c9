# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mounts: read-only, readable by the servers' user, written by nobody."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

import pytest

from tests.support.fleet import SERVING, host
from tests.support.serving import MODEL, MOUNT, MOUNTPOINT, argv, as_user, manifest, pid, show

pytestmark = pytest.mark.parametrize("name", SERVING)


def test_mount_is_read_only(name: str) -> None:
    fstype, options = host(name).check_output(f"findmnt -no FSTYPE,OPTIONS {MOUNTPOINT}").split()
    assert fstype == "fuse.rclone"
    assert "ro" in options.split(",")


def test_a15_every_file_is_readable_by_the_user_of_the_servers(name: str) -> None:
    """And is what was published: the sums in the manifest are those of the bytes that the user reads."""
    data = manifest(name)
    sums = "".join(f"{file['sha256']}  {file['path']}\n" for file in data["files"])
    assert "model.safetensors" in sums
    done = as_user(name, f"cd {MOUNTPOINT}/v1 && printf %s '{sums}' | sha256sum --check --quiet")
    assert (done.rc, done.stdout) == (0, ""), done.stderr
    listed = host(name).check_output(f"cd {MOUNTPOINT}/v1 && find . -type f | sort").splitlines()
    assert listed == sorted(["./.modelshelf/manifest.json", *(f"./{file['path']}" for file in data["files"])])


def test_digest_can_be_checked_by_hand(name: str) -> None:
    files = sorted(manifest(name)["files"], key=lambda file: file["path"].encode())
    text = "".join(f"{file['sha256']}  {file['path']}\n" for file in files)
    assert manifest(name)["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@pytest.mark.parametrize("user", ["modelshelf", "root"])
@pytest.mark.parametrize("target", ["new", "v1/new", "v1/config.json"])
def test_nobody_writes(name: str, user: str, target: str) -> None:
    done = as_user(name, f"echo x >> {MOUNTPOINT}/{target}", user)
    assert done.rc != 0
    assert "Read-only file system" in done.stderr or "Permission denied" in done.stderr


def test_settings_are_root_s_alone(name: str) -> None:
    file = host(name).file("/etc/modelshelf/rclone.conf")
    assert (file.user, file.group, file.mode) == ("root", "root", 0o600)
    assert as_user(name, "cat /etc/modelshelf/rclone.conf").rc != 0


def test_unit_of_the_mount(name: str) -> None:
    found = show(name, MOUNT, *"Type Restart MemoryMax StartLimitIntervalUSec UnitFileState ActiveState".split())
    assert found == {
        "Type": "notify",
        "Restart": "always",
        "MemoryMax": str(2 << 30),
        "StartLimitIntervalUSec": "0",
        "UnitFileState": "enabled",
        "ActiveState": "active",
    }


def test_a2_remote_path_ends_with_one_slash(name: str) -> None:
    arguments = argv(name, pid(name, MOUNT))
    remotes = [argument for argument in arguments if argument.startswith("shelf-")]
    assert remotes == [f"shelf-{MODEL}:models/{MODEL}/"]


def test_a16_mount_is_never_put_over_files(name: str) -> None:
    arguments = argv(name, pid(name, MOUNT))
    assert "--read-only" in arguments
    assert not [argument for argument in arguments if argument.startswith(("--allow-non-empty", "--daemon"))]


def test_clean_up_uses_a_helper_that_exists_and_comes_first(name: str) -> None:
    """On a dead endpoint even mkdir fails, so the lazy unmount has to come before it (systemd keeps the order)."""
    text = host(name).check_output(f"systemctl cat {MOUNT}")
    before = [line.removeprefix("ExecStartPre=-") for line in text.splitlines() if line.startswith("ExecStartPre=")]
    helper, option, place = before[0].split()
    assert PurePosixPath(helper).name.startswith("fusermount")
    assert host(name).file(helper).exists
    assert (option, place.strip('"')) == ("-uz", MOUNTPOINT)
    assert f"ExecStopPost=-{before[0]}\n" in text
