# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that must not be touched: a clear failure in time, nothing formatted, nothing stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.fleet import Run, until
from tests.support.store import ACCESS, NAME, SECRET, UNIT, VOLUME, Shop, deployment, pid, put, said, sh

SECONDS = 60
"""For a run that is refused, on a busy machine."""


def refused(shop: Shop, *reasons: str, **changes: object) -> Run:
    """A run that fails in time with these reasons, before anything is touched."""
    start = time.monotonic()
    run = shop.run(**changes)
    assert time.monotonic() - start < SECONDS
    assert run.status != 0
    for reason in reasons:
        assert reason in said(run), run.output[-3000:]
    assert "Nothing was touched" in said(run)
    assert run.changed() == {}
    return run


def formatted() -> bool:
    return sh(f"test -e {VOLUME}/.rustfs.sys && echo yes || true") == "yes"


class TestHostWithoutStore:
    """Nothing runs here yet, and nothing may be left by a run that is refused."""

    @pytest.fixture(autouse=True)
    def bare(self, shop: Shop) -> Iterator[None]:
        sh(f"umount -q {VOLUME}; rm -rf {VOLUME}; true")
        yield
        assert not formatted()
        assert sh(f"systemctl show --property=LoadState --value {UNIT}") == "not-found"
        assert sh("ls -d /etc/modelshelf/rustfs /opt/modelshelf/rustfs 2>/dev/null || true") == ""
        sh(f"umount -q {VOLUME}; rm -rf {VOLUME}; true")

    def test_folder_of_another_user(self, shop: Shop) -> None:
        sh(f"mkdir -p {VOLUME}/photos && chown -R games: {VOLUME}")
        refused(
            shop,
            f"{VOLUME} belongs to games (5), expected rustfs",
            "holds 1 entries that are no store of RustFS (photos)",
        )
        assert sh(f"stat -c %U {VOLUME}") == "games"

    def test_empty_folder_where_a_disk_should_be_mounted(self, shop: Shop) -> None:
        sh(f"mkdir -p {VOLUME}")
        refused(shop, f"{VOLUME} should be a mount point, and nothing is mounted there", rustfs_mount_points=[VOLUME])
        assert sh(f"ls -A {VOLUME}") == ""

    def test_disk_that_is_nearly_full(self, shop: Shop) -> None:
        sh(f"mkdir -p {VOLUME} && mount -t tmpfs -o size=64m,mode=0755 none {VOLUME}")
        sh(f"fallocate -l 63M {VOLUME}/ballast && mkdir {VOLUME}/data")
        reasons = ("0.0 GiB of 0.1 GiB are free (1.6 %)", "expected at least 5 %")
        refused(shop, *reasons, rustfs_volumes=[f"{VOLUME}/data"], rustfs_minimum_free=5)

    def test_file_system_below_the_volume(self, shop: Shop) -> None:
        sh(f"mkdir -p {VOLUME}/other && mount -t tmpfs none {VOLUME}/other")
        try:
            refused(shop, f"has other file systems mounted below it, which the server refuses: {VOLUME}/other")
        finally:
            sh(f"umount {VOLUME}/other")

    def test_two_drives_on_one_disk(self, shop: Shop) -> None:
        refused(shop, "4 volumes lie on the disk", rustfs_volumes=[f"{VOLUME}/d{{1...4}}"])

    def test_drives_that_make_no_set(self, shop: Shop) -> None:
        refused(shop, "17 drives cannot be divided into erasure sets", rustfs_volumes=[f"{VOLUME}/d{{1...17}}"])

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"modelshelf_root_access_key": "rustfsadmin"}, "neither may be rustfsadmin"),
            ({"modelshelf_root_secret_key": "short"}, "at least 16 characters"),
            ({"rustfs_version": "latest"}, "expected the number of one release"),
            ({"rustfs_console_port": 9000}, "have the same port 9000"),
        ],
    )
    def test_description_that_cannot_work(self, shop: Shop, changes: dict[str, object], reason: str) -> None:
        refused(shop, reason, **changes)

    def test_port_of_a_forgotten_server(self, shop: Shop) -> None:
        put(shop.binary("1.0.0-rc.3"), "/run/forgotten")
        sh("mkdir -p /run/forgotten-data")
        sh(
            "systemd-run --quiet --unit=forgotten --collect --setenv=RUSTFS_VOLUMES=/run/forgotten-data"
            f" --setenv=RUSTFS_ACCESS_KEY={ACCESS} '--setenv=RUSTFS_SECRET_KEY={SECRET}'"
            " --setenv=RUSTFS_CONSOLE_ENABLE=false /run/forgotten server"
        )
        process = sh("systemctl show --property=MainPID --value forgotten.service")
        try:
            until(lambda: "LISTEN" in sh("ss -ltn sport = :9000"), 20, "the forgotten server listens")
            refused(
                shop,
                f"the port 9000 (the S3 API) is held by pid {process} of forgotten.service",
                "/run/forgotten server",
            )
            assert sh("systemctl show --property=MainPID --value forgotten.service") == process
        finally:
            sh("systemctl stop forgotten.service; rm -rf /run/forgotten /run/forgotten-data")


