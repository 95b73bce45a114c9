# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A version changes on four hosts with the engine's double, behind a gateway, under load; then it is rolled back.

Makes the hosts of the scenario swap, and ends them. A host is out of service from the end of its last request of the
old version to the first one of the new; what its engine takes to start is left out. The store's bytes are all that its
server has sent from the first drain to the last undrain, to anyone.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

os.environ["MODELSHELF_LAB"] = "swap"

from tests.support.fleet import CHECKOUT, Run, host, play
from tests.support.load import Load
from tests.support.shelf import ENDPOINT as STORE
from tests.support.swap import ENDPOINT, HOSTS, Logged, logged, now, pause, serve

REQUESTS = 2000
STREAM_SECONDS = 30.0
COUNTER = CHECKOUT / "tests/support/sent_bytes.py"


def must(run: Run) -> None:
    if run.status:
        raise SystemExit(run.output[-3000:])


@contextmanager
def hosts() -> Iterator[None]:
    lab = [sys.executable, "-m", "lab"]
    subprocess.run([*lab, "hosts", "--name=swap"], check=True)
    try:
        yield
    finally:
        subprocess.run([*lab, "down", "--name=swap"], check=True)


def start_seconds(name: str) -> float:
    """What the newest start of a host's engine took, from its execution to its last line before it serves."""
    lines = host(name).check_output("journalctl --quiet --output=short-unix --unit modelshelf-vllm@main | tac")
    texts = ("Application startup complete", "Started modelshelf-vllm@main")
    ready, begun = (re.search(rf"^([\d.]+) .*{text}", lines, re.M) for text in texts)
    assert ready and begun
    return float(ready[1]) - float(begun[1])


def out_of_service(requests: list[Logged], name: str) -> float:
    """How long a host served neither version, less the start of its engine, in seconds."""
    begin, end = pause(requests, name)
    last = max(request.ended for request in requests if request.host == name and request.began <= begin)
    return end - last - start_seconds(name)


def store_bytes(requests: list[Logged]) -> int:
    """What the store has sent while any host was drained."""
    pauses = [pause(requests, name) for name in HOSTS]
    begin, end = min(begin for begin, _ in pauses), max(end for _, end in pauses)
    lines = host("store1").check_output("journalctl --quiet --output=cat --unit sent-bytes").splitlines()
    sent = [(float(when), int(size)) for when, size in map(str.split, lines)]
    assert sent, "nothing is known of what the store sends, even before the first drain"
    return sum(size for when, size in sent if begin <= when <= end)


def moved(tag: str) -> tuple[Load, list[Logged]]:
    """The fleet under load while its version changes, and what the gateway has logged of it."""
    since = now()
    with Load(ENDPOINT, long_seconds=STREAM_SECONDS) as load:
        must(serve("v2", f"--tags={tag}"))
        load.reach(REQUESTS)
    return load, logged(since)


def main() -> None:
    with hosts():
        must(play(playbook="molecule/swap/double.yml"))
        must(serve("v1"))
        count = f"systemd-run --quiet --unit=sent-bytes python3 -c %s {urlsplit(STORE).port}"
        host("store1").check_output(count, COUNTER.read_text())
        must(serve("v2", "--tags=publish"))
        load, requests = moved("swap")
        extra, sent = max(out_of_service(requests, name) for name in HOSTS), store_bytes(requests)
        back, requests = moved("rollback")
        rollback_sent = store_bytes(requests)
    figures = {
        "hosts": len(HOSTS),
        "requests": load.requests,
        "failed_requests": len(load.failures),
        "rollback_failed_requests": len(back.failures),
        "out_of_service_extra_s": round(extra, 1),
        "store_bytes": sent,
        "rollback_store_bytes": rollback_sent,
    }
    print(json.dumps(figures))


main()
