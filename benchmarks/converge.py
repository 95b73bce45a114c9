# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of site.yml that changes nothing, on the lab (make lab first), against one bare ping of the same hosts.

Prints seconds and tasks per host; the ratio to the ping tells how much of it is more than opening connections.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent
ROUNDS = 3


def timed(argv: list[str | Path]) -> tuple[float, str]:
    began = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{argv[0]} failed: is the lab up (make lab)?\n{done.stdout[-2000:]}")
    return time.monotonic() - began, done.stdout


def main() -> None:
    runs, pings, tasks = [], [], 0
    for _ in range(ROUNDS):
        seconds, output = timed([BIN / "ansible-playbook", "site.yml"])
        counts = re.findall(r"^\S+\s+: ok=(\d+)\s+changed=(\d+)", output, re.M)
        if any(int(changed) for _, changed in counts):
            raise SystemExit(f"the run changed something: this is no no-op\n{output[-2000:]}")
        runs.append(seconds)
        tasks = sum(int(ok) for ok, _ in counts)
        pings.append(timed([BIN / "ansible", "all", "-m", "ansible.builtin.ping"])[0])
    hosts = len(counts)
    run, ping = statistics.median(runs), statistics.median(pings)
    figures = {
        "hosts": hosts,
        "noop_s": round(run, 1),
        "noop_s_per_host": round(run / hosts, 2),
        "tasks_per_host": round(tasks / hosts, 1),
        "ping_s": round(ping, 1),
        "noop_to_ping_ratio": round(run / ping, 1),
    }
    print(json.dumps(figures))


main()
