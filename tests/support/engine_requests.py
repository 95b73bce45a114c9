# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to an engine, and what is read out of its answers."""

from __future__ import annotations

import http.client

from tests.support.running_engine import NAMES, PROMPT, SEQUENCES, STOP, RunningEngine

COMPLETION = {"model": NAMES[0], "prompt": PROMPT, "max_tokens": 4, "temperature": 0}
CHAT = {"model": NAMES[0], "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 4, "temperature": 0}


def send_slow(running: RunningEngine, stream: bool) -> http.client.HTTPConnection:
    """A request that lasts, on a connection of its own."""
    connection = running.connect(STOP)
    running.send(connection, "POST", "/v1/completions", running.slow(stream=stream))
    return connection


def wait_for_slow(running: RunningEngine, requests: int) -> None:
    """Until so many slow requests are in flight, and nothing else."""
    running.wait_for(lambda: sum(running.in_flight()) == requests * SEQUENCES, "the requests are in flight")


def events_of(body: bytes) -> list[str]:
    """The data of the events of a whole stream."""
    *events, rest = body.decode().split("\n\n")
    assert rest == "" and all(event.startswith("data: ") for event in events), body[-300:]
    return [event.removeprefix("data: ") for event in events]


def finished(served: RunningEngine) -> dict[str, float]:
    """How many sequences were finished, by reason. vLLM does not count those that it gave up."""
    return {name: count for name, count in served.metrics().items() if "request_success_total" in name}


def token_of(served: RunningEngine) -> str:
    """What the model says again and again: tiny-qwen2 a word, the double the version of its weights."""
    return " brown" if served.kind == "vllm" else " v1"
