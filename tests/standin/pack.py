# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as one executable file, as the real server is: `python3 -m tests.standin.pack TARGET`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.standin.settings import VERSION

HERE = Path(__file__).parent
START = b"""import os
import sys

from tests.standin.__main__ import main

status = main()
sys.stdout.flush()
os._exit(status)
"""
HERE_ALONE = ("pack.py", "foreground.py")
EPOCH = (1980, 1, 1, 0, 0, 0)


def pack(target: Path, *, version: str = VERSION, defaults: Mapping[str, str] | None = None) -> Path:
    """Write the program to `target` (its folder exists) and return it. The same input gives the same bytes.

    `version` is what it says of itself; `defaults` are STANDIN_* settings that hold unless the environment has others.
    """
    build = json.dumps({"version": version, **(defaults or {})}, sort_keys=True)
    files = {
        f"tests/standin/{path.name}": path.read_bytes() for path in HERE.glob("*.py") if path.name not in HERE_ALONE
    }
    files |= {"tests/standin/build.json": build.encode(), "tests/__init__.py": b"", "__main__.py": START}
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    with os.fdopen(handle, "wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for path in sorted(files):
                entry = zipfile.ZipInfo(path, EPOCH)
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, files[path])
    Path(name).chmod(0o755)
    return Path(name).rename(target)


def main(arguments: Sequence[str]) -> None:
    """The command line: a folder and name for the program, and what its version says of itself."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.standin.pack", description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--version", default=VERSION)
    parser.add_argument("--never-ready", action="store_true", help="listens, and is never ready: a bad upgrade")
    given = parser.parse_args(arguments)
    defaults = {"STANDIN_NEVER_READY": "true"} if given.never_ready else {}
    print(pack(given.target, version=given.version, defaults=defaults))


if __name__ == "__main__":
    main(sys.argv[1:])
