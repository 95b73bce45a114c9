# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs `ansible-test` on the collection: ansible_test.py sanity|units.

Its virtual environments go into the lab's cache, and their pip comes from the interpreter itself (ensurepip) instead of
a script on a download site that a closed network does not reach: ansible-test takes a script that lies in its cache.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from lab.machine import find_python
from lab.run import LabError
from lab.settings import CACHE, CHECKOUT

COLLECTION = CHECKOUT / "collections" / "ansible_collections" / "modelshelf" / "fleet"
OLDEST_TARGET = (3, 9)  # the oldest Python that a host may have
BOOTSTRAP = """import ensurepip, subprocess, sys
ensurepip.bootstrap(upgrade=True)
wanted = [argument for argument in sys.argv[1:] if argument.startswith("pip==")]
subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
"""


def pip_version() -> str:
    """The version of pip that this ansible-test puts into its environments."""
    spec = find_spec("ansible_test")
    if not spec or not spec.submodule_search_locations:
        raise SystemExit("ansible-test is not installed: make environment")
    source = Path(spec.submodule_search_locations[0]) / "_internal" / "python_requirements.py"
    found = re.search(r"pip='([\d.]+)'", source.read_text())
    if not found:
        raise SystemExit(f"{source} names no version of pip; this ansible-core is newer than this script knows")
    return found[1]


def run(command: str, python: str, *arguments: str) -> None:
    """One run on one Python, `python` being its program's path. Ends this program when the run fails."""
    home = CACHE / "ansible-test"
    script = home / ".ansible" / "test" / "cache" / f"get_pip_{pip_version().replace('.', '_')}.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(BOOTSTRAP)
    # pyenv's shims answer for versions that they do not run: no name of theirs on the path.
    places = [place for place in os.environ["PATH"].split(":") if not place.endswith("/shims")]
    config = os.environ.get("XDG_CONFIG_HOME", str(Path.home() / ".config"))  # where pip's own configuration is
    env = {
        **os.environ,
        "HOME": str(home),
        "XDG_CONFIG_HOME": config,
        "PATH": ":".join([str(Path(python).parent), *places]),
    }
    version = re.sub(r"^python", "", Path(python).name)
    program = Path(sys.executable).with_name("ansible-test")
    argv = [sys.executable, str(program), command, "--venv", "--python", version, "--color", "no", *arguments]
    sys.stdout.write(f"ansible-test {command} on Python {version}\n")
    sys.stdout.flush()
    status = subprocess.run(argv, cwd=COLLECTION, env=env).returncode
    if status:
        raise SystemExit(status)


def main(command: str) -> None:
    own = sys.version_info[:2]
    run(command, find_python(own, own))
    if command == "sanity":
        try:
            oldest = find_python(OLDEST_TARGET, OLDEST_TARGET)
        except LabError:
            sys.stdout.write(f"no Python {OLDEST_TARGET} on this machine: modules were not tried on it\n")
        else:
            run(command, oldest, "--test", "compile", "--test", "import")


if __name__ == "__main__":
    main(sys.argv[1])
