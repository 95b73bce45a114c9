# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights through a real rclone mount of a real S3 server. Needs root, /dev/fuse and fusermount3."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import (
    MANIFEST_PATH,
    FileEntry,
    Manifest,
    digest,
    sort_files,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import WeightsFault, mount_at
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_verify import Verified, Wanted, verify

FILES = {"config.json": b"{}", "model.safetensors": bytes(300_000), "empty": b"", "sub/tokenizer.json": b"{ }"}
USER = "nobody"
READ_ONLY = ("--allow-other", "--read-only", "--umask", "022")
MODULE = "ansible_collections.modelshelf.fleet.plugins.module_utils._weights"


def publish(version: Path, files: dict[str, bytes] = FILES) -> str:
    """Lay a version down as the store keeps it. Returns its digest."""
    entries = sort_files(FileEntry(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in files.items())
    total = sum(entry.size for entry in entries)
    manifest = Manifest("tiny", "Tiny", version.name, "hf", "2026-11-29T20:00:00Z", entries, total, digest(entries))
    for path, data in {**files, MANIFEST_PATH: manifest.to_json().encode()}.items():
        (version / path).parent.mkdir(parents=True, exist_ok=True)
        (version / path).write_bytes(data)
    return manifest.digest


class Shelf:
    """`rclone serve s3` of a directory, and `rclone mount` of one model in it."""

    def __init__(self, home: Path) -> None:
        self.rclone = shutil.which("rclone", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        assert self.rclone and os.geteuid() == 0 and Path("/dev/fuse").exists(), "needs rclone, root and /dev/fuse"
        self.home, self.model, self.mountpoint = home, home / "store" / "models" / "tiny", home / "weights" / "tiny"
        self.model.mkdir(parents=True)
        self.mountpoint.mkdir(parents=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.config = home / "rclone.conf"
        self.config.write_text(
            "[shelf]\ntype = s3\nprovider = Other\nno_check_bucket = true\n"
            "access_key_id = shelfreader\nsecret_access_key = shelfsecret\n"
            f"endpoint = http://127.0.0.1:{self.port}\nforce_path_style = true\n"
        )
        self.store = self._start(
            "serve",
            "s3",
            str(home / "store"),
            "--addr",
            f"127.0.0.1:{self.port}",
            "--auth-key",
            "shelfreader,shelfsecret",
            "--dir-cache-time",
            "0s",
        )
        self._until(self._answers)
        self.mount_process: subprocess.Popen[bytes] | None = None

    def mount(self, *options: str) -> None:
        quick = ("--contimeout", "2s", "--timeout", "2s", "--low-level-retries", "1", "--retries", "1")
        arguments = ("shelf:models/tiny/", str(self.mountpoint), "--dir-cache-time", "5m", *quick, *options)
        self.mount_process = self._start("mount", *arguments)
        self._until(lambda: mount_at(str(self.mountpoint)) is not None)

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
        self.store.send_signal(signal.SIGCONT)
        self.unmount()
        self._end(self.store)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        assert self.rclone
        with (self.home / "log").open("ab") as log:
            return subprocess.Popen([self.rclone, "--config", str(self.config), *arguments], stdout=log, stderr=log)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

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


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    home = Path(tempfile.mkdtemp(prefix="modelshelf-mount-"))
    home.chmod(0o755)
    shelf = Shelf(home)
    try:
        yield shelf
    finally:
        shelf.close()
        shutil.rmtree(home)


def test_a_whole_version_is_verified_as_the_user(shelf: Shelf) -> None:
    expected = publish(shelf.model / "v1")
    shelf.mount(*READ_ONLY)
    for check in ("sizes", "hashes"):
        found = shelf.verify("v1", check=check)
        assert (found.manifest.digest, found.versions) == (expected, ("v1",))
    assert not list(shelf.model.rglob("*probe*"))
    done = shelf.check("v1", expected)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    other = shelf.check("v1", "sha256:0")
    assert other.returncode == 1
    assert "has another digest than the release" in other.stderr


def test_a15_a_mount_that_only_root_can_read_is_refused(shelf: Shelf) -> None:
    publish(shelf.model / "v1")
    shelf.mount("--read-only")
    fault = shelf.fault("v1")
    assert fault.kind == _weights.DENIED
    assert "Permission denied" in str(fault)


def test_a_mount_that_can_be_written_is_refused_and_left_clean(shelf: Shelf) -> None:
    publish(shelf.model / "v1")
    shelf.mount("--allow-other", "--umask", "022")
    fault = shelf.fault("v1")
    assert (fault.kind, f"writable by {USER}" in str(fault)) == (_weights.WRITABLE, True)
    shelf.unmount()
    assert not list(shelf.model.rglob("*probe*"))


def test_a3_a_missing_version_names_the_prefix_and_the_versions_there_are(shelf: Shelf) -> None:
    publish(shelf.model / "v1")
    publish(shelf.model / "v2")
    shelf.mount(*READ_ONLY)
    fault = shelf.fault("v9", unit="mount.service")
    assert fault.kind == _weights.ABSENT
    for part in ("shelf:models/tiny/v9/", "not uploaded or not listable", "v1, v2", "listing cache (300 s)"):
        assert part in str(fault)
    done = shelf.check("v9", "sha256:0")
    assert done.stderr.startswith("modelshelf: weights are not mounted: no manifest at shelf:models/tiny/v9/")


def test_a18_a_version_newer_than_the_listing_is_seen_after_a_reload(shelf: Shelf) -> None:
    publish(shelf.model / "v1")
    shelf.mount(*READ_ONLY)
    shelf.verify("v1")
    publish(shelf.model / "v2")
    assert "listing cache (300 s)" in str(shelf.fault("v2"))
    assert shelf.verify("v2", unit="mount.service").versions == ("v1", "v2")


def test_a14_a_directory_without_a_mount_is_refused(shelf: Shelf) -> None:
    publish(shelf.mountpoint / "v1")
    assert shelf.fault("v1").kind == _weights.NOT_MOUNTED
    done = shelf.check("v2", "sha256:0")
    assert done.stderr.startswith("modelshelf: weights are not mounted: ")
    assert "is not a mount point" in done.stderr


def test_a_killed_mount_is_a_dead_endpoint_until_it_is_mounted_again(shelf: Shelf) -> None:
    expected = publish(shelf.model / "v1")
    shelf.mount(*READ_ONLY)
    assert shelf.mount_process
    shelf.mount_process.kill()
    shelf.mount_process.wait()
    assert shelf.fault("v1").kind == _weights.DEAD
    assert "dead endpoint" in shelf.check("v1", expected).stderr
    shelf.unmount()
    shelf.mount(*READ_ONLY)
    assert shelf.verify("v1").manifest.digest == expected


@pytest.mark.parametrize("stop", [signal.SIGSTOP, signal.SIGKILL])
def test_a_store_without_answer_ends_in_time(shelf: Shelf, stop: signal.Signals) -> None:
    expected = publish(shelf.model / "v1")
    shelf.mount(*READ_ONLY)
    shelf.store.send_signal(stop)
    start = time.monotonic()
    assert shelf.fault("v1").kind == _weights.SILENT
    done = shelf.check("v1", expected, timeout=3)
    assert time.monotonic() - start < 15
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "the store does not answer" in done.stderr


@pytest.mark.parametrize(
    ("check", "change", "expected"),
    [
        ("sizes", lambda v: (v / "model.safetensors").unlink(), "in the manifest, not on the mount: model.safetensors"),
        (
            "sizes",
            lambda v: (v / "old.safetensors").write_bytes(b"x"),
            "on the mount, not in the manifest: old.safetens",
        ),
        ("sizes", lambda v: (v / "sub/tokenizer.json").write_bytes(b"{"), "tokenizer.json: expected 3 bytes, found 1"),
        ("hashes", lambda v: (v / "config.json").write_bytes(b"[]"), "config.json: expected SHA-256"),
    ],
    ids=["missing", "extra", "short", "changed"],
)
def test_a11_files_that_differ_from_the_manifest_are_named(
    shelf: Shelf, check: str, change: Callable[[Path], object], expected: str
) -> None:
    publish(shelf.model / "v1")
    change(shelf.model / "v1")
    shelf.mount(*READ_ONLY)
    fault = shelf.fault("v1", check=check)
    assert fault.kind == _weights.DAMAGED
    assert expected in str(fault)
