# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`vllm serve --config FILE` and `vllm --version`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .config import Usage, read_config
from .faults import BadFault, read_faults
from .log import Log
from .server import run


def main() -> int:
    """The exit status: 0 after a stop or the engine's death, 1 when it cannot start, 2 when it does not understand."""
    parser = argparse.ArgumentParser(prog="vllm", description="A double of vLLM that loads nothing.")
    parser.add_argument("--version", action="version", version=engine_version())
    serve = parser.add_subparsers(required=True).add_parser("serve")
    serve.add_argument("--config", type=Path, required=True)
    given = parser.parse_args()
    try:
        config = read_config(given.config, os.environ.get("VLLM_API_KEY", ""))
        return run(config, read_faults(os.environ), engine_version(), Log())
    except (Usage, BadFault) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def engine_version() -> str:
    """The version that the engine was installed as, without a build's label, as vLLM says it."""
    try:
        return version("vllm").partition("+")[0]
    except PackageNotFoundError:
        return "0.0.0"


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)  # requests that are still answered are nobody to wait for
