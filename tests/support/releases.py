# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for RustFS packed as the project publishes its releases: archive, deb, image."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from pathlib import Path

UNIT = """[Unit]
Description=RustFS Object Storage Server
[Service]
Type=notify
User=rustfs
EnvironmentFile=/etc/default/rustfs
ExecStart=/usr/bin/rustfs server
[Install]
WantedBy=multi-user.target
"""
CONTROL = """Package: rustfs
Version: {version}
Section: utils
Priority: optional
Architecture: amd64
Maintainer: Modelshelf tests <tests@example.net>
Description: the stand-in for RustFS
"""
POSTINST = """#!/bin/sh
set -e
getent passwd rustfs >/dev/null || useradd -r -s /bin/false -d /opt/rustfs rustfs
mkdir -p /opt/rustfs /data/rustfs /var/log/rustfs
chown rustfs:rustfs /opt/rustfs /data/rustfs /var/log/rustfs
systemctl daemon-reload
"""
PRERM = """#!/bin/sh
set -e
if systemctl is-active --quiet rustfs; then systemctl stop rustfs; fi
"""
# What a Python program needs of the host that the image is made on.
IMAGE = """set -eu
root=$(mktemp -d)
cd /
{{ echo usr/bin/python3 usr/bin/python3.11 usr/bin/env; find usr/lib/python3.11 -not -path '*/__pycache__*' -type f
  find usr/lib/x86_64-linux-gnu -maxdepth 1 -name '*.so*'; }} | tr ' ' '\n' | tar -c -T - | tar -x -C "$root"
ln -s usr/lib "$root/lib"; mkdir "$root/lib64" "$root/tmp" "$root/proc" "$root/dev" "$root/etc"
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
install -m 0755 {binary} "$root/usr/bin/rustfs"
echo 'rustfs:x:10001:10001::/:/bin/false' > "$root/etc/passwd"
tar -c -C "$root" . | podman import --quiet --change 'ENTRYPOINT ["/usr/bin/rustfs"]' --change USER=10001 - {name}
rm -rf "$root"
"""


def sha256(path: Path) -> str:
    """The checksum of a file as the role takes it."""
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def archive(binary: Path, version: str, folder: Path) -> list[Path]:
    """The release archive and its list of sums."""
    folder.mkdir(exist_ok=True)
    place = folder / f"rustfs-linux-x86_64-musl-v{version}.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as content:
        content.write(binary, "rustfs")
    sums = folder / "SHA256SUMS"
    sums.write_text(f"{sha256(place).removeprefix('sha256:')}  {place.name}\n")
    return [place, sums]


def deb(binary: Path, version: str, folder: Path) -> Path:
    """The package, with a unit and scripts like those of the project's own."""
    tree = folder / f"deb-{version}"
    contents = {
        "DEBIAN/control": CONTROL.format(version=version.replace("-", "~", 1)),
        "DEBIAN/conffiles": "/etc/default/rustfs\n",
        "DEBIAN/postinst": POSTINST,
        "DEBIAN/prerm": PRERM,
        "etc/default/rustfs": "# RustFS Environment Configuration\n",
        "lib/systemd/system/rustfs.service": UNIT,
    }
    for name, text in contents.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    for script in ("postinst", "prerm"):
        (tree / "DEBIAN" / script).chmod(0o755)
    (tree / "usr/bin").mkdir(parents=True, exist_ok=True)
    (tree / "usr/bin/rustfs").write_bytes(binary.read_bytes())
    (tree / "usr/bin/rustfs").chmod(0o755)
    place = folder / f"rustfs_{version.replace('-', '.', 1)}_amd64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, place], check=True, capture_output=True)
    return place


def image_script(binary: str, name: str) -> str:
    """The shell script that makes an image of `binary`, a path on the host that it runs on."""
    return IMAGE.format(binary=binary, name=name)
