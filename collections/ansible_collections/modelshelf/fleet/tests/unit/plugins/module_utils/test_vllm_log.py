# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_log import explain, scrub, tail

CONFIG = "(EngineCore pid=7) INFO 11-29 23:10:24 [core.py:133] Initializing with config: tensor_parallel_size=1, GPU"
GENERIC = (
    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}"
)
ERROR = "(Worker pid=20279) ERROR 11-29 23:07:49 [multiproc_executor.py:953] "


# What vLLM 0.32.0 wrote.
@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("modelshelf: weights are not mounted: /srv/w is not a mount point", "the weights are not there"),
        (
            "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name'",
            "took its path for a hub",
        ),
        ("  Value error, Invalid repository ID or local directory specified: '/m/empty'.", "has no config.json"),
        (ERROR + "RuntimeError: Cannot find any model weights with `/m/noweights`", "has no weight files"),
        (ERROR + "FileNotFoundError: Weight files referenced in index but missing: {'/m/x'}", "shard that the index"),
        (ERROR + "SafetensorError: Error while deserializing header: incomplete metadata", "truncated or empty"),
        (ERROR + "SafetensorError: Error while deserializing header: header too small", "truncated or empty"),
        ("ValueError: Couldn't instantiate the backend tokenizer from one of:", "no usable tokenizer"),
        ("OSError: [Errno 98] Address already in use", "another process listens"),
        ("RuntimeError: Insufficient space in /dev/shm", "/dev/shm is too small"),
        ("FileNotFoundError: [Errno 2] No usable temporary directory found in ['/tmp']", "no writable temporary"),
        ("ValueError: Unsupported CPU attention configuration: head_dim=48", "head size"),
        ("vllm: error: unrecognized arguments: --not-an-option", "does not know an argument"),
        ("  Value error, User-specified max_model_len (99) is greater than the derived", "max-model-len is larger"),
        (
            ERROR + "ValueError: Available memory on node 0 (6.91/8.46 GiB) on startup is less than desired",
            "less memory",
        ),
        (
            "  Value error, Total number of attention heads (2) must be divisible by tensor",
            "refuses this configuration",
        ),
        ("OSError: [Errno 30] Read-only file system: '/root/.cache'", "may not write"),
        ("ImportError: libnuma.so.1: cannot open shared object file: No such file", "system library that the engine"),
        ("ImportError: libcuda.so.1: cannot open shared object file: No such file", "no usable device"),
        ("OSError: [Errno 5] Input/output error", "store does not answer"),
    ],
)
def test_causes_are_found_above_the_generic_end(line: str, what: str) -> None:
    cause = explain(["starting", CONFIG, line, CONFIG, "Traceback (most recent call last):", GENERIC])
    assert cause is not None
    assert what in cause.what
    assert cause.line in line
    assert "pid=" not in cause.line


def test_the_last_cause_counts_and_a_known_one_more_than_a_general_one() -> None:
    lines = ["OSError: [Errno 98] Address already in use", "Error while deserializing header: x", "Permission denied"]
    found = explain(lines)
    assert found is not None
    assert found.what == "a weight file is truncated or empty"


def test_lines_that_only_tell_are_no_cause() -> None:
    warning = "(APIServer pid=1) WARNING 11-29 23:07:03 [x.py:2] OSError: [Errno 13] Permission denied"
    assert explain([CONFIG, warning, GENERIC]) is None
    assert explain([]) is None


@pytest.mark.parametrize(
    "line",
    [
        "non-default args: {'api_key': ['canary'], 'port': 8000}",
        "vllm serve --api-key canary --port 8000",
        "vllm serve --api_key=canary",
        '{"api-key": "canary"}',
        "Authorization: Bearer canary",
        "exec: canary",
    ],
)
def test_a31_secrets_are_not_in_what_is_shown(line: str) -> None:
    secrets = ("canary",) if line.startswith("exec") else ()
    assert "canary" not in scrub(line, secrets)
    assert "8000" in scrub(line) or "8000" not in line
    assert "canary" not in "".join(tail([line], secrets=secrets))


@given(st.text(min_size=1), st.text(), st.text())
def test_a_secret_never_survives(secret: str, before: str, after: str) -> None:
    rest = scrub(before + secret + after, [secret])
    assert secret not in rest.replace("***", "") or secret in "***"


def test_a_cause_is_scrubbed_and_short() -> None:
    found = explain(["OSError: [Errno 98] Address already in use key=canary " + "x" * 2000], ["canary"])
    assert found is not None
    assert "canary" not in found.line
    assert len(found.line) <= 400


def test_tail_leaves_out_what_can_be_or_was_asked_for() -> None:
    route = "(APIServer pid=58) INFO 11-29 23:35:56 [launcher.py:195] Route: /v1/responses, Methods: POST"
    lines = ["one", "", route, 'INFO:     127.0.0.1:54866 - "GET /v1/models HTTP/1.1" 200 OK', "\x1b[31mtwo\x1b[0m"]
    assert tail(lines) == ["one", "two"]
    assert tail(lines, 1) == ["two"]
