# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A version changes on four hosts with the engine's double, behind a gateway, under load; then it is rolled back.

Makes the hosts of the scenario swap, and ends them. A host is out of service from the end of its last request of the
old version to the first one of the new; what its engine takes to start is left out. The store's bytes are all that its
network interface has sent from the first drain to the last undrain.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

os.environ["MODELSHELF_LAB"] = "swap"

from tests.support.fleet import Run, host, play
from tests.support.load import Load
from tests.support.swap import ENDPOINT, HOSTS, logged, now, pause, serve

REQUESTS = 2000
STREAM_SECONDS = 30.0
TAGS = "--tags=swap"


def must(run: Run) -> None:
    if run.status:
        raise SystemExit(run.output[-3000:])


def lab(command: str) -> None:
    subprocess.run([sys.executable, "-m", "lab", command, "--name=swap"], check=True)


def sent() -> int:
    """Bytes that the store's host has sent so far."""
    return int(host("store1").check_output("cat /sys/class/net/eth0/statistics/tx_bytes"))


def start_seconds(name: str) -> float:
    """What the newest start of a host's engine took, from its first line to the last before it serves."""
    lines = host(name).check_output("journalctl --quiet --output=short-unix --unit modelshelf-vllm@main | tac")
    ready, begun = (
        re.search(rf"^([\d.]+) .*{text}", lines, re.M) for text in ("Application startup complete", "INFO .* version ")
    )
    assert ready and begun
    return float(ready[1]) - float(begun[1])


def main() -> None:
    lab("hosts")
    try:
        must(play(playbook="molecule/swap/double.yml"))
        must(serve("v1"))
        must(serve("v2", "--tags=publish"))
        since, before = now(), sent()
        with Load(ENDPOINT, long_seconds=STREAM_SECONDS) as load:
            must(serve("v2", TAGS))
            load.reach(REQUESTS)
        store, requests = sent() - before, logged(since)
        extra = 0.0
        for name in HOSTS:
            begin, end = pause(requests, name)
            last = max(request.ended for request in requests if request.host == name and request.began <= begin)
            extra = max(extra, end - last - start_seconds(name))
        before = sent()
        must(serve("v2", "--tags=rollback"))
        rollback = sent() - before
    finally:
        lab("down")
    figures = {
        "hosts": len(HOSTS),
        "requests": load.requests,
        "failed_requests": len(load.failures),
        "out_of_service_extra_s": round(extra, 1),
        "store_bytes": store,
        "rollback_store_bytes": rollback,
    }
    print(json.dumps(figures))


main()
