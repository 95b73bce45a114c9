# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine that runs on this machine, as tests ask it over HTTP and stop it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

API_KEY = "contract-key-71c4"
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
