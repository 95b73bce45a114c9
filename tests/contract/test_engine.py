# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a running server answers: the double as vLLM 0.32. One server for all of it; the last test stops it."""

from __future__ import annotations

import http.client
import threading
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_http import (
    Answer,
    Server,
    cards,
    completion_text,
    roots_of,
)
from tests.support.engine_requests import CHAT, COMPLETION, events_of, token_of, wait_for_slow
from tests.support.engines import DRAIN
from tests.support.running_engine import NAMES, SEQUENCES, STOP, Reply, RunningEngine


def test_health_and_version(served: RunningEngine) -> None:
    for method, path in (("GET", "/health"), ("GET", "/ping"), ("POST", "/ping")):
        answer = served.ask(method, path, key=None)
        assert (answer.status, answer.body) == (200, b""), path
    assert served.ask("GET", "/version", key=None).json() == {"version": "0.32.0"}


def test_models_have_the_served_names_and_the_path_as_it_was_passed(served: RunningEngine) -> None:
    answer = served.ask("GET", "/v1/models")
    data = answer.json()["data"]
    assert [(card["id"], card["root"], card["parent"]) for card in data] == [(n, served.model, None) for n in NAMES]
    assert {(card["object"], card["owned_by"], card["max_model_len"]) for card in data} == {("model", "vllm", 256)}
    # What the gate makes of it.
    assert [card["root"] for card in cards(Answer(answer.status, answer.body))] == [served.model, served.model]
    assert roots_of(Server("127.0.0.1", served.port, served.api_key), 10) == {served.model}


@pytest.mark.parametrize(
    ("method", "path", "without", "with_key"),
    [
        ("GET", "/health", 200, 200),
        ("GET", "/ping", 200, 200),
        ("GET", "/version", 200, 200),
        ("GET", "/metrics", 200, 200),
        ("GET", "/nosuch", 404, 404),
        ("GET", "/v1/models", 401, 200),
        ("GET", "/v1/nosuch", 401, 404),
        ("POST", "/v1/completions", 401, 400),
        ("POST", "/v1/chat/completions", 401, 400),
        ("GET", "/v1/completions", 401, 405),
        ("OPTIONS", "/v1/models", 405, 405),
        ("POST", "/health", 405, 405),
    ],
)
def test_what_the_key_covers(served: RunningEngine, method: str, path: str, without: int, with_key: int) -> None:
    data: Any = {} if method == "POST" else None
    found = [served.ask(method, path, data, key=key).status for key in (None, "wrong", served.api_key)]
    assert found == [without, without, with_key]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "bearer {}"}, 200),
        ({"Authorization": "{}"}, 401),
        ({"Authorization": "Basic {}"}, 401),
        ({"X-API-Key": "{}"}, 401),
    ],
)
def test_how_a_key_is_given(served: RunningEngine, headers: dict[str, str], status: int) -> None:
    given = {name: text.format(served.api_key) for name, text in headers.items()}
    answer = served.ask("GET", "/v1/models", key=None, headers=given)
    assert answer.status == status
    assert status == 200 or answer.json() == {"error": "Unauthorized"}


@pytest.mark.parametrize("name", [*NAMES, None])
def test_a_completion(served: RunningEngine, name: str | None) -> None:
    answer = served.ask(
        "POST", "/v1/completions", {key: name if key == "model" else COMPLETION[key] for key in COMPLETION}
    )
    data = answer.json()
    assert (answer.status, data["object"], data["model"]) == (200, "text_completion", NAMES[0])
    assert data["id"].startswith("cmpl-")
    assert data["usage"]["completion_tokens"] == 4
    assert data["usage"]["total_tokens"] == data["usage"]["prompt_tokens"] + 4
    (choice,) = data["choices"]
    assert (choice["index"], choice["finish_reason"]) == (0, "length")
    assert choice["text"] == 4 * token_of(served)
    assert completion_text(Answer(answer.status, answer.body)) == choice["text"]


def test_a_chat(served: RunningEngine) -> None:
    data = served.ask("POST", "/v1/chat/completions", CHAT).json()
    assert (data["object"], data["model"], data["id"][:9]) == ("chat.completion", NAMES[0], "chatcmpl-")
    (choice,) = data["choices"]
    assert (choice["message"]["role"], choice["message"]["content"]) == ("assistant", 4 * token_of(served))
    assert (choice["finish_reason"], data["usage"]["completion_tokens"]) == ("length", 4)
    shorter = {**{key: CHAT[key] for key in CHAT if key != "max_tokens"}, "max_completion_tokens": 2}
    data = served.ask("POST", "/v1/chat/completions", shorter).json()
    assert data["choices"][0]["message"]["content"] == 2 * token_of(served)


