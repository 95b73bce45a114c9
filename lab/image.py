# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host image: a Debian with systemd and ssh, made by one mmdebstrap call from the machine's own apt sources."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from lab.machine import debian_sources
from lab.run import locked, run, say
from lab.settings import CACHE, HOST_SUITE, fingerprint

IMAGE = "localhost/modelshelf-host:lab"
CA_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
# What a GPU host's installation would carry too; everything else is for the roles to install.
PACKAGES = (
    "systemd systemd-sysv dbus libpam-systemd python3 python3-apt python3-venv openssh-server sudo fuse3 "
    "iproute2 procps ca-certificates curl util-linux apt"
).split()
# A container's / is a private mount; a real host's is shared, and units rely on that.
SHARED_ROOT = """[Unit]
Description=Make the root mount shared, as it is on a host
DefaultDependencies=no
Before=local-fs-pre.target
[Service]
Type=oneshot
ExecStart=/bin/mount --make-rshared /
[Install]
WantedBy=local-fs-pre.target
"""
SSH_KEYS = """[Service]
ExecStartPre=
ExecStartPre=/usr/bin/ssh-keygen -A
ExecStartPre=/usr/sbin/sshd -t
"""
CUSTOMIZE = """set -eu
r="$1"
install -D -m 0644 "$LAB_FILES/shared-root.service" "$r/etc/systemd/system/shared-root.service"
install -D -m 0644 "$LAB_FILES/ssh-keys.conf" "$r/etc/systemd/system/ssh.service.d/keys.conf"
install -D -m 0644 "$LAB_FILES/apt.conf" "$r/etc/apt/apt.conf.d/99lab"
cp "$LAB_FILES/ca.crt" "$r/etc/ssl/certs/ca-certificates.crt"
rm -f "$r"/etc/ssh/ssh_host_* "$r"/var/cache/apt/archives/*.deb
if [ -s "$LAB_FILES/sources" ]; then
  rm -f "$r"/etc/apt/sources.list "$r"/etc/apt/sources.list.d/*
  cp "$LAB_FILES/sources" "$r/etc/apt/sources.list.d/debian.sources"
fi
mkdir -p "$r/root/.ssh" "$r/opt/lab/wheels" "$r/opt/lab/engine" && chmod 0700 "$r/root/.ssh"
chroot "$r" systemctl -q enable shared-root.service ssh.service
chroot "$r" systemctl -q mask systemd-udevd.service systemd-udevd-kernel.socket systemd-udevd-control.socket
"""
APT_CONF = 'Acquire::Check-Valid-Until "false";\nAcquire::Check-Date "false";\n'


def image_store() -> Path:
    """A podman image store with the host image, shared read-only by every lab. Made when missing or changed."""
    sources = debian_sources(HOST_SUITE)
    key = fingerprint(Path(__file__), sources, CA_BUNDLE)
    store = CACHE / "image" / key
    with locked(CACHE / "image.lock"):
        if not (store / "complete").exists():
            say(f"      making the host image ({HOST_SUITE}) in {store}")
            shutil.rmtree(store, ignore_errors=True)
            store.mkdir(parents=True)
            _build(sources, store)
            (store / "complete").touch()
    return store / "storage"


def _build(sources: str, store: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="modelshelf-image-") as scratch:
        files = Path(scratch)
        (files / "shared-root.service").write_text(SHARED_ROOT)
        (files / "ssh-keys.conf").write_text(SSH_KEYS)
        (files / "apt.conf").write_text(APT_CONF)
        (files / "sources").write_text(sources)
        (files / "customize.sh").write_text(CUSTOMIZE)
        shutil.copyfile(CA_BUNDLE, files / "ca.crt")
        tarball = store / "root.tar"
        argv = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}"]
        argv += ['--aptopt=Acquire::Check-Valid-Until "false"', '--aptopt=Acquire::Check-Date "false"']
        argv += ["--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*"]
        argv += ["--skip=cleanup/apt", f'--customize-hook=sh {files}/customize.sh "$1"']
        argv += [HOST_SUITE, str(tarball), *([str(files / "sources")] if sources else [])]
        run(argv, log=CACHE / "logs" / "image.log", env={**os.environ, "LAB_FILES": str(files)})
        podman = ["podman", "--root", store / "storage", "--runroot", files / "run", "--storage-driver", "overlay"]
        change = ['--change=CMD ["/sbin/init"]', "--change=STOPSIGNAL SIGRTMIN+3", "--change=ENV container=podman"]
        run([*podman, "import", *change, tarball, IMAGE], log=CACHE / "logs" / "image-import.log")
        tarball.unlink()
