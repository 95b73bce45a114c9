# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams, refusals and requests that are given up: the double as vLLM 0.32. The last test ends the server."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from tests.support.engine_requests import (
    CHAT,
    COMPLETION,
    events_of,
    finished,
    send_slow,
    token_of,
    wait_for_slow,
)
from tests.support.running_engine import NAMES, STOP, RunningEngine

EVENTS = "text/event-stream; charset=utf-8"
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."


def test_several_prompts_and_choices(served: RunningEngine) -> None:
    data = served.ask("POST", "/v1/completions", {**COMPLETION, "prompt": ["the", "quick"]}).json()
    assert [choice["index"] for choice in data["choices"]] == [0, 1]
    assert data["usage"]["completion_tokens"] == 8
    data = served.ask("POST", "/v1/completions", {**COMPLETION, "n": 3, "temperature": 1.0, "ignore_eos": True}).json()
    assert [choice["index"] for choice in data["choices"]] == [0, 1, 2]


@pytest.mark.parametrize("usage", [False, True])
def test_a_streamed_completion(served: RunningEngine, usage: bool) -> None:
    asked = {**COMPLETION, "stream": True, **({"stream_options": {"include_usage": True}} if usage else {})}
    answer = served.ask("POST", "/v1/completions", asked)
    assert (answer.headers["content-type"], answer.headers["transfer-encoding"]) == (EVENTS, "chunked")
    *events, done = events_of(answer.body)
    assert done == "[DONE]"
    chunks = [json.loads(event) for event in events]
    assert len({(chunk["id"], chunk["object"], chunk["model"]) for chunk in chunks}) == 1
    assert (chunks[0]["object"], chunks[0]["model"]) == ("text_completion", NAMES[0])
    if usage:
        last = chunks.pop()
        assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 4)
    assert "usage" not in chunks[-1]
    texts = [(chunk["choices"][0]["text"], chunk["choices"][0]["finish_reason"]) for chunk in chunks]
    # Tokens that are made while one is sent come together.
    assert "".join(text for text, _ in texts) == 4 * token_of(served)
    assert {reason for _, reason in texts[:-1]} <= {None} and texts[-1][1] == "length"


def test_a_streamed_chat(served: RunningEngine) -> None:
    *events, done = events_of(served.ask("POST", "/v1/chat/completions", {**CHAT, "stream": True}).body)
    chunks = [json.loads(event) for event in events]
    assert (done, {chunk["object"] for chunk in chunks}) == ("[DONE]", {"chat.completion.chunk"})
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta["content"] for delta in deltas[1:]) == 4 * token_of(served)
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks][-1] == "length"


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [False, True])
def test_another_model_is_not_found(served: RunningEngine, path: str, stream: bool) -> None:
    asked = {**(CHAT if "chat" in path else COMPLETION), "model": "another", "stream": stream}
    answer = served.ask("POST", path, asked)
    assert answer.status == 404
    message = f"The model `another` does not exist. Valid aliases: {', '.join(NAMES)}."
    assert answer.json() == {"error": {"message": message, "type": "NotFoundError", "param": "model", "code": 404}}


@pytest.mark.parametrize(
    ("path", "data", "kind", "param"),
    [
        ("/v1/completions", {**COMPLETION, "max_tokens": 10000}, "BadRequestError", "max_tokens"),
        ("/v1/completions", {"model": NAMES[0]}, "BadRequestError", "prompt"),
        ("/v1/completions", b"{bad", "Bad Request", "body.1"),
        ("/v1/chat/completions", {"model": NAMES[0]}, "Bad Request", "body.messages"),
    ],
)
def test_requests_that_are_wrong(served: RunningEngine, path: str, data: Any, kind: str, param: str) -> None:
    answer = served.ask("POST", path, data)
    error = answer.json()["error"]
    assert (answer.status, error["type"], error["param"], error["code"]) == (400, kind, param, 400)


def test_only_json_is_read(served: RunningEngine) -> None:
    assert served.ask("POST", "/v1/completions", COMPLETION, headers={"Content-Type": "text/plain"}).status == 400
    assert served.ask("POST", "/v1/completions", {**COMPLETION, "no_such_field": 1}).status == 200


def test_an_answer_that_nobody_waits_for_is_given_up(served: RunningEngine) -> None:
    before = finished(served)
    connection = send_slow(served, stream=True)
    wait_for_slow(served, 1)
    connection.close()
    wait_for_slow(served, 0)
    assert finished(served) == before, "it was finished for nobody"


def test_an_engine_that_dies_takes_its_requests_along_and_the_server_ends_with_0(served: RunningEngine) -> None:
    """A stop that signals all processes of a unit does this to a drain: a worker ends at SIGTERM."""
    (worker,) = served.children("VLLM::Worker")
    whole, streamed = (send_slow(served, stream) for stream in (False, True))
    wait_for_slow(served, 2)
    os.kill(worker, signal.SIGTERM)
    answer = whole.getresponse()
    error = {"message": DEAD, "type": "InternalServerError", "param": None, "code": 500}
    assert (answer.status, json.loads(answer.read())) == (500, {"error": error})
    *_, last, done = events_of(streamed.getresponse().read())
    assert (json.loads(last), done) == ({"error": error}, "[DONE]")
    assert served.status("/health") in (503, None)
    assert served.process.wait(STOP) == 0
