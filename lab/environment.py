# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's Python environment: in the cache, linked as `.venv` in the checkout."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from lab.machine import find_python
from lab.run import locked, run, say
from lab.settings import CACHE, CHECKOUT, fingerprint


def requirements(pyproject: Path) -> list[str]:
    """What the product, the lab and the tests need, from pyproject.toml."""
    data = tomllib.loads(pyproject.read_text())
    groups: dict[str, list[str]] = data["dependency-groups"]
    return [*data["project"]["dependencies"], *groups["lab"], *groups["test"]]


def make_environment(oldest: tuple[int, int] = (3, 11), newest: tuple[int, int] = (3, 14), link: str = ".venv") -> Path:
    """The environment's folder, made when it is missing or pyproject.toml changed."""
    python = find_python(oldest, newest)
    needs = requirements(CHECKOUT / "pyproject.toml")
    version = run([python, "-c", "import sys; print(sys.version)"])
    target = CACHE / "venvs" / f"{Path(python).name}-{fingerprint(version, python, *needs)}"
    with locked(CACHE / "venvs.lock"):
        if not (target / "complete").exists():
            say(f"      making {target} with {python}")
            shutil.rmtree(target, ignore_errors=True)
            run([python, "-m", "venv", target])
            run([target / "bin" / "pip", "install", "-q", *needs], log=CACHE / "logs" / "environment.log")
            (target / "complete").touch()
    place = CHECKOUT / link
    if not place.is_symlink() or place.readlink() != target:
        place.unlink(missing_ok=True)
        place.symlink_to(target)
    return target
