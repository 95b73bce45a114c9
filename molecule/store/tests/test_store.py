# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A store is made from nothing, stays as it is, and is restarted for what has changed alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.fleet import ADDRESSES, Run, until
from tests.support.snapshots import differences, snapshot
from tests.support.store import ACCESS, NAME, SECRET, UNIT, VOLUME, Shop, deployment, pid, said, sh

SETTINGS = "/etc/modelshelf/rustfs"


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


def test_a_store_that_was_lost_is_made_anew_when_told(shop: Shop) -> None:
    """The disk was replaced: nothing is formatted until the operator says that the old store is gone."""
    store = deployment()
    sh(f"systemctl stop {UNIT}; mv {VOLUME} {VOLUME}.lost; install -d -o rustfs -g rustfs -m 0750 {VOLUME}")
    run = shop.run()
    assert run.status != 0
    assert "If that store is lost for good, remove /var/lib/modelshelf/store.json" in said(run)
    assert sh(f"ls -A {VOLUME}") == ""
    sh("rm /var/lib/modelshelf/store.json")
    run = shop.run()
    assert run.status == 0, run.output[-3000:]
    assert deployment() not in ("", store)
    assert shop.run().changed() == {}
    # And back: the disk was only elsewhere.
    sh(f"systemctl stop {UNIT}; rm -r {VOLUME} /var/lib/modelshelf/store.json; mv {VOLUME}.lost {VOLUME}")
    assert shop.run().status == 0
    assert deployment() == store


def test_full_disk_fails_the_canary_and_not_the_readiness(shop: Shop) -> None:
    """What the server then says of itself is that it is ready."""
    sh(f"systemctl stop {UNIT}; mkdir /run/full && mount -t tmpfs -o size=16m,mode=0755 none /run/full")
    sh("install -d -o rustfs -g rustfs /run/full/data")
    full = {"rustfs_volumes": ["/run/full/data"], "rustfs_new_volumes": ["/run/full/data"], "rustfs_minimum_free": 0}
    sh("mv /var/lib/modelshelf/store.json /run/store.json")
    try:
        first = shop.run(**full)
        assert first.status == 0, first.output[-3000:]
        sh("dd if=/dev/zero of=/run/full/ballast bs=64k 2>/dev/null; true")
        run = shop.run("--tags=verify", **full)
        assert run.status != 0
        assert "the proof that it stores failed at the step '" in said(run)
        assert "Look for a full disk" in said(run)
        assert f"{UNIT} on {NAME}" in said(run)
    finally:
        sh(f"systemctl stop {UNIT}; umount -l /run/full; rmdir /run/full")
        sh("mv /run/store.json /var/lib/modelshelf/store.json")
        sh("rm -f /etc/systemd/system/modelshelf-rustfs.service.d/10-volumes.conf; systemctl daemon-reload")
    assert shop.run().status == 0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate authority, and two certificates of it for the test host: one and its renewal."""
    folder = tmp_path_factory.mktemp("tls")
    name = f"subjectAltName=IP:{ADDRESSES[NAME]}"

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "2",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")  # fmt: skip
    for number in ("1", "2"):
        openssl("req", *key, "-keyout", f"{number}.key", "-out", f"{number}.csr", "-subj", "/CN=store", "-addext", name)
        sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2", "-copy_extensions", "copy"]
        openssl("x509", "-req", "-in", f"{number}.csr", "-out", f"{number}.pem", *sign)
    return folder


def test_tls_and_a_renewed_certificate(shop: Shop, certificates: Path) -> None:
    endpoint = f"https://{ADDRESSES[NAME]}:9000"
    shop.variables["modelshelf_store"] = {
        "endpoint": endpoint, "bucket": "models", "ca_file": str(certificates / "ca.pem")
    }  # fmt: skip
    for number in ("1", "2"):
        shop.variables["rustfs_tls_certificate_file"] = str(certificates / f"{number}.pem")
        shop.variables["rustfs_tls_key_file"] = str(certificates / f"{number}.key")
        run = shop.run()
        assert run.status == 0, run.output[-3000:]
        served = sh("openssl s_client -connect 127.0.0.1:9000 </dev/null 2>/dev/null | openssl x509 -noout -serial")
        wanted = ["openssl", "x509", "-noout", "-serial", "-in", str(certificates / f"{number}.pem")]
        assert served == subprocess.check_output(wanted, text=True).strip()
    assert shop.run().changed() == {}
    client = shop.s3("https", str(certificates / "ca.pem"))
    assert client.get_object(Bucket="kept", Key="a")["Body"].read() == b"kept"
    assert ACCESS not in sh(f"ls -lR {SETTINGS}")
