# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts engines on this machine, the double and vLLM itself, in the same way, on the loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from lab.engine import BUILD
from lab.settings import CACHE, HOST_PYTHON, HOST_SUITE, VLLM_VERSION, fingerprint
from tests.double.install import install
from tests.support.running_engine import API_KEY, NAMES, RunningEngine
from tests.support.rustfs_server import free_port

MODEL = "tiny-qwen2"
DRAIN = 600
"""Seconds that a stop gives the requests in flight, where a test does not say otherwise."""


@cache
def real_engine() -> Path | None:
    """The lab's vLLM, when CONTRACT_VLLM asks for it; None otherwise, or where the lab has not made it yet.

    Its starts take minutes, and want the processors for themselves.
    """
    if not os.environ.get("CONTRACT_VLLM"):
        return None
    top = CACHE / "engine" / f"vllm-{VLLM_VERSION}-{fingerprint(BUILD, VLLM_VERSION, HOST_SUITE)}"
    usable = (top / "engine.complete").exists() and (CACHE / "models" / MODEL / "config.json").exists()
    # The environment was made in a host: its links point to that host's Python.
    return top / "engine" if usable and Path("/usr/bin", HOST_PYTHON).exists() else None


def kinds() -> list[str]:
    """The engines that the contract is tried on."""
    return ["double", "vllm"] if real_engine() else ["double"]


def make_model(folder: Path) -> Path:
    """A directory that looks like a model, and that the double takes for one. Its name is what its answers say."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen2", "max_position_embeddings": 256}))
    (folder / "tokenizer.json").write_text("{}")
    tensors = b'{"weight":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'
    (folder / "model.safetensors").write_bytes(len(tensors).to_bytes(8, "little") + tensors + bytes(16))
    return folder


@contextmanager
def engine(
    kind: str, *, model: Path | None = None, environment: Mapping[str, str] | None = None, **options: Any
) -> Iterator[RunningEngine]:
    """A server that has just been started; `options` are added to its configuration, with _ for -."""
    # Short: the engine's processes talk through sockets in TMPDIR, whose paths may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="engine-"))
    (folder / "tmp").mkdir()
    program, serves = _programs(kind, folder)
    serves, port = model or serves, int(options.pop("port", 0)) or free_port()
    config = {
        "model": str(serves), "served-model-name": NAMES, "host": "127.0.0.1", "port": port, **LAB_OPTIONS,
        **{name.replace("_", "-"): value for name, value in options.items()},
    }  # fmt: skip
    (folder / "chat.jinja").write_text("{% for message in messages %}{{ message['content'] }}{% endfor %}")
    (folder / "vllm.yaml").write_text(json.dumps({"chat-template": str(folder / "chat.jinja"), **config}))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*program, "serve", "--config", str(folder / "vllm.yaml")],
            env={**_environment(folder), "VLLM_API_KEY": API_KEY, **(environment or {})},
            cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    running = RunningEngine(kind, folder, str(serves), port, process)
    try:
        yield running
    finally:
        running.close()
        shutil.rmtree(folder)


LAB_OPTIONS = {
    "enforce-eager": True,
    "dtype": "float32",
    "max-model-len": 256,
    "kv-cache-memory-bytes": "64M",
}
"""As in inventories/lab: small, and quick to start."""


def _programs(kind: str, folder: Path) -> tuple[list[str], Path]:
    """How an engine is called, and a model that it can serve."""
    if kind == "double":
        target = install(folder / "engine", python=Path(sys.executable).resolve())
        return [str(target / "bin" / "vllm")], make_model(folder / "weights" / "v1")
    place = real_engine()
    assert place
    return [str(place / "bin" / "python"), str(place / "bin" / "vllm")], CACHE / "models" / MODEL


def _environment(folder: Path) -> dict[str, str]:
    """What the units give an engine: places of its own, and nothing from outside."""
    inherited = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **inherited, "HOME": str(folder), "TMPDIR": str(folder / "tmp"), "VLLM_CACHE_ROOT": str(folder / "vllm"),
        "HF_HOME": str(folder / "huggingface"), "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1", "PYTHONDONTWRITEBYTECODE": "1", "GLOO_SOCKET_IFNAME": "lo",
    }  # fmt: skip
