# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a serving host for tests: a version, systemd's recorded answers, a server that says what it is told."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import (
    MANIFEST_PATH,
    FileEntry,
    Manifest,
    digest,
    sort_files,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import SystemdError

FILES = {"config.json": b"{}", "model.safetensors": bytes(300_000), "empty": b"", "sub/tokenizer.json": b"{ }"}

# `systemctl show` of systemd 252, and the properties that a unit had in each state.
SHOW = """\
LoadState=loaded
ActiveState={active}
SubState={sub}
Result={result}
NRestarts={restarts}
MainPID={pid}
ControlGroup={group}
InvocationID=5a1c8a2c8d5d4e02a0a2b7f7b7d8e9aa
ExecMainStatus={status}
Job={job}
"""
RUNNING = {
    "active": "active",
    "sub": "running",
    "result": "success",
    "restarts": 0,
    "pid": 0,
    "group": "/system.slice/modelshelf-vllm@main.service",
    "status": 0,
    "job": 0,
}
CRASHED = {**RUNNING, "active": "activating", "sub": "auto-restart", "result": "exit-code", "group": "", "status": 1}
ABSENT = "LoadState=not-found\nActiveState=inactive\nSubState=dead\nMainPID=0\n"


def publish(version: Path, files: Mapping[str, bytes] | None = None) -> str:
    """Lay a version down as the shelf keeps it, with FILES unless told otherwise. Returns its digest."""
    files = FILES if files is None else files
    entries = sort_files(FileEntry(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in files.items())
    total = sum(entry.size for entry in entries)
    manifest = Manifest("tiny", "Tiny", version.name, "hf", "2026-11-29T20:00:00Z", entries, total, digest(entries))
    for path, data in {**files, MANIFEST_PATH: manifest.to_json().encode()}.items():
        (version / path).parent.mkdir(parents=True, exist_ok=True)
        (version / path).write_bytes(data)
    return manifest.digest


def show(**changes: object) -> str:
    """What `systemctl show` prints for a running unit, with changes."""
    return SHOW.format(**{**RUNNING, **changes})


class Host:
    """Answers of systemctl and journalctl: states one after another, the last for ever, and one log."""

    def __init__(self, states: Sequence[str], log: str = "") -> None:
        self.states, self.log = list(states), log
        self.asked: list[list[str]] = []

    def run(self, command: Sequence[str]) -> str:
        self.asked.append(list(command))
        if command[:2] == ["systemctl", "show"]:
            return self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if command[0] == "journalctl":
            return self.log
        raise SystemdError(f"{command} was not expected")


class Vllm:
    """What a stub server answers: status by path, the names and roots of its models, its key, its completion."""

    def __init__(self, *names: str, root: str = "", key: str = "") -> None:
        self.cards: list[dict[str, Any]] = [{"id": name, "root": root, "parent": None} for name in names]
        self.status: dict[str, list[int]] = {}
        self.key, self.completion, self.port = key, " brown brown", 0
        self.requests: list[dict[str, Any]] = []

    def answer(self, path: str, authorization: str | None) -> tuple[int, Any]:
        planned = self.status.get(path, [])
        status = planned.pop(0) if len(planned) > 1 else [*planned, 200][0]
        if self.key and path.startswith("/v1") and authorization != f"Bearer {self.key}":
            return 401, {"error": "Unauthorized"}
        if path == "/v1/models":
            return status, {"object": "list", "data": self.cards}
        if path == "/v1/completions":
            return status, {"choices": [{"text": self.completion}]}
        return status, ""


@contextmanager
def serving(vllm: Vllm) -> Iterator[Vllm]:
    """Let a stub server listen on a free port of the loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = vllm.answer(self.path, self.headers.get("Authorization"))
            data = json.dumps(body).encode() if body else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            vllm.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    vllm.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield vllm
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
