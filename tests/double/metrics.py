# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answer of /metrics: every metric that vllm.md names, with vLLM's labels. What is not counted here stays 0."""

from __future__ import annotations

from .engine import Counts, Engine

_REASONS = ("stop", "length", "abort", "error", "repetition")
_IDLE = ("num_preemptions", "prefix_cache_queries", "prefix_cache_hits")
_HISTOGRAMS = (
    "time_to_first_token_seconds", "inter_token_latency_seconds", "e2e_request_latency_seconds",
    "request_queue_time_seconds", "request_prefill_time_seconds", "request_decode_time_seconds",
    "request_prompt_tokens", "request_generation_tokens",
)  # fmt: skip


def exposition(engine: Engine, model: str) -> str:
    """The text that Prometheus reads. `model`: the first of the served names."""
    labels, counts = f'engine="0",model_name="{model}"', engine.counts
    gauges: dict[str, dict[str, float]] = {
        "num_requests_running": {labels: engine.running},
        "num_requests_waiting": {labels: engine.waiting},
        "kv_cache_usage_perc": {labels: 0},
        "engine_sleep_state": {
            f'{labels},sleep_state="{state}"': float(state == "awake")
            for state in ("awake", "weights_offloaded", "discard_all")
        },
    }
    counters: dict[str, dict[str, float]] = {
        "request_success": {
            f'engine="0",finished_reason="{reason}",model_name="{model}"': counts.finished if reason == "length" else 0
            for reason in _REASONS
        },
        "prompt_tokens": {labels: counts.prompt_tokens},
        "generation_tokens": {labels: counts.generation_tokens},
        **{name: {labels: 0} for name in _IDLE},
        "admission_rejections": {
            f'model_name="{model}",reason="{reason}"': 0 for reason in ("max_num_queued_reqs", "max_num_queued_tokens")
        },
    }
    lines = [line for name, values in gauges.items() for line in _family(name, "gauge", values)]
    lines += [line for name, values in counters.items() for line in _family(f"{name}_total", "counter", values)]
    for name in _HISTOGRAMS:
        number, total = counts.finished, _sum(name, counts)
        lines += [
            *_family(name, "histogram", {}),
            f'vllm:{name}_bucket{{engine="0",le="+Inf",model_name="{model}"}} {float(number)}',
            f"vllm:{name}_count{{{labels}}} {float(number)}",
            f"vllm:{name}_sum{{{labels}}} {float(total)}",
        ]
    return "\n".join([*lines, ""])


def _family(name: str, kind: str, values: dict[str, float]) -> list[str]:
    samples = [f"vllm:{name}{{{labels}}} {float(value)}" for labels, value in values.items()]
    return [f"# HELP vllm:{name} As in vLLM.", f"# TYPE vllm:{name} {kind}", *samples]


def _sum(name: str, counts: Counts) -> float:
    return {
        "time_to_first_token_seconds": counts.first_token_s,
        "e2e_request_latency_seconds": counts.whole_s,
        "request_prompt_tokens": counts.prompt_tokens,
        "request_generation_tokens": counts.generation_tokens,
    }.get(name, 0.0)
