# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of a real rclone mount: how it is filled, what it is good for. Needs root, /dev/fuse and fusermount3."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights
from tests.contract.playing import REPOSITORY
from tests.contract.s3_server import Server
from tests.support.cached_mount import SIZE, CachedMount
from tests.support.rclone_shelf import READ_ONLY, USER
from tests.support.rustfs_server import RunningServer


@pytest.fixture
def home() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="modelshelf-cache-"))
    home.chmod(0o755)
    yield home
    shutil.rmtree(home)


@pytest.fixture
def host(home: Path, server: Server) -> Iterator[CachedMount]:
    host = CachedMount(home, server)
    yield host
    host.close()


def test_warm_version_is_read_without_the_store_also_after_a_restart(home: Path, fresh_server: RunningServer) -> None:
    host = CachedMount(home, fresh_server)
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
        assert host.reads("v2"), "a mount that was started without the store needs another start"
        host.unmount()
        host.mount_cached(sync=False)
        assert host.verify("v2", rc=str(host.rc)).versions == ("v1", "v2")
        fresh_server.kill()
        assert host.reads("v2")
    finally:
        host.close()


def test_a18_version_newer_than_a_listing_of_ten_years_is_seen(host: CachedMount) -> None:
    host.publish("v1")
    host.mount_cached()
    host.verify("v1", rc=str(host.rc))
    host.publish("v2")
    host.sync()
    assert "listing cache (300 s)" in str(host.fault("v2", timeout=1)), "the listing was made anew anyway"
    assert host.verify("v2", rc=str(host.rc), unit="not.reloaded").versions == ("v1", "v2")
    assert "Versions there: v1, v2. The mount keeps a listing cache (300 s); it was made anew just now" in str(
        host.fault("v9", rc=str(host.rc), timeout=60)
    )


def test_what_nobody_uses_leaves_the_cache_and_nothing_else_does(host: CachedMount) -> None:
    host.publish("v1", "v2", "v3", "v4", "v5")
    host.mount_cached()
    assert all(host.reads(version) for version in ("v1", "v2", "v3", "v4"))
    host.instance("main", g1="v1", g2="v2", g3="v3", current=3, previous=2)
    beside = [host.cache.parent / "other" / "vfs", host.cache / "vfs" / "shelf" / host.bucket / "other" / "v1"]
    for place in beside:
        place.mkdir(parents=True)
    told = host.run("v3", check_mode=True, fill=False)
    assert host.cached() == {"v1", "v2", "v3", "v4"}
    assert (told["changed"], [item["version"] for item in told["removed"]]) == (True, ["v1", "v4"])
    assert not host.run("v3")["changed"], "nothing was missing, so no room was needed"
    fetched = host.fetched()
    would = host.run("v5", check_mode=True)
    assert (would["read"]["bytes"], [item["version"] for item in would["removed"]]) == (SIZE + 2, ["v1", "v4"])
    assert host.fetched() - fetched < SIZE and host.cached() == {"v1", "v2", "v3", "v4"}
    done = host.run("v3", fill=False)
    of_v5 = ("v5", False)  # its manifest, which check mode has read
    assert [(item["version"], item["bytes"] > SIZE) for item in done["removed"]] == [("v1", True), ("v4", True), of_v5]
    expected = [str(host.cache / kind / "shelf" / host.bucket / "tiny" / "v1") for kind in ("vfs", "vfsMeta")]
    assert done["removed"][0]["paths"] == expected and sorted(done["diff"]["after"]) == ["v2", "v3"]
    assert host.cached() == {"v2", "v3"} and all(place.is_dir() for place in beside)
    assert not host.run("v3", fill=False)["changed"]
    assert host.reads("v1"), "what was removed is read from the store again, as it is"
    assert host.run("v5")["removed"][0]["version"] == "v1", "room is made before more is read"
    assert host.cached() == {"v2", "v3", "v5"}


def test_budget_that_does_not_hold_old_and_new_is_refused_with_the_numbers(host: CachedMount) -> None:
    host.publish("v1", "v2")
    host.instance("main", g1="v1", current=1)
    needed = sum(path.stat().st_size for path in host.model.rglob("*") if path.is_file())
    host.mount_cached("--vfs-cache-max-size", f"{needed}B")
    for given in ({}, {"check_mode": True}):
        refused = host.run("v2", max_size=needed - 1, **given)
        assert f"serves and is to serve needs 5.7 MiB: v1 2.9 MiB ({needed // 2}) + v2 2.9 MiB" in refused["msg"]
        assert f"may take 5.7 MiB ({needed - 1} bytes)" in refused["msg"] and f"to {needed} at least" in refused["msg"]
    assert host.cached() == set()
    assert host.run("v1", max_size=needed - 1)["changed"]
    assert host.run("v2", max_size=str(needed))["changed"]
    assert host.cached() == {"v1", "v2"}