def test_both_have_the_same_fields(served: RunningEngine) -> None:
    """Recorded from vLLM 0.32.0."""
    common = "id object created model choices service_tier system_fingerprint usage metrics"
    common += " kv_transfer_params ec_transfer_params"
    data = served.ask("POST", "/v1/completions", COMPLETION).json()
    assert set(data) == set(common.split())
    fields = "index text logprobs finish_reason stop_reason token_ids prompt_logprobs prompt_token_ids routed_experts"
    assert set(data["choices"][0]) == set(fields.split())
    data = served.ask("POST", "/v1/chat/completions", CHAT).json()
    assert set(data) == {*common.split(), "prompt_logprobs", "prompt_token_ids", "prompt_text"}
    fields = "index message logprobs finish_reason stop_reason token_ids routed_experts"
    assert set(data["choices"][0]) == set(fields.split())


def test_a_connection_is_kept_open(served: RunningEngine) -> None:
    connection = served.connect()
    seen = []
    for path in ("/health", "/version", "/v1/models"):
        served.send(connection, "GET", path)
        answer = connection.getresponse()
        answer.read()
        seen.append((answer.status, connection.sock))
    assert [status for status, _ in seen] == [200, 200, 200]
    assert seen[0][1] is seen[1][1] is seen[2][1] is not None
    connection.close()


METRICS = {
    "gauge": "num_requests_running num_requests_waiting kv_cache_usage_perc engine_sleep_state",
    "counter": "request_success_total prompt_tokens_total generation_tokens_total num_preemptions_total"
    " prefix_cache_queries_total prefix_cache_hits_total admission_rejections_total",
    "histogram": "time_to_first_token_seconds inter_token_latency_seconds e2e_request_latency_seconds"
    " request_queue_time_seconds request_prefill_time_seconds request_decode_time_seconds"
    " request_prompt_tokens request_generation_tokens",
}


def test_metrics_have_their_names(served: RunningEngine) -> None:
    answer = served.ask("GET", "/metrics", key=None)
    assert answer.headers["content-type"] == "text/plain; version=1.0.0; charset=utf-8"
    types = dict(line.split(" ")[2:] for line in answer.body.decode().splitlines() if line.startswith("# TYPE "))
    for kind, names in METRICS.items():
        assert {name: types.get(f"vllm:{name}") for name in names.split()} == dict.fromkeys(names.split(), kind)
    labels = f'{{engine="0",model_name="{NAMES[0]}"}}'
    samples = served.metrics()
    for name in ("num_requests_running", "num_requests_waiting", "request_prompt_tokens_count"):
        assert f"vllm:{name}{labels}" in samples


def test_metrics_count_what_was_answered(served: RunningEngine) -> None:
    finished = f'vllm:request_success_total{{engine="0",finished_reason="length",model_name="{NAMES[0]}"}}'
    tokens = f'vllm:generation_tokens_total{{engine="0",model_name="{NAMES[0]}"}}'
    before = served.metrics()
    used = served.ask("POST", "/v1/completions", COMPLETION).json()["usage"]
    prompted = f'vllm:prompt_tokens_total{{engine="0",model_name="{NAMES[0]}"}}'
    wanted = {finished: 1, tokens: 4, prompted: used["prompt_tokens"]}

    def counted() -> bool:
        after = served.metrics()
        return {name: after[name] - before[name] for name in wanted} == wanted

    served.wait_for(counted, "the request is counted")


def test_sigterm_finishes_what_is_in_flight_and_refuses_the_rest(served: RunningEngine) -> None:
    """Last: it stops the server. Until its end /health says 200, which is why a gateway has to be told first."""
    answers: dict[bool, Reply] = {}

    def ask(stream: bool) -> None:
        answers[stream] = served.ask("POST", "/v1/completions", served.slow(stream=stream), timeout=DRAIN)

    asking = [threading.Thread(target=ask, args=(stream,)) for stream in (False, True)]
    for thread in asking:
        thread.start()
    wait_for_slow(served, 2)
    served.terminate()
    served.wait_for(lambda: served.ask("POST", "/v1/completions", COMPLETION).status == 500, "requests are refused")
    refused = served.ask("POST", "/v1/completions", COMPLETION)
    message = "cannot schedule new futures after shutdown"
    error = {"message": message, "type": "InternalServerError", "param": None, "code": 500}
    assert (refused.status, refused.json()) == (500, {"error": error})
    assert (served.status("/health"), served.status("/v1/models"), served.status("/metrics")) == (200, 200, 200)
    assert len(answers) < 2, "nothing was in flight any more: this shows nothing"
    served.let_go()
    for thread in asking:
        thread.join(DRAIN)
    whole, streamed = answers[False], answers[True]
    choices = whole.json()["choices"]
    assert (whole.status, len(choices), {choice["finish_reason"] for choice in choices}) == (200, SEQUENCES, {"length"})
    assert (streamed.status, events_of(streamed.body)[-1]) == (200, "[DONE]")
    assert streamed.body.count(b'"finish_reason":"length"') == SEQUENCES
    assert served.process.wait(STOP) == 0
    with pytest.raises((OSError, http.client.HTTPException)):
        served.ask("GET", "/health")
    for words in ("API server: shutdown triggered", f"mode=drain timeout={DRAIN}s", "draining in-flight requests"):
        assert words in served.log
