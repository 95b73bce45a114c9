# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate: proof, rung by rung, that a unit serves exactly one version of a model. Standard library, Python 3.9.

It only looks. What cannot become right by waiting ends it at once, with the cause from the log of this run.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ansible_collections.modelshelf.fleet.plugins.module_utils._listeners import foreign
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, SystemdError, UnitState
from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_http import (
    Answer,
    NoAnswer,
    Server,
    cards,
    completion_text,
    roots_of,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_log import explain, scrub, tail
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import WeightsFault
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_files import read_inside

_PATIENCE = 10.0
"""Seconds for one look: a connection, a short answer."""

_QUOTED = 5
"""Log lines in a message."""


@dataclass(frozen=True)
class Gate:
    """What must be true. Times are in seconds: `timeout` for all waiting, `completion_timeout` for the completion."""

    unit: str
    address: str
    port: int
    served_names: tuple[str, ...]
    root: str
    api_key: str = field(default="", repr=False)
    prompt: str = "the quick brown"
    max_tokens: int = 8
    timeout: float = 1800.0
    completion_timeout: float = 60.0
    interval: float = 1.0
    user: str = ""


@dataclass(frozen=True)
class Served:
    """A gate that was passed. `seconds`: how long it took."""

    completion: str
    model: str
    root: str
    seconds: float
    rungs: tuple[str, ...]


class GateFailure(Exception):
    """A rung that did not hold. `log`: the last lines of the unit, without secrets."""

    def __init__(self, rung: str, message: str, log: list[str]) -> None:
        super().__init__(message)
        self.rung, self.log = rung, log


class Ladder:
    """One climb of the gate's rungs."""

    def __init__(
        self,
        gate: Gate,
        systemd: Systemd,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        proc: str = "/proc",
    ) -> None:
        self._gate, self._systemd = gate, systemd
        self._clock, self._sleep, self._proc = clock, sleep, proc
        self._server = Server(gate.address, gate.port, gate.api_key)
        self._start = clock()
        self._first: UnitState | None = None
        self._last: UnitState | None = None
        self._rungs: list[str] = []

    def climb(self, *, complete: bool = True) -> Served:
        """All rungs in order; `complete` False leaves out the completion, the one thing that makes the server work.

        Raises GateFailure at the first rung that does not hold, SystemdError when systemd cannot be asked.
        """
        gate = self._gate
        self._wait("unit", lambda: True, lambda: f"the unit was still {self._last}")
        self._wait("port", lambda: self._server.is_open(_PATIENCE), lambda: f"the port {self._server} was still closed")
        self._check_listeners()
        self._wait_for("health", "/health", lambda answer: None)
        self._wait_for("models", "/v1/models", self._check_models)
        completion = self._complete() if complete and gate.prompt else ""
        # A server that streams its weights has no directory: its root is a URL.
        if gate.root.startswith("/"):
            self._check_weights()
        self._check_unchanged()
        seconds = round(self._clock() - self._start, 1)
        return Served(completion, gate.served_names[0], gate.root, seconds, tuple(dict.fromkeys(self._rungs)))

    def _wait(self, rung: str, holds: Callable[[], bool], missing: Callable[[], str]) -> None:
        self._rungs.append(rung)
        while True:
            # The unit is looked at before each try: a crash ends the wait, and the log is that of the run that crashed.
            if self._running() and holds():
                return
            if self._clock() - self._start >= self._gate.timeout:
                raise self._failure(f"after {self._gate.timeout:g} s {missing()}", quote=True)
            self._sleep(self._gate.interval)

    def _wait_for(self, rung: str, path: str, judge: Callable[[Answer], None]) -> None:
        seen = "nothing"

        def holds() -> bool:
            nonlocal seen
            try:
                answer = self._server.get(path, _PATIENCE)
            except NoAnswer as error:
                seen = str(error)
                return False
            seen = f"{answer.status} {answer.excerpt()}"
            self._check_allowed(answer, path)
            if answer.status == 200:
                judge(answer)
                return True
            if answer.status < 500:
                raise self._failure(f"{self._server}{path}: expected 200, found {seen}. This is no vLLM server")
            return False

        self._wait(rung, holds, lambda: f"{self._server}{path} still did not answer 200, but: {seen}")

    def _running(self) -> UnitState | None:
        """The state of the unit when it runs, None when it may yet. Raises GateFailure when it will not."""
        unit, state = self._gate.unit, self._systemd.state(self._gate.unit)
        # A start by hand sets the counter to 0 again.
        baseline = state.restarts if self._first is None else min(state.restarts, self._first.restarts)
        self._first = replace(state, restarts=baseline)
        if not state.exists:
            raise self._failure(f"{unit} does not exist on this host: write its units first (tag serve)")
        if state.restarts > baseline:
            raise self._crash(f"{unit} crashed and was started again: {state}")
        self._last = state
        if state.active == "failed" or state.sub == "auto-restart":
            raise self._crash(f"{unit} crashed: {state}")
        if state.active == "inactive" and not state.job:
            raise self._crash(f"{unit} is stopped. Start it")
        return state if state.is_active else None

    def _check_listeners(self) -> None:
        self._rungs.append("listener")
        if strangers := self._strangers():
            raise self._failure(f"{strangers} Stop that process, then run again")

    def _strangers(self) -> str:
        """Who else listens on the port and what it serves, as sentences; empty when nobody does."""
        gate, state = self._gate, self._last
        others = ", ".join(foreign(gate.address, gate.port, state.control_group if state else "", self._proc))
        if not others:
            return ""
        older = ", ".join(sorted(roots_of(self._server, _PATIENCE) - {gate.root}))
        served = f" An older server answers on this port: root is {older}, expected {gate.root}." if older else ""
        return f"{others} listens on {self._server} and is no process of {gate.unit}.{served}"

    def _check_allowed(self, answer: Answer, path: str) -> None:
        if answer.status in (401, 403):
            given = "the API key that was given" if self._gate.api_key else "a request without API key"
            raise self._failure(
                f"{self._server}{path}: {answer.status}: the server refuses {given}."
                " Its environment has another key: start it again with this one, or correct the key"
            )

    def _check_models(self, answer: Answer) -> None:
        gate = self._gate
        # Adapters name the model that they belong to; what counts here is the model itself.
        served = [card for card in cards(answer) if card.get("parent") not in gate.served_names]
        ids, roots = sorted(str(card.get("id")) for card in served), {str(card.get("root")) for card in served}
        if ids != sorted(set(gate.served_names)):
            names = ", ".join(sorted(gate.served_names))
            raise self._failure(
                f"{self._server} serves the names {', '.join(ids) or '(none)'}, expected {names}:"
                f" another server answers, or {gate.unit} was not started again"
            )
        if roots != {gate.root}:
            raise self._failure(
                f"an older server answers on this port ({self._server}): root is {', '.join(sorted(roots))},"
                f" expected {gate.root}. Start {gate.unit} again with its current generation"
            )

    def _complete(self) -> str:
        gate = self._gate
        self._rungs.append("completion")
        path, name = "/v1/completions", gate.served_names[0]
        request = {"model": name, "prompt": gate.prompt, "max_tokens": gate.max_tokens, "temperature": 0}
        try:
            answer = self._server.post(path, request, gate.completion_timeout)
        except NoAnswer as error:
            self._running()
            raise self._crash(f"no completion within {gate.completion_timeout:g} s: {error}") from None
        self._check_allowed(answer, path)
        text = completion_text(answer)
        if answer.status != 200 or text is None:
            raise self._failure(f"{path}: expected 200 with a text, found {answer.status} {answer.excerpt()}")
        return text

    def _check_weights(self) -> None:
        self._rungs.append("weights")
        gate, pid = self._gate, self._last.main_pid if self._last else 0
        place = posixpath.join(gate.root, MANIFEST_PATH)
        try:
            read_inside(pid, place, user=gate.user, timeout=gate.completion_timeout, proc=self._proc)
        except WeightsFault as fault:
            raise self._failure(f"{place} cannot be read inside {gate.unit} (pid {pid}): {fault}") from None

    def _check_unchanged(self) -> None:
        self._rungs.append("unit")
        before, now = self._last, self._running()
        if before and (now is None or now.invocation != before.invocation):
            raise self._crash(f"{self._gate.unit} was restarted while it was being checked: {now}")
        self._check_listeners()

    def _failure(self, message: str, *, quote: bool = False, explained: bool = False) -> GateFailure:
        secrets = (self._gate.api_key,)
        try:
            lines = self._systemd.journal(self._gate.unit, self._last.invocation if self._last else "")
        except SystemdError as error:
            lines = [str(error)]
        cause, shown = explain(lines, secrets) if explained else None, tail(lines, secrets=secrets)
        if cause:
            message = f"{message.rstrip('.')}. Cause: {cause}"
        elif quote and shown:
            message = f"{message}; last log lines: {' | '.join(shown[-_QUOTED:])}"
        return GateFailure(self._rungs[-1], scrub(f"{self._rungs[-1]}: {message}", secrets), shown)

    def _crash(self, message: str) -> GateFailure:
        """A failure that the log of this run explains, or at least accompanies, and who holds the port."""
        return self._failure("; ".join(filter(None, [message, self._strangers()])), quote=True, explained=True)
