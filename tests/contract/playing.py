# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks run by ansible-playbook, as an operator would run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.contract.s3_server import Server

REPOSITORY = Path(__file__).parents[2]


def play(server: Server, folder: Path, tasks: list[dict[str, Any]], *options: str) -> str:
    """All that ansible-playbook prints with -vvv and --diff, with failures ignored."""
    variables = folder / "variables.json"
    variables.write_text(json.dumps({"wanted": tasks}))
    lines = [
        {"name": f"Task {number}", module: f"{{{{ wanted[{number}]['{module}'] }}}}", "ignore_errors": True}
        for number, task in enumerate(tasks)
        for module in task
    ]
    playbook = folder / "play.yml"
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": lines}]))
    command = [
        str(Path(sys.executable).parent / "ansible-playbook"),
        "-i",
        "localhost,",
        "-c",
        "local",
        "-vvv",
        "--diff",
    ]
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(REPOSITORY / "collections"),
        "RUSTFS_ENDPOINT": server.endpoint,
        "RUSTFS_ACCESS_KEY": server.access_key,
        "RUSTFS_SECRET_KEY": server.secret_key,
    }
    extra = ["-e", f"@{variables}", "-e", f"ansible_python_interpreter={sys.executable}"]
    run = subprocess.run(
        [*command, *extra, *options, str(playbook)], env=environment, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr
