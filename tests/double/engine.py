# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests in flight: seats, tokens at a steady pace, drain and abort, and what the metrics count of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum

from .requests import Request

_LOOK = 0.2
"""Seconds after which a request looks again whether its client is still there."""


class State(Enum):
    """RUNNING takes requests; DRAINING finishes those it has; ABORTED has left them; DEAD has lost its processes."""

    RUNNING = "running"
    DRAINING = "draining"
    ABORTED = "aborted"
    DEAD = "dead"


class Refused(Exception):
    """A request that came while the engine was stopping."""


class EngineDead(Exception):
    """The engine died under a request."""


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


@dataclass
class Counts:
    """What was finished: sequences, tokens, and sums of seconds."""

    finished: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0
    first_token_s: float = 0.0
    whole_s: float = 0.0

    def add(self, sequences: int, prompt_tokens: int, tokens: int, first_token_s: float, whole_s: float) -> None:
        """One request; `tokens` and seconds are of each of its sequences."""
        self.finished += sequences
        self.prompt_tokens += prompt_tokens
        self.generation_tokens += tokens * sequences
        self.first_token_s += first_token_s * sequences
        self.whole_s += whole_s * sequences


class Engine:
    """All sequences of all requests. `seats`: how many run at once; the others wait."""

    def __init__(self, seats: int, token_s: float) -> None:
        self._seats, self._token_s = seats, token_s
        self._changed = threading.Condition()
        self.state = State.RUNNING
        self.frozen = False
        self.running = self.waiting = 0
        self.counts = Counts()

    def generate(self, request: Request, is_gone: Callable[[], bool]) -> Generator[int, None, None]:
        """The number of each token, when it is due: as many for each of the request's choices, side by side.

        Raises Refused and EngineDead at once; the generator, which has to be closed, raises EngineDead and ClientGone.
        A request that is aborted is never answered: vLLM waits for its client to go away. What was not finished is
        not counted, as with vLLM.
        """
        made = self._generate(request, is_gone)
        next(made)
        return made

    def _generate(self, request: Request, is_gone: Callable[[], bool]) -> Generator[int, None, None]:
        tokens, sequences = request.tokens, request.choices
        pace = self._token_s if request.seconds is None else request.seconds / tokens
        began, first = time.monotonic(), 0.0
        with self._changed:
            self._check(lambda: False)
            if self.state is not State.RUNNING:
                raise Refused
            self.waiting += sequences
        waiting, running = sequences, 0
        try:
            yield -1
            with self._changed:
                while self._stuck() or self.running + sequences > max(self._seats, sequences):
                    self._changed.wait(_LOOK)
                    self._check(is_gone)
                self.waiting, self.running = self.waiting - sequences, self.running + sequences
                waiting, running = 0, sequences
            self._sleep_until(began, is_gone, request.is_held)
            start = time.monotonic()
            for number in range(tokens):
                self._sleep_until(start + pace * (number + 1), is_gone)
                first = first or time.monotonic() - began
                yield number
            with self._changed:
                self.counts.add(sequences, request.prompt_tokens, tokens, first, time.monotonic() - began)
        finally:
            with self._changed:
                self.waiting, self.running = self.waiting - waiting, self.running - running
                self._changed.notify_all()

    def stop(self, timeout: float) -> None:
        """No new requests; those in flight get `timeout` seconds, 0 none."""
        with self._changed:
            if self.state is State.RUNNING:
                self.state = State.DRAINING
            self._changed.wait_for(lambda: self.in_flight == 0 or self.state is State.DEAD, timeout)
            if self.state is State.DRAINING:
                self.state = State.ABORTED
            self._changed.notify_all()

    def die(self) -> None:
        """What is in flight fails, and whatever comes."""
        with self._changed:
            self.state = State.DEAD
            self._changed.notify_all()

    def freeze(self) -> None:
        """Nothing moves any more."""
        with self._changed:
            self.frozen = True

    @property
    def in_flight(self) -> int:
        """Sequences that run or wait."""
        return self.running + self.waiting

    def _sleep_until(
        self, due: float, is_gone: Callable[[], bool], is_held: Callable[[], bool] = lambda: False
    ) -> None:
        while True:
            with self._changed:
                left, stuck = due - time.monotonic(), self._stuck() or is_held()
                if left > 0 or stuck:
                    self._changed.wait(_LOOK if stuck else min(left, _LOOK))
            self._check(is_gone)
            if left <= 0 and not stuck:
                return

    def _stuck(self) -> bool:
        return self.frozen or self.state is State.ABORTED

    def _check(self, is_gone: Callable[[], bool]) -> None:
        if self.state is State.DEAD:
            raise EngineDead
        if is_gone():
            raise ClientGone