@pytest.fixture(scope="class")
def store(shop: Shop) -> None:
    run = shop.run()
    assert run.status == 0, run.output[-3000:]


@pytest.mark.usefixtures("store")
class TestHostWithStore:
    """A store that is in order is started first; what is then done to the host must not make another one of it."""

    @pytest.fixture(autouse=True)
    def same_store(self, shop: Shop) -> Iterator[None]:
        before = deployment()
        yield
        assert deployment() == before
        run = shop.run()
        assert run.status == 0, run.output[-3000:]

    def test_a9_folder_that_was_given_to_another_user(self, shop: Shop) -> None:
        process = pid()
        sh(f"chown games {VOLUME}")
        try:
            refused(shop, f"{VOLUME} belongs to games (5), expected rustfs")
            assert pid() == process
        finally:
            sh(f"chown rustfs {VOLUME}")

    def test_missing_folder_and_empty_folder_of_the_store(self, shop: Shop) -> None:
        store = deployment()
        sh(f"systemctl stop {UNIT} && mv {VOLUME} {VOLUME}.away")
        try:
            refused(shop, f"{VOLUME} does not exist, and this host has a store already ({store})")
            assert sh(f"test -e {VOLUME} && echo there || true") == ""
            sh(f"install -d -o rustfs -g rustfs {VOLUME}")
            refused(shop, f"{VOLUME} is empty, and this host has a store already ({store})")
            assert not formatted()
            # Without the play either: systemd itself does not start the server on what is not its store.
            sh(f"systemctl start {UNIT} || true")
            assert pid() == 0
            assert not formatted()
        finally:
            sh(f"rmdir {VOLUME}; mv {VOLUME}.away {VOLUME}")

    def test_volumes_that_were_renamed_by_mistake(self, shop: Shop) -> None:
        process = pid()
        refused(shop, f"{VOLUME}2 does not exist, and this host has a store already", rustfs_volumes=[f"{VOLUME}2"])
        assert pid() == process

    def test_second_server_beside_the_unit(self, shop: Shop) -> None:
        process = pid()
        # The kernel lets sockets of one user share a port.
        sh("rm -rf /run/second-data; install -d -o rustfs /run/second-data")
        sh(
            "systemd-run --quiet --unit=second --uid=rustfs --collect --setenv=RUSTFS_VOLUMES=/run/second-data"
            f" --setenv=RUSTFS_ACCESS_KEY={ACCESS} '--setenv=RUSTFS_SECRET_KEY={SECRET}'"
            " --setenv=RUSTFS_CONSOLE_ENABLE=false /opt/modelshelf/rustfs/current/rustfs server"
        )
        second = sh("systemctl show --property=MainPID --value second.service")
        try:
            until(lambda: sh("ss -ltn sport = :9000").count("LISTEN") == 2, 20, "two servers share the port")
            refused(shop, f"is held by pid {second} of second.service")
            run = shop.run("--tags=verify")
            assert run.status != 0
            assert f"listener: pid {second} of second.service" in said(run)
            assert pid() == process
        finally:
            sh("systemctl stop second.service; rm -rf /run/second-data")


def test_a9_start_that_fails_is_told_with_the_state_of_the_unit_and_its_log(shop: Shop) -> None:
    """The folder looks right to the role, and the server cannot use it: its metadata belong to somebody else."""
    sh(f"systemctl stop {UNIT} && chown -R games {VOLUME}/.rustfs.sys")
    try:
        start = time.monotonic()
        run = shop.run()
        assert time.monotonic() - start < SECONDS + 60
        assert run.status != 0
        assert "[FATAL]" in said(run)
        assert "was started again each time" in said(run) or "the unit did not run" in said(run)
        assert NAME in run.recap
    finally:
        sh(f"systemctl stop {UNIT}; chown -R rustfs {VOLUME}/.rustfs.sys")
