# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions on their way to the hosts, under load: nothing is stopped, whether they can be brought there or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.fleet import Run, host
from tests.support.load import Load
from tests.support.serving import MODEL, pids
from tests.support.shelf import pair, s3
from tests.support.swap import HOSTS, now, serve, served

CACHE = f"/var/cache/modelshelf/rclone/{MODEL}"
PRESENT = f"{CACHE}/vfs/shelf-{MODEL}/models/{MODEL}"
RATE = 200_000
"""Bytes per second, with which the 1.7 MB of a version take long enough for something to happen meanwhile."""


@pytest.fixture
def version() -> str:
    """A version on the shelf that no host has read before."""
    name = f"v{now():.0f}"
    run = serve(name, "--tags=publish")
    assert run.status == 0, run.output[-3000:]
    return name


@pytest.fixture
def damaged(version: str) -> Iterator[str]:
    """One with a bit of its weights another."""
    key, client = f"{MODEL}/{version}/model.safetensors", s3(*pair("root"))
    content = client.get_object(Bucket="models", Key=key)["Body"].read()
    client.put_object(Bucket="models", Key=key, Body=content[:-1] + bytes([content[-1] ^ 1]))
    yield version
    client.put_object(Bucket="models", Key=key, Body=content)


@contextmanager
def disk(name: str, size: str) -> Iterator[None]:
    """The cache of a host is on a file system of that size inside the block."""
    host(name).check_output(f"mount -t tmpfs -o size={size} tmpfs {CACHE}")
    try:
        yield
    finally:
        host(name).check_output(f"umount --lazy {CACHE}")


def assert_nothing_was_stopped(run: Run, before: dict[str, tuple[int, int]], load: Load) -> None:
    assert run.status != 0
    assert "Serve, wave after wave" not in run.output
    assert pids(*HOSTS) == before
    assert served() == dict.fromkeys(HOSTS, "v1")
    assert load.failures == []


def test_version_that_is_staged_alone(load: Load, version: str) -> None:
    """It is in every cache then, and a second run has nothing to do."""
    before, bytes_of_weights = pids(*HOSTS), f"stat -c %s {PRESENT}/{version}/model.safetensors"
    assert host("gpu1").run(bytes_of_weights).rc != 0
    run = serve(version, "--tags=stage")
    assert run.status == 0, run.output[-3000:]
    assert pids(*HOSTS) == before
    assert {int(host(name).check_output(bytes_of_weights)) > 1_000_000 for name in HOSTS} == {True}
    again = serve(version, "--tags=stage")
    assert (again.status, again.changed()) == (0, {}), again.output[-3000:]
    assert load.failures == []


def said(run: Run) -> str:
    return " ".join(run.output.split())


def test_damaged_shard(load: Load, damaged: str) -> None:
    before = pids(*HOSTS)
    run = serve(damaged, "--tags=swap", weights_check="hashes")
    assert "model.safetensors: expected SHA-256" in said(run)
    assert_nothing_was_stopped(run, before, load)


def test_disk_without_room(load: Load, version: str) -> None:
    before = pids(*HOSTS)
    with disk("gpu3", "1m"):
        run = serve(version, "--tags=swap")
    assert "room on its file system" in said(run)
    assert_nothing_was_stopped(run, before, load)


def test_disk_that_fills_up_meanwhile(load: Load, version: str) -> None:
    before = pids(*HOSTS)
    with disk("gpu3", "8m"):
        fill = f"until test -s {PRESENT}/{version}/model.safetensors; do sleep 0.1; done; cat /dev/zero > {CACHE}/other"
        host("gpu3").check_output("systemd-run --quiet --collect --unit=fills sh -c %s", fill)
        run = serve(version, "--tags=swap", weights_warm_bandwidth=RATE)
        host("gpu3").run("systemctl stop fills")
        assert int(host("gpu3").check_output(f"stat -c %s {CACHE}/other")) > 1_000_000
    assert_nothing_was_stopped(run, before, load)
    assert "room on its file system" in said(run) or f"did not keep all of {version}" in said(run)
    run = serve(version, "--tags=swap")
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, version)
    assert load.failures == []
