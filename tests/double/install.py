# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The double as an engine: `python3 -m tests.double.install TARGET`, or `--wheel FOLDER` for pip to install.

TARGET is like a virtual environment: bin/vllm, bin/python whose importlib.metadata knows a vllm. It may be made on
one machine and copied to another, anywhere. The wheel is called vllm, so that the role itself can install it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

VERSION = "0.32.0"
HERE = Path(__file__).parent
HERE_ALONE = ("install.py",)
PYTHON = Path("/usr/bin/python3")
PYTHONS = ("3.12", "3.13", "3.14")
"""Beside 3.11: a Python looks for packages in the folder of its own version."""
EPOCH = (1980, 1, 1, 0, 0, 0)
START = """#!/bin/sh
exec "${0%/*}/python" -m vllm "$@"
"""


def install(target: Path, *, version: str = VERSION, python: Path = PYTHON) -> Path:
    """Make the engine `target` that says it is `version`, run by the interpreter `python`; returns `target`.

    Raises FileExistsError when there is one.
    """
    packages = target / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    for name, data in _files(version).items():
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).write_bytes(data)
    for other in PYTHONS:
        (target / "lib" / f"python{other}").symlink_to("python3.11")
    (target / "bin").mkdir()
    (target / "bin" / "python").symlink_to(python)
    program = target / "bin" / "vllm"
    program.write_text(START)
    program.chmod(0o755)
    (target / "pyvenv.cfg").write_text(f"home = {python.parent}\ninclude-system-site-packages = false\n")
    return target


def wheel(folder: Path, *, version: str = VERSION) -> Path:
    """Write the double as a wheel into `folder`, for `pip install --no-index --find-links`; returns its path."""
    path = folder / f"vllm-{version}-py3-none-any.whl"
    files = _files(version)
    info = f"vllm-{version}.dist-info"
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: modelshelf\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nvllm = vllm.__main__:main\n"
    rows = [f"{name},{_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return path


def _files(version: str) -> dict[str, bytes]:
    files = {
        f"vllm/{path.name}": path.read_bytes() for path in sorted(HERE.glob("*.py")) if path.name not in HERE_ALONE
    }
    metadata = f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\nSummary: A double\nRequires-Python: >=3.11\n"
    return {**files, f"vllm-{version}.dist-info/METADATA": metadata.encode()}


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(arguments: Sequence[str]) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.double.install", description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--version", default=VERSION)
    parser.add_argument("--wheel", action="store_true", help="a wheel in the folder TARGET instead")
    given = parser.parse_args(arguments)
    made = wheel(given.target, version=given.version) if given.wheel else install(given.target, version=given.version)
    sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
