# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof that a unit is a RustFS server that is ready, alone on its port, in a whole cluster. Standard library, 3.9.

It only looks. What cannot become right by waiting ends it at once, with the last lines of the log of this run.
"""

from __future__ import annotations

import functools
import http.client
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_ports import is_open, strangers
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, SystemdError, UnitState

READY = "/health/ready"
CLUSTER = "/minio/health/cluster"

_PATIENCE = 10.0
"""Seconds for one answer."""

_QUOTED = 6
"""Log lines in a message."""

Ask = Callable[[str], str]
"""Sends a GET to a URL; returns "200", or what came instead."""


@dataclass(frozen=True)
class Gate:
    """What must be true. `timeout` and `interval` are in seconds; `nodes`: the URLs of all servers of a cluster.

    `tries`: how many automatic restarts are waited for. A server that starts under load may fail at a lock of its peers
    and come up at the next try.
    """

    unit: str
    port: int
    address: str = ""
    tls: bool = False
    timeout: float = 240.0
    interval: float = 1.0
    tries: int = 3
    nodes: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The URL of the server on its own host."""
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.address, self.address)
        return f"{'https' if self.tls else 'http'}://{f'[{host}]' if ':' in host else host}:{self.port}"


class NotReady(Exception):
    """A rung that did not hold. `log`: the last lines of the unit."""

    def __init__(self, rung: str, message: str, log: list[str]) -> None:
        super().__init__(f"{rung}: {message}")
        self.rung, self.log = rung, log


def ask(url: str) -> str:
    """The status of a GET, or the reason that there is none.

    No certificate is checked: it is asked whether a process of this cluster is up, and nothing secret is sent. That the
    certificate is one that clients accept is proved by the client that writes the canary.
    """
    parts = urlsplit(url)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        host, port = str(parts.hostname), parts.port
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(host, port, timeout=_PATIENCE, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
        try:
            connection.request("GET", parts.path)
            answer = connection.getresponse()
            body = " ".join(answer.read(300).decode(errors="replace").split())
            return "200" if answer.status == 200 else f"{answer.status} {body}".strip()
        finally:
            connection.close()
    except (OSError, http.client.HTTPException) as error:
        return f"no answer: {error or type(error).__name__}"


class Ladder:
    """One climb of the rungs: unit, port, listener, ready, cluster."""

    def __init__(
        self,
        gate: Gate,
        systemd: Systemd,
        groups: Callable[[UnitState], tuple[str, ...]],
        *,
        ask: Ask = ask,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        proc: str = "/proc",
    ) -> None:
        self._gate, self._systemd, self._groups, self._ask = gate, systemd, groups, ask
        self._clock, self._sleep, self._proc = clock, sleep, proc
        self._start = clock()
        self._baseline: int | None = None
        self._state = UnitState("", "", "")
        self._rungs: list[str] = []

    def climb(self) -> list[str]:
        """The names of the rungs, all of which hold.

        Raises NotReady at the first that does not, SystemdError when systemd cannot be asked.
        """
        gate = self._gate
        self._wait("unit", self._unit_runs)
        self._wait("port", self._port_is_open)
        self._check_listeners()
        self._wait("ready", lambda: self._answers(gate.url + READY))
        for node in gate.nodes:
            self._wait("cluster", functools.partial(self._answers, node.rstrip("/") + CLUSTER))
        self._check_listeners()
        return list(dict.fromkeys(self._rungs))

    def _unit_runs(self) -> str:
        # While a restart is queued, the process that answers is the one before.
        return "" if self._state.is_active and not self._state.job else "the unit did not run"

    def _port_is_open(self) -> str:
        gate = self._gate
        return "" if is_open(gate.address, gate.port, self._proc) else f"nobody listened on the port {gate.port}"

    def _answers(self, url: str) -> str:
        found = self._ask(url)
        return "" if found == "200" else f"{url} should have answered 200, and said: {found}"

    def _wait(self, rung: str, missing: Callable[[], str]) -> None:
        """Until `missing` returns nothing; what it returned last is in the message otherwise."""
        self._rungs.append(rung)
        while True:
            self._look()
            lacking = self._unit_runs() or missing()
            if not lacking:
                return
            if self._clock() - self._start >= self._gate.timeout:
                if rung == "unit" and not self._port_is_open():
                    # A server that tells systemd when it is ready listens before that, and says what it waits for.
                    lacking = f"{lacking}, and {self._answers(self._gate.url + READY)}"
                raise self._failure(f"after {self._gate.timeout:g} s {lacking} ({self._state})")
            self._sleep(self._gate.interval)

    def _look(self) -> None:
        """Takes the state of the unit. Raises NotReady when it will not run any more."""
        unit, state = self._gate.unit, self._systemd.state(self._gate.unit)
        self._state = state
        if not state.exists:
            raise self._failure(f"{unit} does not exist on this host: run with the tag store first")
        # A start by hand sets the counter to 0 again.
        self._baseline = state.restarts if self._baseline is None else min(self._baseline, state.restarts)
        crashed = state.restarts - self._baseline
        if crashed >= self._gate.tries:
            raise self._failure(f"{unit} ended {crashed} times and was started again each time: {state}")
        if state.active == "failed":
            raise self._failure(f"{unit} failed: {state}")
        if state.active == "inactive" and not state.job:
            raise self._failure(f"{unit} is stopped. Start it, or look why it does not start: systemctl status {unit}")

    def _check_listeners(self) -> None:
        self._rungs.append("listener")
        others = strangers(self._gate.address, self._gate.port, self._groups(self._state), self._proc)
        if others:
            raise self._failure(
                f"{', '.join(others)} listens on the port {self._gate.port} too and is no process of {self._gate.unit}:"
                " it gets a part of the requests. Stop that process, then run again"
            )

    def _failure(self, message: str) -> NotReady:
        try:
            lines = self._systemd.journal(self._gate.unit, self._state.invocation, lines=60)
        except SystemdError as error:
            lines = [str(error)]
        shown = [line.strip() for line in lines if line.strip()]
        if shown:
            message = f"{message}; last log lines: {' | '.join(shown[-_QUOTED:])}"
        return NotReady(self._rungs[-1], message, shown)
