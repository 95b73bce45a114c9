# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this machine is and lacks: system packages, Python, its own registry configuration."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.run import LabError, run, say

# command -> Debian/Ubuntu package
NEEDED = {
    "podman": "podman",
    "runc": "runc",
    "/usr/lib/podman/netavark": "netavark",
    "/usr/lib/podman/aardvark-dns": "aardvark-dns",
    "mmdebstrap": "mmdebstrap",
    "ip": "iproute2",
    "nft": "nftables",
    "iptables": "iptables",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
    "/etc/ssl/certs/ca-certificates.crt": "ca-certificates",
    "git": "git",
}
NEEDED_BY_TESTS = {"fusermount3": "fuse3", "haproxy": "haproxy", "socat": "socat"}


def check_machine() -> None:
    """Raises LabError, one line each, for what no package can cure."""
    if os.geteuid():
        raise LabError("The lab makes containers, mounts and a network: run it as root (sudo make lab).")
    if not shutil.which("apt-get"):
        raise LabError("The lab needs a Debian or Ubuntu machine: apt-get was not found.")
    if not Path("/dev/fuse").exists():
        raise LabError(
            "/dev/fuse is missing: load the fuse module (modprobe fuse), or give this container --device /dev/fuse."
        )
    for filesystem in ("overlay", "cgroup2"):
        if filesystem not in Path("/proc/filesystems").read_text().split():
            raise LabError(f"The kernel offers no {filesystem} (see /proc/filesystems): load or enable it.")


def install_packages(needed: Mapping[str, str] = NEEDED) -> None:
    """Installs those of the system packages `needed` that are missing, after saying which."""
    missing = sorted(
        {
            package
            for need, package in needed.items()
            if not (Path(need).exists() if need[0] == "/" else shutil.which(need))
        }
    )
    if not missing:
        say("      every system package is there")
        return
    say(f"      installing system packages: {' '.join(missing)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-qq"], env=env)
    run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], env=env)


def pip_options(environment: Path) -> dict[str, list[str]]:
    """The machine's own pip configuration, as it is needed inside the hosts: certificate, indexes, wheel folders."""
    listed = run([environment / "bin" / "pip", "config", "list"])
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^\S*?\.([a-z-]+)='(.*)'$", listed, re.M):
        if name in ("cert", "index-url", "extra-index-url", "find-links", "proxy", "trusted-host"):
            found.setdefault(name, []).extend(part for part in re.split(r"\s+|\\n", value) if part)
    return {name: list(dict.fromkeys(values)) for name, values in found.items()}


def debian_sources(suite: str, etc: Path = Path("/etc")) -> str:
    """The machine's own Debian sources for `suite`, in deb822 form; empty when it has none (an Ubuntu machine)."""
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', (etc / "os-release").read_text(), re.M))
    if release.get("ID") != "debian":
        return ""
    codename = release["VERSION_CODENAME"]
    stanzas = []
    for path in sorted((etc / "apt").glob("sources.list.d/*.sources")):
        text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
        for stanza in re.split(r"\n\s*\n", text):
            fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*)$", stanza, re.M))
            stanzas.append((fields.get("URIs", ""), fields.get("Suites", ""), fields.get("Components", "")))
    for path in [etc / "apt/sources.list", *sorted((etc / "apt").glob("sources.list.d/*.list"))]:
        if path.exists():
            lines = re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+(.+)$", path.read_text(), re.M)
            stanzas.extend(lines)
    kept = []
    for uris, suites, components in stanzas:
        ours = [name for name in suites.split() if re.fullmatch(rf"{codename}(-updates|-security)?", name)]
        if uris and ours and "main" in components.split():
            wanted = " ".join(name.replace(codename, suite) for name in ours)
            kept.append(
                f"Types: deb\nURIs: {uris}\nSuites: {wanted}\nComponents: main\n"
                "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
            )
    return "\n".join(kept)


def find_python(oldest: tuple[int, int], newest: tuple[int, int]) -> str:
    """The newest CPython from `oldest` to `newest` that can make a virtual environment, also one under pyenv."""
    roots = sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"), reverse=True)
    for minor in range(newest[1], oldest[1] - 1, -1):
        name = f"python{newest[0]}.{minor}"
        candidates = [str(root / name) for root in roots if (root / name).exists()]
        candidates += [path for path in (shutil.which(name), shutil.which(f"/usr/bin/{name}")) if path]
        for candidate in candidates:
            probe = [candidate, "-c", "import ensurepip, venv, ssl, sqlite3"]
            if subprocess.run(probe, capture_output=True).returncode == 0:
                return candidate
    raise LabError(f"No Python from {oldest} to {newest} with venv was found: apt-get install python3-venv")
