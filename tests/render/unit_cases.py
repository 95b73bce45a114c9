# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and secrets that are hard to write, and units read back."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any

WRITER_SECRET = "ab%sc%nd%$x`y\"z\\'"
READER_SECRET = "%h and, a comma"
GIVEN: dict[str, Any] = {
    "modelshelf_store": {"endpoint": "http://10.0.0.1:9000", "bucket": "models", "ca_file": "/etc/ssl/store%.pem"},
    "modelshelf_writer_access_key": "writer",
    "modelshelf_writer_secret_key": WRITER_SECRET,
    "modelshelf_reader_access_key": "reader",
    "modelshelf_reader_secret_key": READER_SECRET,
    "modelshelf_vllm_api_key": "key%s",
    "modelshelf_models": [
        {"name": "Qwen2.5_7B/Instruct 100%", "version": "v1"},
        {"name": "not-served-here", "version": "v1"},
    ],
    "modelshelf_instances": [
        {"name": "main", "model": "Qwen2.5_7B/Instruct 100%", "port": 8000, "served_names": "100%"}
    ],
    "weights_root": "/srv/a %h/weights",
    "weights_rclone_arguments": ["--header", 'X-Note: 5% "off" $HOME'],
    "vllm_address": "10.0.0.2",
    "vllm_start_budget": 777,
    "vllm_stop_timeout": 55,
    "vllm_shm_size": "2G",
    "vllm_service_directives": {"MemoryMax": "64G", "SystemCallFilter": ["@mount", "bpf"]},
}
SLUG = "qwen2-5-7b-instruct-100"
WEIGHTS_UNIT = f"modelshelf-weights-{SLUG}.service"
SERVER = "modelshelf-vllm@main.service"


def directives(path: Path) -> dict[str, list[str]]:
    """The values of every directive of a unit after joining lines, specifiers not yet resolved."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found[name].append(value.strip())
    return found


def argv(command: str) -> list[str]:
    """A command line as systemd passes it on: quotes and doubled signs resolved, everything else left as it is."""
    assert not re.search(r"(?<![$])[$](?!\$|MAINPID)(?:\$\$)*\w", command.replace("$$", "")), command
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(command.replace("$$", "$$"))]
