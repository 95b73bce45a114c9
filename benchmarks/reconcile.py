# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role rustfs_config on a store that has everything already: 50 models with a policy, a user and a key each.

Prints what changed (0), the tasks and loop items of that run, the listing calls per kind of object, all calls, its
seconds, and the seconds of as many `ping` tasks. The server is RUSTFS_BIN, or the stand-in, on this machine.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
from tests.support.rustfs_server import running_server

MODELS = 50
BIN = Path(sys.executable).parent
RESULT = re.compile(r"^(?:ok|changed): \[localhost\](?: => \(item=.*?\))? => (\{.*\})$", re.M)
LISTING = re.compile(r"GET (list-[a-z-]+|groups|idp/builtin/policy-entities|ListBuckets)$")


def play(folder: Path, tasks: list[dict[str, Any]]) -> tuple[float, list[dict[str, Any]]]:
    """Seconds of a playbook of these tasks on the controller, and the results of all tasks and loop items that ran."""
    playbook = folder / "playbook.json"
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
        "ANSIBLE_CALLBACK_FORMAT_PRETTY": "false",
        "ANSIBLE_NOCOLOR": "1",
    }
    argv = [BIN / "ansible-playbook", "-v", "-i", "/dev/null", "-e", f"@{folder / 'fleet.json'}", playbook]
    began = time.monotonic()
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode:
        raise SystemExit(f"the run failed\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    return seconds, [json.loads(text) for text in RESULT.findall(done.stdout)]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, running_server(Path(scratch) / "store") as server:
        folder = Path(scratch)
        names = [f"model-{number:02}" for number in range(MODELS)]
        keys = {name: {"access_key": f"key-{name}", "secret_key": secrets.token_urlsafe(24)} for name in names}
        fleet = {
            "modelshelf_store": {"endpoint": server.endpoint, "bucket": "models"},
            "modelshelf_models": [{"name": name, "version": "v1"} for name in names],
            "modelshelf_reader_keys": keys,
            "modelshelf_root_access_key": server.access_key,
            "modelshelf_root_secret_key": server.secret_key,
        }
        (folder / "fleet.json").write_text(json.dumps(fleet))
        role = [{"name": "Reconcile", "ansible.builtin.import_role": {"name": "rustfs_config"}}]
        first, _ = play(folder, role)
        print(f"first run, which makes everything: {first:.1f} s", flush=True)
        seconds, done = play(folder, role)
        calls = [result["calls"] for result in done if "calls" in result]
        listings = [sum(number for call, number in kind.items() if LISTING.match(call)) for kind in calls]
        pings = [{"ansible.builtin.ping": {}}] * len(done)
        ping_seconds, _ = play(folder, pings)
        figures = {
            "models": MODELS,
            "changed": sum(bool(result.get("changed")) for result in done),
            "items": len(done),
            "list_calls_per_kind": max(listings),
            "calls": sum(sum(kind.values()) for kind in calls),
            "seconds": round(seconds, 1),
            "ping_seconds": round(ping_seconds, 1),
        }
        print(json.dumps(figures))


main()
