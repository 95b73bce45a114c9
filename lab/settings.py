# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab is made of: places, versions, networks. The one home of each of them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "modelshelf"
STATE = Path("/run/modelshelf-lab")  # who holds which lab; gone with a reboot, as the lab is

HOST_SUITE = "bookworm"  # the CPU engine needs its Python 3.11
HOST_PYTHON = "python3.11"
VLLM_VERSION = "0.32.0"
RUSTFS_VERSION = "1.0.0-rc.3"

SSH_KEY = CACHE / "lab" / "ssh" / "id_ed25519"
SECRETS = CACHE / "lab" / "secrets.json"


@dataclass(frozen=True)
class Lab:
    """One set of hosts: its inventories, its subnet (/24) and the /30 that joins it to the machine."""

    name: str
    inventories: tuple[str, ...]
    subnet: str
    uplink: str

    @property
    def state(self) -> Path:
        return STATE / self.name

    @property
    def storage(self) -> Path:
        return CACHE / "lab" / f"{self.name}-hosts"

    @property
    def link(self) -> str:
        """The machine's end of the veth (15 characters at most)."""
        return f"mshelf-{self.name}"[:15]


LABS = {
    lab.name: lab
    for lab in (
        Lab("lab", ("inventories/lab",), "10.89.50", "10.88.250"),
        Lab("test", ("inventories/lab", "molecule/inventory"), "10.89.51", "10.88.251"),
        Lab("swap", ("inventories/lab", "molecule/swap/inventory"), "10.89.52", "10.88.252"),
    )
}


def fingerprint(*parts: str | bytes | Path) -> str:
    """Twelve hex digits that change with any of `parts`; a path stands for the file's content."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode() if isinstance(part, str) else part
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()[:12]
