# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts that fail: exit status, and the text from which the diagnosis (_vllm_log) tells the cause."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_log import explain
from lab.settings import CACHE
from tests.double.crashes import CRASHES
from tests.support.engines import MODEL, engine, kinds, make_model
from tests.support.running_engine import READY

GENERIC = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {"
"""Then those that have ended by then: some, or none."""


def last_words(kind: str, model: Path | None = None, *, status: int = 1, **options: object) -> list[str]:
    """The log of a server that must not start."""
    environment = {"DOUBLE_CRASH": str(options.pop("crash"))} if "crash" in options else {}
    with engine(kind, model=model, environment=environment, **options) as running:
        assert running.process.wait(READY) == status, running.log
        running.wait_gone()
        return running.log.splitlines()


def cause(lines: list[str]) -> str:
    """What the diagnosis makes of a log."""
    found = explain(lines)
    assert found, lines
    return found.what


@pytest.mark.parametrize("kind", kinds())
def test_no_directory_is_the_servers_own_error(kind: str, tmp_path: Path) -> None:
    lines = last_words(kind, tmp_path / "none")
    assert "does not exist or its mount is dead" in cause(lines)
    assert "HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name'" in lines[-1]


@pytest.mark.parametrize("kind", kinds())
def test_a_truncated_shard_is_a_workers_error_above_a_generic_one(kind: str, tmp_path: Path) -> None:
    model = tmp_path / "model"
    if kind == "vllm":
        shutil.copytree(CACHE / "models" / MODEL, model)
    else:
        make_model(model)
    shard = model / "model.safetensors"
    with shard.open("r+b") as file:
        file.truncate(shard.stat().st_size - 8)
    lines = last_words(kind, model)
    assert cause(lines) == "a weight file is truncated or empty"
    (generic,) = [line for line in lines if line.startswith(GENERIC)]
    (root,) = [line for line in lines if "Error while deserializing header" in line and line.startswith("(Worker pid=")]
    assert lines.index(root) < lines.index(generic)


@pytest.mark.parametrize("kind", kinds())
def test_an_option_that_does_not_exist(kind: str) -> None:
    lines = last_words(kind, status=2, not_an_option=1)
    assert "unrecognized arguments: --not-an-option" in lines[-1]
    assert "does not know an argument" in cause(lines)


def test_a_port_that_is_in_use(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        lines = last_words("double", port=other.getsockname()[1])
    assert cause(lines) == "another process listens on the port"


def empty(model: Path) -> None:
    (model / "model.safetensors").write_bytes(b"")


def without_shard(model: Path) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))


def without(name: str) -> Callable[[Path], None]:
    return lambda model: (model / name).unlink()


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (without("config.json"), "has no config.json"),
        (without("tokenizer.json"), "no usable tokenizer"),
        (without("model.safetensors"), "has no weight files"),
        (without_shard, "shard that the index"),
        (empty, "truncated or empty"),
    ],
)
def test_the_double_looks_at_its_weights(harm: Callable[[Path], None], what: str, tmp_path: Path) -> None:
    harm(make_model(tmp_path / "model"))
    assert what in cause(last_words("double", tmp_path / "model"))


@pytest.mark.parametrize("name", sorted(CRASHES))
def test_every_crash_of_the_double_is_explained_by_its_own_line(name: str) -> None:
    lines = last_words("double", crash=name)
    found = explain(lines)
    assert found and found.line in CRASHES[name].line
    assert any(line.startswith(GENERIC) for line in lines) is CRASHES[name].worker
