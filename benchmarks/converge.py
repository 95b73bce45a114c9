# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of site.yml that changes nothing, on the lab (make lab first), against as many tasks that only ping.

Tasks count once for each time that Ansible carries them out on a host, whatever their loop; those that stay on the
controller do not count.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

BIN = Path(sys.executable).parent
CHECKOUT = Path(__file__).resolve().parents[1]
HOST = yaml.safe_load((CHECKOUT / "inventories/lab/hosts.yml").read_text())["all"]["children"]["gpu"]["hosts"]["gpu1"]
ROUNDS = 3


def timed(*arguments: str | Path) -> tuple[float, str]:
    began = time.monotonic()
    done = subprocess.run([BIN / "ansible-playbook", *arguments], cwd=CHECKOUT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{arguments[0]} failed: is the lab up (make lab)?\n{done.stdout[-2000:]}")
    return time.monotonic() - began, done.stdout


def main() -> None:
    _, output = timed("site.yml", "-vvv")
    if re.search(r" changed=[1-9]", output):
        raise SystemExit(f"the run changed something: this is no no-op\n{output[-2000:]}")
    tasks = [text for text in re.split(r"^TASK \[", output, flags=re.M) if "> SSH: EXEC" in text]
    ping = [{"ansible.builtin.ping": None}] * len(tasks)
    runs, pings = [], []
    with tempfile.TemporaryDirectory() as folder:
        playbook = Path(folder, "pings.yml")
        playbook.write_text(json.dumps([{"hosts": "gpu", "gather_facts": False, "tasks": ping}]))
        for _ in range(ROUNDS):
            runs.append(timed("site.yml")[0])
            pings.append(timed(playbook)[0])
    figures = {
        "noop_s": round(statistics.median(runs), 1),
        "tasks": len(tasks),
        "tasks_per_host": sum(f"<{HOST['ansible_host']}> SSH: EXEC" in text for text in tasks),
        "pings_s": round(statistics.median(pings), 1),
        "ratio_to_pings": round(statistics.median(runs) / statistics.median(pings), 1),
    }
    print(json.dumps(figures))


main()
