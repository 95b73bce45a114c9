# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _weights, _weights_verify
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import SystemdError
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import Identity, Mount, WeightsFault
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_verify import Verified, Wanted, verify
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import publish


@pytest.fixture(autouse=True)
def mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take directories for read-only mounts of the user that runs the tests; tests/contract has real ones."""
    mount = Mount("fuse.rclone", "shelf:models/tiny/")
    monkeypatch.setattr(_weights, "mount_at", lambda directory: mount)
    monkeypatch.setattr(_weights_verify, "mount_at", lambda directory: mount)
    monkeypatch.setattr(_weights_verify, "identity_of", lambda user: Identity(os.geteuid(), os.getegid()))
    monkeypatch.setattr(_weights_verify, "check_refused_write", lambda *arguments: None)


class Reload:
    """Publishes what an old listing did not show."""

    def __init__(self, *versions: Path) -> None:
        self.versions, self.units = versions, list[str]()

    def __call__(self, unit: str) -> None:
        self.units.append(unit)
        for version in self.versions:
            publish(version)


def attempt(mountpoint: Path, version: str, reload: Reload, **changes: Any) -> Verified:
    wanted = Wanted(str(mountpoint / version), str(mountpoint), "me", **{"timeout": 0.6, **changes})
    return verify(wanted, reload, sleep=lambda seconds: None)


def test_verified(tmp_path: Path) -> None:
    digest, reload = publish(tmp_path / "v1"), Reload()
    publish(tmp_path / "v2")
    (tmp_path / "v3").mkdir()
    found = attempt(tmp_path, "v1", reload, unit="mount.service")
    assert (found.manifest.digest, found.versions, reload.units) == (digest, ("v1", "v2"), [])


def test_a18_the_listing_cache_is_dropped_once(tmp_path: Path) -> None:
    reload = Reload(tmp_path / "v2")
    assert attempt(tmp_path, "v2", reload, unit="mount.service").versions == ("v2",)
    assert reload.units == ["mount.service"]


def test_a18_listing_is_made_anew_first_where_rclone_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[str, float]]()

    def refresh(rc: str, timeout: float) -> None:
        asked.append((rc, timeout))
        publish(tmp_path / "v2")

    monkeypatch.setattr(_weights_verify, "refresh", refresh)
    reload, rc = Reload(), tmp_path / "rc.sock"
    rc.touch()
    assert attempt(tmp_path, "v2", reload, rc=str(rc), unit="mount.service").versions == ("v2",)
    with pytest.raises(WeightsFault, match=r"Versions there: v2\. .* it was made anew just now"):
        attempt(tmp_path, "v9", reload, rc=str(rc), unit="mount.service", timeout=60)
    assert (asked, reload.units) == ([(str(rc), 0.6), (str(rc), 60)], [])


def test_listing_that_cannot_be_made_anew_is_no_answer(tmp_path: Path) -> None:
    publish(tmp_path / "v1")
    (tmp_path / "rc.sock").touch()
    with pytest.raises(WeightsFault, match=r"rclone does not answer at .* The mount was left as it is") as caught:
        attempt(tmp_path, "v1", Reload(), rc=str(tmp_path / "rc.sock"))
    assert caught.value.kind == _weights.SILENT


@pytest.mark.parametrize(("unit", "says"), [("mount.service", "dropped by a reload of mount.service"), ("", "newer")])
def test_a3_an_absent_version_is_explained(tmp_path: Path, unit: str, says: str) -> None:
    publish(tmp_path / "v1")
    with pytest.raises(WeightsFault) as caught:
        attempt(tmp_path, "v9", Reload(), unit=unit, cache_seconds=300)
    assert caught.value.kind == _weights.ABSENT
    for part in ("version v9 of ", "shelf:models/tiny/v9/", "Versions there: v1.", "listing cache (300 s)", says):
        assert part in str(caught.value)


def test_a_mount_that_cannot_be_reloaded_does_not_hide_what_is_missing(tmp_path: Path) -> None:
    def refuse(unit: str) -> None:
        raise SystemdError(f"systemctl reload -- {unit} failed with 1: Unit not loaded.")

    wanted = Wanted(str(tmp_path / "v9"), str(tmp_path), "me", timeout=0.6, unit="mount.service")
    with pytest.raises(WeightsFault, match="Versions there: none") as caught:
        verify(wanted, refuse, sleep=lambda seconds: None)
    assert "it could not be dropped: systemctl reload -- mount.service failed with 1" in str(caught.value)


def test_the_manifest_of_another_version_is_refused(tmp_path: Path) -> None:
    publish(tmp_path / "v1")
    (tmp_path / "v1").rename(tmp_path / "v2")
    with pytest.raises(WeightsFault, match="is that of version v1"):
        attempt(tmp_path, "v2", Reload())


def test_a14_another_file_system_is_refused(tmp_path: Path) -> None:
    publish(tmp_path / "v1")
    with pytest.raises(WeightsFault, match=r"expected a nfs4 mount, found fuse\.rclone of shelf:models/tiny/"):
        attempt(tmp_path, "v1", Reload(), fstype="nfs4")


@pytest.mark.parametrize(
    ("path", "timeout", "problem"),
    [
        ("/srv/w/tiny/v1", 60, ""),
        ("/srv/w/tiny/v1/", 60, ""),
        ("/srv/w/other/v1", 60, "path /srv/w/other/v1 is not directly below mountpoint /srv/w/tiny"),
        ("/srv/w/tiny", 60, "path /srv/w/tiny is not directly below mountpoint /srv/w/tiny"),
        ("/srv/w/tiny/v1", 0, "timeout: expected more than 0 seconds, found 0"),
    ],
)
def test_problems_of_what_is_wanted(path: str, timeout: float, problem: str) -> None:
    assert Wanted(path, "/srv/w/tiny", "me", timeout=timeout).problem() == problem
