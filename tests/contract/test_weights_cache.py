# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of a real rclone mount: how it is filled, and what it is good for. Needs root, /dev/fuse and fusermount3."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights
from ansible_collections.modelshelf.fleet.plugins.module_utils._rclone import ask, cache_of
from ansible_collections.modelshelf.fleet.plugins.modules import weights_cache
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import publish
from tests.contract.s3_server import Server
from tests.support.rclone_shelf import USER, Shelf
from tests.support.rustfs_server import RunningServer

SIZE = 3_000_000
MANIFEST = 700
"""At least what a manifest has, in bytes."""


def files(seed: int) -> dict[str, bytes]:
    """Two files with content of their own for each version, larger than what rclone reads ahead of a reader's end."""
    return {"config.json": b"{}", "model.safetensors": bytes([seed]) * SIZE, "empty": b""}


class Host(Shelf):
    """A host with a cached mount of the model, and instances that say what they use."""

    def publish(self, *versions: str) -> None:
        for version in versions:
            publish(self.model / version, files(ord(version[-1])))

    def instance(self, name: str, current: int | None = None, previous: int | None = None, **versions: str) -> None:
        """An instance with generations `g1`, `g2`, ... of versions."""
        place = self.home / "instances" / name
        for number, version in ((key.lstrip("g"), value) for key, value in versions.items()):
            release = place / "generations" / number / "release.json"
            release.parent.mkdir(parents=True)
            release.write_text(json.dumps({"format": 1, "model": "tiny", "version": version}))
        for link, number in (("current", current), ("previous", previous)):
            (place / link).unlink(missing_ok=True)
            if number:
                (place / link).symlink_to(f"generations/{number}")

    def run(self, version: str, *, check_mode: bool = False, **changes: Any) -> dict[str, Any]:
        """What the module answers."""
        arguments = {
            "path": str(self.mountpoint / version),
            "mountpoint": str(self.mountpoint),
            "user": USER,
            "rc": str(self.rc),
            "cache": str(self.cache),
            "instances": str(self.home / "instances"),
            "timeout": 10,
            "_ansible_check_mode": check_mode,
            **changes,
        }
        out = io.StringIO()
        with patch_module_args(arguments), redirect_stdout(out), pytest.raises(SystemExit):
            weights_cache.main()
        answer: dict[str, Any] = json.loads(out.getvalue())
        return answer

    def reads(self, version: str) -> bool:
        """Whether a process that opens all files of the version anew can read them whole, and they are right."""
        with Path("/proc/sys/vm/drop_caches").open("w") as drop:
            drop.write("3")
        place, origin = self.mountpoint / version, self.model / version
        command = ["timeout", "20", "diff", "--recursive", str(place), str(origin)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def fetched(self) -> int:
        """The bytes that this rclone has read from the store."""
        return int(ask(str(self.rc), "core/stats", 10)["bytes"])

    def cached(self) -> set[str]:
        """The versions of which a file with content lies in the cache."""
        found = cache_of(str(self.rc), str(self.cache), "tiny", 10)
        assert found
        return {version for version, size in found.versions().items() if size > SIZE}


@pytest.fixture
def home() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="modelshelf-cache-"))
    home.chmod(0o755)
    yield home
    shutil.rmtree(home)


@pytest.fixture
def host(home: Path, server: Server) -> Iterator[Host]:
    host = Host(home, server)
    yield host
    host.close()


def test_warm_version_is_read_without_the_store_also_after_a_restart(home: Path, fresh_server: RunningServer) -> None:
    host = Host(home, fresh_server)
    host.publish("v1", "v2")
    host.instance("main", g1="v1", current=1)
    host.mount_cached()
    try:
        first = host.run("v2")
        assert (first["changed"], first["read"]) == (True, {"files": 2, "bytes": SIZE + 2}), first
        fetched = host.fetched()
        again = host.run("v2", check="hashes")
        assert (again["changed"], again["read"]["bytes"], host.fetched()) == (False, 0, fetched)
        fresh_server.kill()
        assert host.reads("v2")
        fault = host.fault("v2", rc=str(host.rc), timeout=20)
        assert fault.kind == _weights.SILENT
        assert "rclone could not list the mount anew: operation error S3" in str(fault)
        assert host.reads("v2"), "a listing that failed has taken the old one away"
        host.unmount()
        host.mount_cached(sync=False)
        with pytest.raises(OSError, match="Input/output error"):
            list(host.mountpoint.iterdir())
        fresh_server.start()
        host.unmount()
        host.mount_cached(sync=False)
        assert host.verify("v2", rc=str(host.rc)).versions == ("v1", "v2")
        fresh_server.kill()
        assert host.reads("v2")
    finally:
        host.close()
