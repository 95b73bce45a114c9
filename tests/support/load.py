# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients of a fleet of doubles: the stock OpenAI client, which tries nothing twice, on the gateway's endpoint."""

from __future__ import annotations

import threading
import time
from collections import Counter
from types import TracebackType
from typing import Any, Self

from openai import APIError, OpenAI

from tests.support.fleet import until
from tests.support.serving import API_KEY, MODEL, PROMPT

CLIENTS = 24
SHORT_SECONDS = 0.5
TOKENS_PER_SECOND = 4
PATIENCE = 60.0
"""Seconds without a byte, after which a client gives up."""


class WrongAnswer(Exception):
    """An answer that is cut off, or made by more than one version."""


class Load:
    """Requests without a pause from `clients` at the same time, half of which stream; some streams last `long_seconds`.

    Every answer names the version of the weights that it was made with: `versions` counts them, `failures` has what
    came in place of an answer, and `failed` when those requests began, in seconds since 1970.
    """

    def __init__(self, url: str, *, clients: int = CLIENTS, long_clients: int = 10, long_seconds: float = 30) -> None:
        self.versions: Counter[str] = Counter()
        self.failures: list[str] = []
        self.failed: list[float] = []
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._api = OpenAI(base_url=url, api_key=API_KEY, max_retries=0, timeout=PATIENCE)
        lengths = [SHORT_SECONDS] * (clients // 2 - long_clients) + [long_seconds] * long_clients
        calls: list[tuple[bool, float]] = [(False, SHORT_SECONDS)] * (clients // 2) + [(True, each) for each in lengths]
        self._threads = [threading.Thread(target=self._work, args=call) for call in calls]

    @property
    def requests(self) -> int:
        """How many have ended."""
        return self.versions.total() + len(self.failures)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for the answers that are due."""
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def reach(self, requests: int) -> None:
        """Waits until that many have ended."""
        until(lambda: self.requests >= requests, 300, f"{requests} requests have ended")

    def _work(self, stream: bool, seconds: float) -> None:
        while not self._ending.is_set():
            began = time.time()
            try:
                version = self._stream(seconds) if stream else self._whole(seconds)
            except (APIError, WrongAnswer) as error:
                with self._lock:
                    self.failures.append(f"{type(error).__name__}: {error}")
                    self.failed.append(began)
                self._ending.wait(0.2)
            else:
                with self._lock:
                    self.versions[version] += 1

    def _whole(self, seconds: float) -> str:
        answer = self._api.completions.create(**_asked(seconds))
        return _version(answer.choices[0].text, answer.choices[0].finish_reason)

    def _stream(self, seconds: float) -> str:
        text, reason = "", None
        for chunk in self._api.completions.create(**_asked(seconds), stream=True):
            text, reason = text + chunk.choices[0].text, chunk.choices[0].finish_reason
        return _version(text, reason, tokens=_tokens(seconds))


def _asked(seconds: float) -> dict[str, Any]:
    more = {"double_seconds": seconds}
    return {"model": MODEL, "prompt": PROMPT, "max_tokens": _tokens(seconds), "extra_body": more}


def _tokens(seconds: float) -> int:
    return round(seconds * TOKENS_PER_SECOND)


def _version(text: str, reason: str | None, tokens: int = _tokens(SHORT_SECONDS)) -> str:
    """The version that an answer names with each of its tokens. Raises WrongAnswer."""
    words = text.split()
    if len(words) != tokens or len(set(words)) != 1 or reason != "length":
        raise WrongAnswer(f"{len(words)} of {tokens} tokens, of {sorted(set(words))}, and the end {reason}")
    return words[0]
