# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines on this machine, the double and vLLM itself, started in the same way on the loopback and asked over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lab.engine import BUILD
from lab.settings import CACHE, HOST_PYTHON, HOST_SUITE, VLLM_VERSION, fingerprint
from tests.double.install import install
from tests.support.rustfs_server import free_port

API_KEY = "contract-key-71c4"
MODEL = "tiny-qwen2"
NAMES = ["contract-model", "contract-alias"]
PROMPT = "the quick brown"
SLOW = {"prompt": PROMPT, "max_tokens": 240, "n": 100, "temperature": 1.0, "ignore_eos": True}
"""Some seconds of work for vLLM, which has to make 24,000 tokens."""
SEQUENCES = 100
"""Of such a request."""

READY = 300.0
"""Seconds that a start may take on a busy machine: vLLM takes one minute on an idle one."""
STOP = 90.0
"""Seconds for a process to end."""
PATIENCE = 60.0
"""Seconds for anything else. Nothing takes as long but on a machine that does not move at all."""
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


@dataclass(frozen=True)
class Reply:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class RunningEngine:
    """A server whose processes belong to the test. They have a session of their own."""

    kind: str
    folder: Path
    model: str
    port: int
    process: subprocess.Popen[bytes]
    api_key: str = field(repr=False, default=API_KEY)

    @property
    def log(self) -> str:
        """What it printed so far."""
        return (self.folder / "log").read_text(errors="replace")

    def connect(self, timeout: float = PATIENCE) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(
        self,
        method: str,
        path: str,
        data: Any = None,
        *,
        key: str | None = API_KEY,
        headers: Mapping[str, str] | None = None,
        timeout: float = PATIENCE,
    ) -> Reply:
        """One request, its whole answer; `data` goes as JSON unless it is bytes. Raises OSError, HTTPException."""
        connection = self.connect(timeout)
        try:
            self.send(connection, method, path, data, key=key, headers=headers)
            answer = connection.getresponse()
            return Reply(answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        data: Any = None,
        *,
        key: str | None = API_KEY,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """One request, without waiting for its answer."""
        body = data if data is None or isinstance(data, bytes) else json.dumps(data).encode()
        given = {"Authorization": f"Bearer {key}"} if key else {}
        given |= {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, body, {**given, **(headers or {})})

    def status(self, path: str) -> int | None:
        """The status of a GET; None when there is no answer."""
        try:
            return self.ask("GET", path).status
        except (OSError, http.client.HTTPException):
            return None

    def metrics(self) -> dict[str, float]:
        """Sample, with its labels as they are written, -> value."""
        lines = self.ask("GET", "/metrics", key=None).body.decode().splitlines()
        rows = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in rows}

    def in_flight(self) -> tuple[float, float]:
        """Sequences that run, and that wait."""
        found, labels = self.metrics(), f'{{engine="0",model_name="{NAMES[0]}"}}'
        return found[f"vllm:num_requests_running{labels}"], found[f"vllm:num_requests_waiting{labels}"]

    def slow(self, **more: Any) -> dict[str, Any]:
        """A request of SEQUENCES that lasts: on the double until `let_go`, on vLLM some seconds."""
        return {**SLOW, "double_until": str(self._go), **more}

    def let_go(self) -> None:
        """Have the slow requests answered."""
        self._go.touch()

    @property
    def _go(self) -> Path:
        return self.folder / "go"

    def children(self, name: str = "") -> list[int]:
        """Processes of this server that live, by the start of their name."""
        rows = subprocess.run(["ps", "-eo", "pid=,sid=,stat=,comm="], capture_output=True, text=True, check=True).stdout
        found = re.findall(rf"^ *(\d+) +{self.process.pid} +[^Z\s]\S* +{name}", rows, re.M)
        return [int(pid) for pid in found]

    def wait_ready(self) -> None:
        """Until /health answers 200."""
        self.wait_for(lambda: self.status("/health") == 200, "it is ready", READY)

    def wait_for(self, met: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Until `met()`; fails with `what` when the server ends or the time is over."""
        deadline = time.monotonic() + seconds
        while not met():
            assert self.process.poll() is None, f"{what}: it ended with {self.process.returncode}: {self.log[-3000:]}"
            assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s: {self.log[-3000:]}"
            time.sleep(0.05)

    def wait_gone(self) -> None:
        """Until no process of it is left; fails when one stays."""
        deadline = time.monotonic() + PATIENCE
        while left := self.children():
            assert time.monotonic() < deadline, f"the processes {left} stay: {self.log[-3000:]}"
            time.sleep(0.05)

    def terminate(self) -> None:
        """SIGTERM for the server, not for its children."""
        self.process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """End everything that is left of it."""
        if self.process.poll() is None:
            self.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(20)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.wait_gone()


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
