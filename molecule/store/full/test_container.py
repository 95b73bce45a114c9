# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The server in a container: an image by its digest, from a registry or from an archive file, by podman or docker."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.settings import SSH_KEY
from tests.support.fleet import ADDRESSES, SSH_OPTIONS, until
from tests.support.releases import image_script, sha256
from tests.support.store import BROKEN, GOOD, NAME, UNIT, VOLUME, Shop, deployment, pid, put, release, said, sh

REGISTRY = "localhost:5000"
IMAGE = f"{REGISTRY}/rustfs"
# Engines within a container of the lab: its cgroups and limits are not a machine's.
CONTAINERS_CONF = """[containers]
pids_limit = 0
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
"""
REGISTRIES_CONF = f"""[[registry]]
location = "{REGISTRY}"
insecure = true
"""


@pytest.fixture(scope="module", autouse=True)
def engines(shop: Shop) -> Iterator[None]:
    """podman and docker, with stores in memory, and a registry on the test host."""
    sh("mkdir -p /etc/containers /var/lib/containers /var/lib/docker")
    for place in ("/var/lib/containers", "/var/lib/docker"):
        sh(f"mountpoint -q {place} || mount -t tmpfs -o size=3g none {place}")
    sh(f"cat > /etc/containers/containers.conf <<'END'\n{CONTAINERS_CONF}END\n")
    sh(
        "apt-get -q update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends"
        " podman runc docker.io docker-registry iptables >/dev/null"
    )
    # After the packages: one of them brings this file, and would ask which to keep.
    sh(f"cat > /etc/containers/registries.conf <<'END'\n{REGISTRIES_CONF}END\n")
    sh("sed -i '/^auth:/,/path:/d' /etc/docker/registry/config.yml")  # a registry for everybody on this host
    sh("systemctl enable --quiet --now docker.socket && systemctl enable --quiet docker-registry.service")
    sh("systemctl restart docker-registry.service")
    until(lambda: "LISTEN" in sh("ss -ltn sport = :5000"), 30, "the registry listens")
    yield
    sh(f"systemctl disable --now {UNIT} docker.socket docker.service docker-registry.service 2>/dev/null; true")
    sh("umount -l /var/lib/containers /var/lib/docker")
    sh("rm -f /etc/containers/containers.conf /etc/containers/registries.conf")


@pytest.fixture(scope="module")
def digests(shop: Shop) -> dict[str, str]:
    """Release -> the digest of its image in the registry."""
    found = {}
    for version in (GOOD, BROKEN):
        put(shop.binary(version), "/run/rustfs-binary")
        name = f"{IMAGE}:{version}"
        sh(f"sh <<'END'\n{image_script('/run/rustfs-binary', name)}\nEND\n")
        sh(f"podman push --quiet --digestfile /run/digest {name} && podman rmi --force {name}")
        found[version] = sh("cat /run/digest")
    return found


@pytest.fixture(scope="module")
def image_archive(shop: Shop, digests: dict[str, str]) -> Path:
    """The good image as an archive file on the controller."""
    sh(f"podman pull --quiet {IMAGE}@{digests[GOOD]} && podman tag {IMAGE}@{digests[GOOD]} localhost/rustfs:archive")
    sh("podman save --quiet --format docker-archive --output /run/image.tar localhost/rustfs:archive")
    sh("podman rmi --force localhost/rustfs:archive")
    place = f"root@{ADDRESSES[NAME]}:/run/image.tar"
    subprocess.run(["scp", "-q", "-i", SSH_KEY, *SSH_OPTIONS.split(), place, shop.folder / "image.tar"], check=True)
    sh("rm /run/image.tar")
    return shop.folder / "image.tar"


def container(**more: Any) -> dict[str, Any]:
    return {"rustfs_source": "container", "rustfs_version": GOOD, "rustfs_image": IMAGE, **more}


def works(shop: Shop, given: dict[str, Any]) -> None:
    run = shop.run(**given)
    assert run.status == 0, run.output[-4000:]
    client = shop.s3()
    client.create_bucket(Bucket="kept")
    client.put_object(Bucket="kept", Key="a", Body=b"kept")
    assert sh(f"stat -c %u {VOLUME} {VOLUME}/.rustfs.sys/format.json").split() == ["10001", "10001"]
    listening = sh("ss -Hltnp sport = :9000")
    server = listening.split("pid=")[1].split(",")[0]
    assert sh(f"ps -o uid= -p {server}").strip() == "10001"
    assert shop.run(**given).changed() == {}


def test_image_from_a_registry_by_its_digest(shop: Shop, digests: dict[str, str]) -> None:
    works(shop, container(rustfs_image_digest=digests[GOOD]))
    assert release() == f"podman-{digests[GOOD].removeprefix('sha256:')[:12]}"


def test_image_that_is_never_ready_is_taken_back(shop: Shop, digests: dict[str, str]) -> None:
    before, store = release(), deployment()
    run = shop.run(**container(rustfs_image_digest=digests[BROKEN], rustfs_version=BROKEN))
    assert run.status != 0
    assert "is in use again and has passed the gate" in said(run)
    assert (release(), deployment()) == (before, store)
    assert shop.s3().get_object(Bucket="kept", Key="a")["Body"].read() == b"kept"


def test_second_server_beside_the_container_is_seen(shop: Shop, digests: dict[str, str]) -> None:
    put(shop.binary(GOOD), "/run/second")
    sh(
        "install -d -o 10001 /run/second-data; systemd-run --quiet --unit=second --collect"
        " --setenv=RUSTFS_VOLUMES=/run/second-data"
        " --setenv=RUSTFS_ACCESS_KEY=somebody --setenv=RUSTFS_SECRET_KEY=somebody-else"
        " --setenv=RUSTFS_CONSOLE_ENABLE=false setpriv --reuid=10001 --clear-groups /run/second server"
    )
    second = sh("systemctl show --property=MainPID --value second.service")
    assert second != "0"
    until(lambda: f"pid={second}," in sh("ss -Hltnp sport = :9000"), 20, "the second server listens")
    try:
        run = shop.run(**container(rustfs_image_digest=digests[GOOD]))
        assert run.status != 0
        assert f"is held by pid {second} of second.service" in said(run)
        assert pid() != 0
    finally:
        sh("systemctl stop second.service; rm -rf /run/second /run/second-data")


def test_image_from_an_archive_file(shop: Shop, image_archive: Path) -> None:
    given = container(rustfs_image_archive=str(image_archive), rustfs_checksum=sha256(image_archive))
    works(shop, given)
    assert release() == f"podman-{sha256(image_archive).removeprefix('sha256:')[:12]}"


def test_docker_runs_the_same_store(shop: Shop, digests: dict[str, str]) -> None:
    store = deployment()
    works(shop, container(rustfs_image_digest=digests[GOOD], rustfs_container_engine="docker"))
    assert deployment() == store
    assert "docker" in sh(f"systemctl show --property=ExecStart {UNIT}")
