# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as a program: packed, on several drives, in the foreground."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.s3_server import Server
from tests.standin.pack import pack
from tests.standin.settings import Fatal
from tests.standin.volumes import expand
from tests.support.rustfs_server import free_port, running_server, server_environment


def test_it_packs_to_the_same_bytes_and_says_what_it_is(tmp_path: Path) -> None:
    first, second = pack(tmp_path / "first"), pack(tmp_path / "second")
    assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest()
    other = tmp_path / "other"
    command = [sys.executable, "-m", "tests.standin.pack", str(other), "--version", "1.0.1", "--never-ready"]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[2])
    for binary, version in ((first, "1.0.0-rc.3"), (other, "1.0.1")):
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True, cwd="/").stdout
        assert said == f"rustfs {version} (stand-in)\n"
    assert {path.name for path in tmp_path.iterdir()} == {"first", "second", "other"}


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("/data", ["/data"]),
        ("/data/rustfs{0...3}", ["/data/rustfs0", "/data/rustfs1", "/data/rustfs2", "/data/rustfs3"]),
        ("/d{1...2}/e{08...09}", ["/d1/e08", "/d1/e09", "/d2/e08", "/d2/e09"]),
    ],
)
def test_ellipses(argument: str, expected: list[str]) -> None:
    assert expand(argument) == expected


def test_an_ellipsis_that_runs_backwards() -> None:
    with pytest.raises(Fatal, match="ellipsis"):
        expand("/data{3...0}")


def test_several_drives_share_one_identity(tmp_path: Path, standin: Path) -> None:
    for number in range(4):
        (tmp_path / f"d{number}").mkdir()
    settings = {"RUSTFS_VOLUMES": f"{tmp_path}/d{{0...3}}", "RUSTFS_UNSAFE_BYPASS_DISK_CHECK": "true"}
    with running_server(tmp_path / "rustfs", standin, **settings) as server:
        server.client().create_bucket(Bucket="models")
    found = {json.loads(path.read_text())["id"] for path in tmp_path.glob("d?/.rustfs.sys/format.json")}
    assert (len(found), len(list(tmp_path.glob("d?/.rustfs.sys/format.json")))) == (1, 4)


def test_in_the_foreground_it_makes_its_own_keys_and_leaves_nothing(tmp_path: Path) -> None:
    """What `make standin` runs."""
    address = f"127.0.0.1:{free_port()}"
    settings = server_environment(0, tmp_path, "", "") | {"RUSTFS_ADDRESS": address, "TMPDIR": str(tmp_path)}
    del settings["RUSTFS_VOLUMES"]
    command = [sys.executable, "-m", "tests.standin.foreground"]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], env=settings, stdout=subprocess.PIPE) as process:
        assert process.stdout
        said = dict(process.stdout.readline().decode().strip().split("=", 1) for _ in range(3))
        assert "listens" in process.stdout.readline().decode()
        server = Server(f"http://{address}", said["RUSTFS_ACCESS_KEY"], said["RUSTFS_SECRET_KEY"])
        server.client().create_bucket(Bucket="models")
        assert Path(said["RUSTFS_VOLUMES"]).parent == tmp_path
        process.terminate()
        assert process.wait(20) == 0
    assert list(tmp_path.iterdir()) == []
