# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet of the scenario swap: versions and faults for its hosts, and what its gateway has logged."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from lab.settings import CACHE
from tests.support.fleet import ADDRESSES, Run, host, play
from tests.support.load import Load
from tests.support.serving import MODEL, MOUNTPOINT, root

HOSTS = ["gpu1", "gpu2", "gpu3", "gpu4"]
ENDPOINT = f"http://{ADDRESSES['gw1']}:8101/v1"
MAIN: dict[str, Any] = {"name": "main", "model": MODEL, "port": 8000}
INSTANCE = "/var/lib/modelshelf/instances/main"

_LINE = re.compile(
    r"\[(?P<began>[^]]+)\] \S+ \S+/(?P<host>[^: ]+):main \S+?(?P<took>\d+) (?P<status>-?\d+) \d+ - - (?P<end>..)"
)


def variables(version: str, **more: Any) -> str:
    """The argument with which a run has that version in its inventory. All but v1 have the content of v2."""
    directory = CACHE / "models" / (MODEL if version == "v1" else f"{MODEL}-next")
    model = {"name": MODEL, "version": version, "directory": str(directory)}
    return "--extra-vars=" + json.dumps({"modelshelf_models": [model], **more})


def serve(
    version: str,
    *arguments: str,
    faults: Mapping[str, Mapping[str, str]] | None = None,
    instances: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    gateways: Sequence[str] = (),
    playbook: str = "site.yml",
    **more: Any,
) -> Run:
    """Runs a playbook for that version. `faults`: host -> what of tests/double/faults.py its instance has.

    `instances`: host -> its instances, where they are others than `MAIN` alone. `gateways`: hosts that are one as well.
    """
    faulty = {name: [{**MAIN, "environment": environment}] for name, environment in (faults or {}).items()}
    hosts = {name: {"modelshelf_instances": given} for name, given in {**faulty, **(instances or {})}.items()}
    with tempfile.TemporaryDirectory(prefix="hosts-") as folder:
        inventory = Path(folder) / "hosts.json"
        # In their group: a host that is beside the groups comes before all others.
        groups = {"gpu": {"hosts": hosts}, "gateway": {"hosts": {name: {} for name in gateways}}}
        inventory.write_text(json.dumps({"all": {"children": groups}}))
        given = [inventory] if hosts or gateways else []
        return play(variables(version, **more), *arguments, inventories=given, playbook=playbook)


def served() -> dict[str, str]:
    """Host -> the version that its server says it has; empty when it says nothing."""
    return {name: _served(name) for name in HOSTS}


def _served(name: str) -> str:
    try:
        return root(name).removeprefix(f"{MOUNTPOINT}/")
    except OSError:
        return ""


def history(name: str) -> dict[str, Any]:
    """The newest line of the history of a host's instance."""
    line: dict[str, Any] = json.loads(host(name).check_output(f"tail -n 1 {INSTANCE}/history.jsonl"))
    return line


def step(name: str) -> str:
    """The step of the move that a host's instance is in the middle of; empty when there is none."""
    journal = host(name).run(f"cat {INSTANCE}/journal.json")
    return str(json.loads(journal.stdout)["step"]) if journal.rc == 0 else ""


def is_drained(name: str, gateway: str = "gw1") -> bool:
    """Whether a gateway sends a host's instance no new requests."""
    return _state(name, gateway)[7] == "0"


def is_up(name: str, gateway: str = "gw1") -> bool:
    """Whether a gateway has a host's instance among those that can get requests."""
    return _state(name, gateway)[5] == "2"


def _state(name: str, gateway: str) -> list[str]:
    """The line of "show servers state" about a host's instance."""
    state = host(gateway).check_output(
        "echo show servers state | socat -t10 stdio unix-connect:/run/haproxy/admin.sock"
    )
    lines = [line.split() for line in state.splitlines() if f" {name}:main " in line]
    assert len(lines) == 1, state
    return lines[0]


def known(server: str, gateway: str = "gw1") -> str:
    """Address, port and weight of a server in a gateway's configuration; empty when it is not in it."""
    return str(host(gateway).check_output(f"sed -n 's/^    server {server} //p' /etc/haproxy/haproxy.cfg"))


def gets_requests(load: Load, name: str) -> bool:
    """Whether the gateway sends requests to the instance main of a host, which answers them."""
    since = now()
    load.reach(load.requests + 100)
    return any(request.host == name and request.whole for request in logged(since))


@dataclass(frozen=True)
class Logged:
    """A request as the gateway saw it, in seconds since 1970. `whole`: its server has given all of an answer."""

    host: str
    began: float
    ended: float
    whole: bool


def now() -> float:
    """The time on the gateway."""
    return float(host("gw1").check_output("date +%s.%N"))


def logged(since: float) -> list[Logged]:
    """The requests that the gateway has answered since then, by the time that they came."""
    text = host("gw1").check_output(f"journalctl --quiet --unit haproxy --output=cat --since=@{since:.0f}")
    found = []
    for line in filter(None, map(_LINE.search, text.splitlines())):
        began = datetime.strptime(line["began"], "%d/%b/%Y:%H:%M:%S.%f").replace(tzinfo=UTC).timestamp()
        # The client leaves a stream at its last event, which counts as an end from its side.
        whole = line["status"] == "200" and line["end"] in ("--", "CD")
        found.append(Logged(line["host"], began, began + int(line["took"]) / 1000, whole))
    return sorted(found, key=lambda request: request.began)


def pause(requests: list[Logged], name: str) -> tuple[float, float]:
    """The longest time in which a host was sent nothing: from its last request before to the first one after."""
    times = [request.began for request in requests if request.host == name]
    return max(pairwise(times), key=lambda pair: pair[1] - pair[0])


def across(requests: list[Logged], name: str) -> float:
    """How long the longest of those requests took that were in flight as a host was sent no more, in seconds."""
    begin, _ = pause(requests, name)
    return max(
        request.ended - request.began
        for request in requests
        if request.host == name and request.began <= begin < request.ended
    )
