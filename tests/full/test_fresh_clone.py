# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A newcomer's two commands: fresh clone, empty cache folder, `make lab`, `make lab` again, `make test`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from lab.settings import CHECKOUT


def make(target: str, clone: Path, env: dict[str, str]) -> tuple[str, float]:
    """What a target prints, and the seconds that it takes. The file with its output can be watched."""
    log = clone.parent / f"{target}.log"
    sys.stdout.write(f"make {target}: see {log}\n")
    began = time.monotonic()
    with log.open("w") as output:
        done = subprocess.run(["make", target], cwd=clone, env=env, stdout=output, stderr=subprocess.STDOUT)
    seconds = time.monotonic() - began
    sys.stdout.write(f"make {target}: {seconds:.0f} s\n")
    text = log.read_text()
    assert done.returncode == 0, text[-8000:]
    return text, seconds


def leftovers() -> list[str]:
    """What a lab leaves on the machine while it runs: links, tables, cgroups, state."""
    links = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True).stdout
    tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True).stdout
    cgroups = subprocess.run(
        ["find", "/sys/fs/cgroup", "-maxdepth", "2", "-name", "modelshelf-*"], capture_output=True, text=True
    )
    return re.findall(r"mshelf-\S+", links) + re.findall(r"modelshelf_\S+", tables) + cgroups.stdout.split()


def test_fresh_clone_with_empty_caches(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", CHECKOUT, clone], check=True)
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANSIBLE_", "MOLECULE_", "MAKE", "MFLAGS"))
    }
    env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    try:
        first, _ = make("lab", clone, env)
        assert re.search(r"^completion: \S|^completion:  ?\S", first, re.M), first[-3000:]

        second, _ = make("lab", clone, env)
        recap = re.findall(r"^\S+\s+: ok=\d+\s+changed=(\d+)", second, re.M)
        assert recap and set(recap) == {"0"}, second[-5000:]

        tested, _ = make("test", clone, env)
        assert re.search(r"^\d+ passed, 0 failed$", tested.strip().splitlines()[-1]), tested[-3000:]
    finally:
        make("lab-down", clone, env)
    assert leftovers() == []
