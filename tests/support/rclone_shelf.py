# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A shelf on a server, and its mount on this machine by rclone. Needs root, /dev/fuse and fusermount3."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import WeightsFault, mount_at
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_verify import Verified, Wanted, verify
from tests.contract.s3_server import Server

USER = "nobody"
READ_ONLY = ("--allow-other", "--read-only", "--umask", "022")
MODULE = "ansible_collections.modelshelf.fleet.plugins.module_utils._weights"


class Shelf:
    """A bucket of a server with one model in it, and `rclone mount` of that model with a key that can only read it.

    What lies in the folder `model` is on the server after `sync`; `mount` does it first.
    """

    def __init__(self, home: Path, server: Server) -> None:
        self.rclone = shutil.which("rclone", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        assert self.rclone and os.geteuid() == 0 and Path("/dev/fuse").exists(), "needs rclone, root and /dev/fuse"
        self.home, self.model, self.mountpoint = home, home / "tiny", home / "weights" / "tiny"
        self.cache, self.rc = home / "cache" / "tiny", home / "modelshelf-weights-tiny" / "rc.sock"
        self.model.mkdir()
        self.mountpoint.mkdir(parents=True)
        self.server, self.bucket = server, f"models-{secrets.token_hex(6)}"
        server.client().create_bucket(Bucket=self.bucket)
        reader, secret = f"reader-{self.bucket}", secrets.token_hex(20)
        self._make_reader(reader, secret)
        self.config = home / "rclone.conf"
        self.config.write_text(
            "[shelf]\ntype = s3\nprovider = Other\nno_check_bucket = true\n"
            f"access_key_id = {reader}\nsecret_access_key = {secret}\n"
            f"endpoint = {server.endpoint}\nforce_path_style = true\n"
        )
        self.mount_process: subprocess.Popen[bytes] | None = None

    def _make_reader(self, name: str, secret: str) -> None:
        """The user and its policy, as the product makes them."""
        policy = json.dumps(readonly_prefix_policy(self.bucket, ["tiny"])).encode()
        user = json.dumps({"secretKey": secret, "status": "enabled"}).encode()
        calls = (
            ("add-canned-policy", {"name": name}, policy),
            ("add-user", {"accessKey": name}, user),
            ("set-user-or-group-policy", {"policyName": name, "userOrGroup": name, "isGroup": "false"}, b""),
        )
        for call, query, body in calls:
            answer = self.server.ask("PUT", f"/rustfs/admin/v3/{call}", query, body)
            assert answer.status == 200, (call, answer)

    def sync(self) -> None:
        """Upload what is in the folder, and remove what is not."""
        client = self.server.client()
        wanted = {f"tiny/{path.relative_to(self.model)}": path for path in self.model.rglob("*") if path.is_file()}
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        for key in {item["Key"] for page in pages for item in page.get("Contents", ())} - wanted.keys():
            client.delete_object(Bucket=self.bucket, Key=key)
        for key, path in wanted.items():
            client.upload_file(str(path), self.bucket, key)

    def mount(self, *options: str, sync: bool = True) -> None:
        quick = ("--contimeout", "2s", "--timeout", "2s", "--low-level-retries", "1", "--retries", "1")
        if sync:
            self.sync()
        arguments = (f"shelf:{self.bucket}/tiny/", str(self.mountpoint), "--dir-cache-time", "5m", *quick, *options)
        self.mount_process = self._start("mount", *arguments)
        self._until(lambda: mount_at(str(self.mountpoint)) is not None)

    def mount_cached(self, *options: str, sync: bool = True) -> None:
        """Mount it as the preset `cache` does, but what rclone does in the background it does soon."""
        self.rc.parent.mkdir(mode=0o700, exist_ok=True)
        # rclone leaves its socket when it is killed; systemd removes the directory.
        self.rc.unlink(missing_ok=True)
        keeps = ("--vfs-cache-mode", "full", "--cache-dir", str(self.cache), "--vfs-cache-max-age", "87600h")
        lists = ("--dir-cache-time", "87600h", "--poll-interval", "0", "--use-server-modtime", "--vfs-refresh")
        listens = ("--rc", "--rc-no-auth", "--rc-addr", f"unix://{self.rc}")
        soon = ("--vfs-handle-caching", "50ms", "--vfs-cache-poll-interval", "200ms")
        self.mount(*READ_ONLY, *keeps, *lists, *listens, *soon, *options, sync=sync)

    def unmount(self) -> None:
        subprocess.run(["fusermount3", "-uz", str(self.mountpoint)], check=False, capture_output=True)
        if self.mount_process:
            self._end(self.mount_process)

    def reload(self, unit: str) -> None:
        assert unit == "mount.service" and self.mount_process
        self.mount_process.send_signal(signal.SIGHUP)

    def verify(self, version: str, **changes: Any) -> Verified:
        values = {"user": USER, "timeout": 3.0, "cache_seconds": 300, **changes}
        return verify(Wanted(str(self.mountpoint / version), str(self.mountpoint), **values), self.reload)

    def fault(self, version: str, **changes: Any) -> WeightsFault:
        with pytest.raises(WeightsFault) as caught:
            self.verify(version, **changes)
        return caught.value

    def check(self, version: str, expected_digest: str, timeout: int = 20) -> subprocess.CompletedProcess[str]:
        """The check before a start, as the service's user, with the library as it lies on a host."""
        library, release = self.home / "lib", self.home / "release.json"
        package = library / "ansible_collections/modelshelf/fleet/plugins/module_utils"
        package.mkdir(parents=True, exist_ok=True)
        for name in ("_weights.py", "_manifest.py"):
            shutil.copy(Path(_weights.__file__).with_name(name), package)
        release.write_text(
            json.dumps({"weights_path": str(self.mountpoint / version), "manifest_digest": expected_digest})
        )
        python = shutil.which("python3", path="/usr/bin:/bin")
        assert python
        return subprocess.run(
            [python, "-m", MODULE, "check", str(release), "--timeout", str(timeout)],
            check=False,
            capture_output=True,
            text=True,
            user=USER,
            cwd="/",
            env={"PYTHONPATH": str(library), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def close(self) -> None:
        self.unmount()

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        assert self.rclone
        with (self.home / "log").open("ab") as log:
            return subprocess.Popen([self.rclone, "--config", str(self.config), *arguments], stdout=log, stderr=log)

    def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < deadline, (self.home / "log").read_text()
            time.sleep(0.05)

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