def test_file_system_that_is_full_is_named(host: CachedMount) -> None:
    host.publish("v1", "v2")
    host.mount_cached()
    host.run("v1")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", host.cache], check=True)
    try:
        unread, refused = str(host.fault("v2")), host.run("v2")["msg"]
    finally:
        subprocess.run(["umount", "--lazy", host.cache], check=True)
    assert "model.safetensors: cannot be read: Input/output error" in unread
    assert "room on its file system" in unread and "Publish" not in unread
    assert re.search(r"2\.\d MiB too little\. Make room on its file system\. Nothing was read", refused)
    assert host.run("v2")["changed"] and host.reads("v2")


def test_hashes_are_compared_in_the_read_that_fills_the_cache(host: CachedMount) -> None:
    host.publish("v1", "v2")
    (host.model / "v2" / "model.safetensors").write_bytes(bytes(SIZE))
    host.mount_cached()
    assert host.run("v1", check="hashes", bandwidth=1e9)["read"]["bytes"] == SIZE + 2
    assert host.fetched() < 2 * SIZE
    assert "model.safetensors: expected SHA-256" in host.run("v2", check="hashes")["msg"]


def test_mounts_without_a_cache_are_left_alone(host: CachedMount) -> None:
    host.publish("v1")
    bare = host.run("v1", check_mode=True, user="nosuchuser")
    assert bare["changed"] and "would be read into" in bare["skipped_reason"]
    assert "is not a mount point" in host.run("v1")["msg"]
    host.mount(*READ_ONLY)
    streamed = host.run("v1")
    assert (streamed["changed"], "without a cache" in streamed["skipped_reason"]) == (False, True)
    assert "without a cache" in host.run("v1", check="hashes")["skipped_reason"]
    host.unmount()
    host.mount_cached("--vfs-cache-mode", "off")
    assert "without a cache" in host.run("v1")["skipped_reason"]
    host.unmount()
    host.mount_cached("--cache-dir", str(host.home / "elsewhere"))
    refused = host.run("v1", fill=False)["msg"]
    assert f"has its cache at {host.home}/elsewhere/vfs/" in refused and f"below {host.cache}/vfs" in refused


def test_role_fills_caches_once_and_empties_them_of_what_nobody_uses(host: CachedMount) -> None:
    host.publish("v1", "v2")
    host.mount_cached("--buffer-size", "0")  # or looking at both ends of a file of this size reads all of it
    assert host.reads("v1"), "which no instance uses"
    given = {
        "weights_preset": "cache",
        "weights_check": "hashes",
        "weights_warm_bandwidth": 1e9,
        "weights_root": str(host.mountpoint.parent),
        "weights_user": USER,
        "modelshelf_store": {"endpoint": host.server.endpoint, "bucket": host.bucket},
        "modelshelf_models": [{"name": "Tiny", "version": "v2"}],
        "modelshelf_instances": [{"name": "main", "model": "Tiny", "port": 8000}],
        "__weights_cache": str(host.cache.parent),
        "__weights_runtime": str(host.home),
        "ansible_python_interpreter": sys.executable,
    }
    verify, prune = ({"import_role": {"name": "weights", "tasks_from": name}} for name in ("verify.yml", "prune.yml"))
    small = {**verify, "vars": {"weights_cache_max_size": "1M"}, "check_mode": True, "ignore_errors": True}
    steps = [small, verify, verify, prune]
    playbook = host.home / "play.yml"
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": steps}]))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", "-c", "local", "--diff"]
    done = subprocess.run(
        [*command, str(playbook), "-e", json.dumps(given)],
        cwd=REPOSITORY, env={**os.environ, "ANSIBLE_ROLES_PATH": str(REPOSITORY / "roles"), "ANSIBLE_NOCOLOR": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    tasks = [part for part in done.stdout.split("TASK [weights : ")[1:] if part.startswith(("Read the v", "Remove"))]
    states = [re.findall(r"^(ok|changed|failed): ", part, re.M) for part in tasks]
    assert states == [["failed"], ["changed"], ["ok"], ["ok"]], done.stdout
    assert "may take 1.0 MiB (1048576 bytes)" in done.stdout and re.search(r"^-    v1: \d+$", done.stdout, re.M)
    assert host.cached() == {"v2"}
