# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests in flight: seats, tokens at a steady pace, drain and abort, and what the metrics count of it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum

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
    """What was finished: requests by reason, tokens, and (number, sum in seconds) of what is timed."""

    finished: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    generation_tokens: int = 0
    first_token_s: float = 0.0
    whole_s: float = 0.0


class Engine:
    """All sequences of all requests. `seats`: how many run at once; the others wait."""

    def __init__(self, seats: int, token_s: float) -> None:
        self._seats, self._token_s = seats, token_s
        self._changed = threading.Condition()
        self.state = State.RUNNING
        self.frozen = False
        self.running = self.waiting = 0
        self.counts = Counts()

    def generate(
        self, tokens: int, sequences: int, prompt_tokens: int, seconds: float | None, is_gone: Callable[[], bool]
    ) -> Iterator[int]:
        """The number of each token, when it is due: `tokens` of them for each of `sequences`, side by side.

        `seconds` is for all tokens; None is the engine's own pace. Raises Refused and EngineDead at once; the
        iterator, which has to be used, raises EngineDead and ClientGone.
        A request that was aborted is never answered: vLLM waits for its client to go away.
        """
        if self.state is State.DEAD:
            raise EngineDead
        if self.state is not State.RUNNING:
            raise Refused
        pace = self._token_s if seconds is None else seconds / max(tokens, 1)
        with self._changed:
            self.waiting += sequences
        return self._generate(tokens, sequences, prompt_tokens, pace, is_gone)

    def _generate(
        self, tokens: int, sequences: int, prompt_tokens: int, pace: float, is_gone: Callable[[], bool]
    ) -> Iterator[int]:
        began = time.monotonic()
        self._take_seats(sequences, is_gone)
        reason = "error"
        try:
            start, first = time.monotonic(), 0.0
            for number in range(tokens):
                self._sleep_until(start + pace * (number + 1), is_gone)
                first = first or time.monotonic() - began
                yield number
            reason = "length"
            with self._changed:
                self.counts.first_token_s += first * sequences
                self.counts.whole_s += (time.monotonic() - began) * sequences
        except (ClientGone, GeneratorExit):
            reason = "abort"
            raise
        finally:
            with self._changed:
                self.running -= sequences
                self.counts.finished[reason] += sequences
                if reason == "length":
                    self.counts.prompt_tokens += prompt_tokens
                    self.counts.generation_tokens += tokens * sequences
                self._changed.notify_all()

    def stop(self, timeout: float) -> int:
        """No new requests; those in flight get `timeout` seconds, 0 none. Returns how many sequences are left."""
        with self._changed:
            if self.state is State.RUNNING:
                self.state = State.DRAINING
            self._changed.wait_for(lambda: self.in_flight == 0 or self.state is State.DEAD, timeout)
            left = self.in_flight
            if self.state is State.DRAINING:
                self.state = State.ABORTED
            self._changed.notify_all()
        return left

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

    def _take_seats(self, sequences: int, is_gone: Callable[[], bool]) -> None:
        with self._changed:
            try:
                while self._stuck() or self.running + sequences > max(self._seats, sequences):
                    self._changed.wait(_LOOK)
                    self._check(is_gone)
                self.running += sequences
            finally:
                self.waiting -= sequences

    def _sleep_until(self, due: float, is_gone: Callable[[], bool]) -> None:
        while True:
            left = due - time.monotonic()
            stuck = self._stuck()
            with self._changed:
                if left > 0 or stuck:
                    self._changed.wait(_LOOK if stuck else min(left, _LOOK))
            self._check(is_gone)
            if due <= time.monotonic() and not self._stuck():
                return

    def _stuck(self) -> bool:
        return self.frozen or self.state is State.ABORTED

    def _check(self, is_gone: Callable[[], bool]) -> None:
        if self.state is State.DEAD:
            raise EngineDead
        if is_gone():
            raise ClientGone
