# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights through a real rclone mount of a real S3 server. Needs root, /dev/fuse and fusermount3."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import publish
from tests.contract.s3_server import Server
from tests.support.rclone_shelf import READ_ONLY, USER, Shelf
from tests.support.rustfs_server import RunningServer


@contextmanager
def shelf_on(server: Server) -> Iterator[Shelf]:
    home = Path(tempfile.mkdtemp(prefix="modelshelf-mount-"))
    home.chmod(0o755)
    shelf = Shelf(home, server)
    try:
        yield shelf
    finally:
        shelf.close()
        shutil.rmtree(home)


@pytest.fixture
def shelf(server: Server) -> Iterator[Shelf]:
    with shelf_on(server) as shelf:
        yield shelf


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
    for part in (f"shelf:{shelf.bucket}/tiny/v9/", "not uploaded or not listable", "v1, v2", "listing cache (300 s)"):
        assert part in str(fault)
    done = shelf.check("v9", "sha256:0")
    assert done.stderr.startswith(f"modelshelf: weights are not mounted: no manifest at shelf:{shelf.bucket}/tiny/v9/")


def test_a18_a_version_newer_than_the_listing_is_seen_after_a_reload(shelf: Shelf) -> None:
    publish(shelf.model / "v1")
    shelf.mount(*READ_ONLY)
    shelf.verify("v1")
    publish(shelf.model / "v2")
    shelf.sync()
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
def test_a_store_without_answer_ends_in_time(fresh_server: RunningServer, stop: signal.Signals) -> None:
    with shelf_on(fresh_server) as shelf:
        expected = publish(shelf.model / "v1")
        shelf.mount(*READ_ONLY)
        fresh_server.process.send_signal(stop)
        start = time.monotonic()
        assert shelf.fault("v1").kind == _weights.SILENT
        done = shelf.check("v1", expected, timeout=3)
        fresh_server.process.send_signal(signal.SIGCONT)
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
