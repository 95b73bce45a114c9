# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A store is made from nothing, stays as it is, and is restarted for what has changed alone."""

from __future__ import annotations

import pytest

from tests.support.fleet import Run, until
from tests.support.snapshots import differences, snapshot
from tests.support.store import NAME, SECRET, SETTINGS, UNIT, VOLUME, Shop, deployment, pid, said, sh


@pytest.fixture(scope="module")
def checked(shop: Shop) -> tuple[Run, set[str]]:
    """Check mode on the bare host, and what it changed there."""
    before = snapshot(NAME)
    run = shop.run("--check", "--diff")
    return run, differences(before, snapshot(NAME))


@pytest.fixture(scope="module", autouse=True)
def made(shop: Shop, checked: tuple[Run, set[str]]) -> Run:
    run = shop.run()
    assert run.status == 0, run.output[-3000:]
    return run


def test_check_mode_on_a_bare_host_changes_nothing(checked: tuple[Run, set[str]]) -> None:
    run, changes = checked
    assert run.status == 0, run.output[-3000:]
    assert changes == set()
    for place in (
        VOLUME,
        "/opt/modelshelf/rustfs/binary-",
        UNIT,
        f"{SETTINGS}/secret-key",
        "/var/lib/modelshelf/store.json",
    ):
        assert place in run.output, place


def test_first_run_makes_a_store_that_stores(shop: Shop, made: Run) -> None:
    client = shop.s3()
    client.create_bucket(Bucket="kept")
    client.put_object(Bucket="kept", Key="a", Body=b"kept")
    assert [item["Name"] for item in client.list_buckets()["Buckets"]] == ["kept"], "the canary's bucket is gone"


def test_second_run_changes_nothing(shop: Shop) -> None:
    before = pid()
    for arguments in ([], ["--check"], ["--tags=verify"]):
        run = shop.run(*arguments)
        assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert pid() == before


def test_only_the_server_listens_and_is_its_own_user(shop: Shop) -> None:
    assert f"pid={pid()}," in sh("ss -Hltnp sport = :9000")
    assert sh(f"ps -o user= -p {pid()}") == "rustfs"
    assert sh("ss -Hltn sport = :9001") == ""


def test_a31_root_keys_are_in_two_files_of_root_alone(shop: Shop) -> None:
    assert sh(f"stat -c '%a %U %G' {SETTINGS} {SETTINGS}/secret-key").splitlines() == [
        "750 root rustfs",
        "440 root rustfs",
    ]
    assert sh(f"cat {SETTINGS}/secret-key") == SECRET
    for place in (f"/proc/{pid()}/cmdline", f"/proc/{pid()}/environ"):
        assert SECRET not in sh(f"tr '\\0' ' ' < {place}"), place
    assert SECRET not in sh(f"systemctl show {UNIT}; systemctl cat {UNIT}; journalctl --unit {UNIT}")
    # Nobody else of the host may read it.
    assert sh(f"runuser -u nobody -- cat {SETTINGS}/secret-key 2>&1 || true").endswith("Permission denied")


def test_exposure_as_systemd_sees_it(shop: Shop) -> None:
    figure = sh(f"systemd-analyze security --no-pager {UNIT} | tail -1")
    assert float(figure.split(":")[1].split()[0]) < 2.0, figure


def test_killed_server_comes_back_with_its_objects(shop: Shop) -> None:
    before = pid()
    sh(f"kill -9 {before}")
    until(lambda: pid() not in (0, before), 30, "systemd starts the server again")
    run = shop.run("--tags=verify")
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert shop.s3().get_object(Bucket="kept", Key="a")["Body"].read() == b"kept"


def test_a_setting_that_changes_restarts_the_server_once(shop: Shop) -> None:
    before, store = pid(), deployment()
    shop.variables["rustfs_environment"] = {"RUSTFS_OBS_LOGGER_LEVEL": "info"}
    run = shop.run()
    assert run.status == 0, run.output[-3000:]
    assert pid() not in (0, before)
    assert deployment() == store
    assert shop.run().changed() == {}


def test_a_restart_that_was_interrupted_is_caught_up_with(shop: Shop) -> None:
    before = pid()
    sh(f"touch {SETTINGS}/rustfs.env")
    run = shop.run()
    assert (run.status, list(run.changed())) == (0, [NAME]), run.output[-3000:]
    assert pid() not in (0, before)


def test_new_root_keys_are_put_in_service_and_everything_is_still_there(shop: Shop) -> None:
    secret = SECRET + "-renewed"
    shop.variables["modelshelf_root_secret_key"] = secret
    run = shop.run()
    assert run.status == 0, run.output[-3000:]
    assert shop.s3(secret=secret).get_object(Bucket="kept", Key="a")["Body"].read() == b"kept"
    with pytest.raises(Exception, match="SignatureDoesNotMatch"):
        shop.s3().list_buckets()
    del shop.variables["modelshelf_root_secret_key"]
    assert shop.run().status == 0


def test_a_store_that_is_another_one_fails_the_play(shop: Shop) -> None:
    """As a disk that was swapped would look: the volume has a store, and it is not the one of this host."""
    store = deployment()
    sh(f"sed -i s/{store}/00000000-0000-0000-0000-000000000000/ /var/lib/modelshelf/store.json")
    try:
        run = shop.run()
        assert run.status != 0
        assert f"is the store {store}, and {NAME} had the store 00000000-" in said(run)
    finally:
        sh(f"sed -i s/00000000-0000-0000-0000-000000000000/{store}/ /var/lib/modelshelf/store.json")
    assert shop.run().changed() == {}
