# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A store whose disk is replaced, whose disk is full, and whose certificate is renewed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.fleet import ADDRESSES
from tests.support.store import ACCESS, NAME, SETTINGS, UNIT, VOLUME, Shop, deployment, said, sh


@pytest.fixture(scope="module", autouse=True)
def made(shop: Shop) -> None:
    run = shop.run()
    assert run.status == 0, run.output[-3000:]
    client = shop.s3()
    client.create_bucket(Bucket="kept")
    client.put_object(Bucket="kept", Key="a", Body=b"kept")


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
        assert "the proof that the store stores failed at the step '" in said(run)
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
