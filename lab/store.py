# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's store: a real RustFS where a binary is given or can be downloaded, else the stand-in of the tests."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from lab.run import LabError, locked, say
from lab.settings import CACHE, RUSTFS_VERSION
from tests.standin.pack import pack

RELEASES = "https://github.com/rustfs/rustfs/releases/download"
PLACE = CACHE / "store" / "rustfs"
"""What inventories/lab installs; made anew by every run."""


def store_binary() -> Path:
    """The binary that the store's host gets, at PLACE. RUSTFS_BIN names one; says which it is."""
    given = os.environ.get("RUSTFS_BIN")
    with locked(CACHE / "store.lock"):
        PLACE.parent.mkdir(parents=True, exist_ok=True)
        if given:
            if not Path(given).is_file():
                raise LabError(f"RUSTFS_BIN is {given}, which is no file: name a RustFS binary")
            say(f"      RustFS, from RUSTFS_BIN ({given})")
            _put(Path(given))
        elif release := _release():
            say(f"      RustFS {RUSTFS_VERSION}, from its release")
            _put(release)
        else:
            say(f"      the stand-in for RustFS of the tests: no release of RustFS can be downloaded ({RELEASES})")
            _put(pack(PLACE.with_name("standin")))
    return PLACE


def _put(source: Path) -> None:
    """PLACE becomes `source`, in one step, unless it has that content."""
    if PLACE.exists() and PLACE.read_bytes() == source.read_bytes():
        return
    copy = PLACE.with_name("rustfs.new")
    shutil.copyfile(source, copy)
    copy.chmod(0o755)
    copy.replace(PLACE)


def _release() -> Path | None:
    """The binary of the pinned release, from the cache or downloaded and checked; None where it cannot be had."""
    binary = PLACE.with_name(f"rustfs-{RUSTFS_VERSION}")
    if binary.exists():
        return binary
    name = f"rustfs-linux-{platform.machine()}-musl-v{RUSTFS_VERSION}.zip"
    archive = PLACE.with_name(name)
    try:
        sums = _fetch(f"{RELEASES}/{RUSTFS_VERSION}/SHA256SUMS").decode()
        archive.write_bytes(_fetch(f"{RELEASES}/{RUSTFS_VERSION}/{name}"))
    except OSError:
        return None
    wanted = re.search(rf"^([0-9a-f]{{64}})\s+\*?{re.escape(name)}$", sums, re.M)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if not wanted or wanted[1] != found:
        raise LabError(f"{name} has the checksum {found}, SHA256SUMS says {wanted[1] if wanted else 'nothing of it'}")
    with zipfile.ZipFile(archive) as content:
        partial = binary.with_suffix(".new")
        partial.write_bytes(content.read("rustfs"))
    partial.replace(binary)
    archive.unlink()
    return binary


def _fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return bytes(answer.read())
