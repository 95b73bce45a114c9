# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases are installed beside each other; one that does not come up is taken back, and the play fails then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet import Run, until
from tests.support.releases import archive, deb, sha256
from tests.support.store import BROKEN, GOOD, NAME, NEWER, Shop, deployment, pid, put, release, said, sh

PORT = 8099
SERVED = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="module", autouse=True)
def published(shop: Shop) -> Iterator[None]:
    """Archives and debs of all releases, with their sums, behind a web server on the test host."""
    sh("rm -rf /run/published && mkdir /run/published")
    for version in (GOOD, NEWER, BROKEN):
        sh(f"mkdir /run/published/{version}")
        packed = archive(shop.binary(version), version, shop.folder / version)
        for path in [*packed, deb(shop.binary(version), version, shop.folder / version)]:
            put(path, f"/run/published/{version}/{path.name}")
    sh(
        "systemd-run --quiet --unit=published --collect"
        f" python3 -m http.server {PORT} --bind 127.0.0.1 --directory /run/published"
    )
    until(lambda: "LISTEN" in sh(f"ss -ltn sport = :{PORT}"), 20, "the releases are served")
    yield
    sh("systemctl stop published.service; rm -rf /run/published")


def from_archive(version: str) -> dict[str, Any]:
    return {
        "rustfs_source": "archive",
        "rustfs_version": version,
        "rustfs_archive_url": f"{SERVED}/{version}/rustfs-linux-ARCH-musl-v{version}.zip",
        "rustfs_checksum": f"sha256:{SERVED}/{version}/SHA256SUMS",
    }


def from_package(shop: Shop, version: str) -> dict[str, Any]:
    place = shop.folder / version / f"rustfs_{version.replace('-', '.', 1)}_amd64.deb"
    return {
        "rustfs_source": "package",
        "rustfs_version": version,
        "rustfs_package_url": f"{SERVED}/{version}/{place.name.replace('amd64', 'ARCH')}",
        "rustfs_checksum": sha256(place),
    }


def version() -> str:
    """What the running server's file says of itself."""
    return sh("/opt/modelshelf/rustfs/current/rustfs --version").split()[1]


def works(shop: Shop, run: Run) -> None:
    assert run.status == 0, run.output[-3000:]
    client = shop.s3()
    client.create_bucket(Bucket="kept")
    client.put_object(Bucket="kept", Key="a", Body=b"kept")
    assert client.get_object(Bucket="kept", Key="a")["Body"].read() == b"kept"


def taken_back(shop: Shop, before: str, **changes: Any) -> Run:
    """A run that fails, with the release before in use again and its objects there."""
    store = deployment()
    run = shop.run(**changes)
    assert run.status != 0
    for part in (f"{NAME} did not come up with", "is in use again and has passed the gate", "503"):
        assert part in said(run), run.output[-4000:]
    assert (release(), deployment()) == (before, store)
    assert pid() != 0
    assert shop.s3().get_object(Bucket="kept", Key="a")["Body"].read() == b"kept"
    return run


def test_archive_with_the_sums_of_its_release(shop: Shop) -> None:
    works(shop, shop.run(**from_archive(GOOD)))
    assert (release(), version()) == (GOOD, GOOD)
    assert shop.run(**from_archive(GOOD)).changed() == {}


def test_archive_with_another_sum_is_refused(shop: Shop) -> None:
    before = pid()
    given = {**from_archive(NEWER), "rustfs_checksum": "sha256:" + "0" * 64}
    run = shop.run(**given)
    assert run.status != 0
    assert "did not match" in said(run)
    assert (pid(), release()) == (before, GOOD)


def test_same_release_from_something_else_is_refused(shop: Shop) -> None:
    given = {
        **from_archive(GOOD),
        "rustfs_checksum": sha256(shop.folder / GOOD / f"rustfs-linux-x86_64-musl-v{GOOD}.zip"),
    }
    run = shop.run(**given)
    assert run.status != 0
    assert "was installed from" in said(run)


def test_archive_of_another_version_is_refused(shop: Shop) -> None:
    before = pid()
    given = {**from_archive(GOOD), "rustfs_version": "1.0.0-rc.9"}
    run = shop.run(**given)
    assert run.status != 0
    assert f"should be RustFS 1.0.0-rc.9 for this host, and says: rustfs {GOOD}" in said(run)
    assert (pid(), release()) == (before, GOOD)


def test_upgrade_to_a_release_that_is_never_ready_is_taken_back(shop: Shop) -> None:
    taken_back(shop, GOOD, **from_archive(BROKEN))
    # The next run tries no other thing by itself: the inventory still names the broken release.
    assert shop.run("--tags=verify", **from_archive(BROKEN)).status == 0
    assert version() == GOOD


def test_upgrade_to_a_release_that_works(shop: Shop) -> None:
    before = pid()
    works(shop, shop.run(**from_archive(NEWER)))
    assert (release(), version()) == (NEWER, NEWER)
    assert pid() not in (0, before)


def test_way_back_by_the_inventory_downloads_nothing(shop: Shop) -> None:
    sh("systemctl stop published.service")
    try:
        works(shop, shop.run(**from_archive(GOOD)))
        assert release() == GOOD
    finally:
        sh(
            "systemd-run --quiet --unit=published --collect"
            f" python3 -m http.server {PORT} --bind 127.0.0.1 --directory /run/published"
        )
        until(lambda: "LISTEN" in sh(f"ss -ltn sport = :{PORT}"), 20, "the releases are served")


def test_deb_is_installed_and_its_own_unit_kept_from_running(shop: Shop) -> None:
    works(shop, shop.run(**from_package(shop, GOOD)))
    assert release() == f"{GOOD}-package"
    assert sh("dpkg-query -W -f '${Version}' rustfs") == GOOD.replace("-", "~", 1)
    assert sh("readlink -f /opt/modelshelf/rustfs/current/rustfs") == "/usr/bin/rustfs"
    assert sh("systemctl show --property=LoadState --value rustfs.service") == "masked"
    assert shop.run(**from_package(shop, GOOD)).changed() == {}


def test_deb_that_is_never_ready_is_taken_back(shop: Shop) -> None:
    taken_back(shop, f"{GOOD}-package", **from_package(shop, BROKEN))
    assert sh("dpkg-query -W -f '${Version}' rustfs") == GOOD.replace("-", "~", 1)


def test_binary_from_the_controller_that_is_never_ready_is_taken_back(shop: Shop, tmp_path: Path) -> None:
    works(shop, shop.run())
    good = release()
    assert good.startswith("binary-")
    taken_back(shop, good, rustfs_binary_file=str(shop.binary(BROKEN)))
    works(shop, shop.run())
