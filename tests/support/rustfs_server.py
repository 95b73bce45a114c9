# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A RustFS of its own: the real one that RUSTFS_BIN names, else the stand-in, packed and started in the same way."""

from __future__ import annotations

import http.client
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.contract.s3_server import Server
from tests.standin.pack import pack

READY = 60.0  # seconds that a start may take on a busy machine
STOP = 20.0  # seconds


def rustfs_binary(folder: Path) -> Path:
    """The server under test: RUSTFS_BIN, else the stand-in, packed into `folder`."""
    named = os.environ.get("RUSTFS_BIN")
    return Path(named).resolve(strict=True) if named else pack(folder / "rustfs")


def free_port() -> int:
    """A port of the loopback that nobody listened on a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def server_environment(port: int, folder: Path, access_key: str, secret_key: str) -> dict[str, str]:
    """What a server is told that keeps to itself: one volume, the loopback, no console, no look for updates."""
    foreign = ("RUSTFS_", "STANDIN_", "MINIO_", "AWS_", "NOTIFY_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {
        **inherited,
        "RUSTFS_ADDRESS": f"127.0.0.1:{port}",
        "RUSTFS_ACCESS_KEY": access_key,
        "RUSTFS_SECRET_KEY": secret_key,
        "RUSTFS_VOLUMES": str(folder / "data"),
        "RUSTFS_CONSOLE_ENABLE": "false",
        "RUSTFS_CHECK_UPDATE": "false",
    }


@dataclass(frozen=True)
class RunningServer(Server):
    """A server whose process belongs to the test. Its data outlive a stop, until the folder is removed."""

    folder: Path = Path()
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list, repr=False)

    @property
    def log(self) -> str:
        """What it printed so far."""
        return (self.folder / "log").read_text(errors="replace")

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The newest process."""
        return self.processes[-1]

    def start(self, **changes: str) -> None:
        """Start it (again) and wait until it is ready. `changes` are further settings."""
        with (self.folder / "log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    [self.binary, "server"],
                    env={**self.environment, **changes},
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )
        deadline = time.monotonic() + READY
        while not self.ready():
            assert self.process.poll() is None, f"{self.binary} ended at its start: {self.log}"
            assert time.monotonic() < deadline, f"{self.binary} was not ready within {READY:.0f} s: {self.log}"
            time.sleep(0.03)

    def ready(self) -> bool:
        """Whether /health/ready answers 200."""
        connection = http.client.HTTPConnection(self.endpoint.partition("://")[2], timeout=5)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.process.terminate()
        return self.process.wait(STOP)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(STOP)

    def close(self) -> None:
        """End what still runs."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)  # a test may have stopped it
                process.terminate()
                try:
                    process.wait(STOP)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait(STOP)


@contextmanager
def running_server(folder: Path, binary: Path | None = None, **environment: str) -> Iterator[RunningServer]:
    """A new server that keeps its data in `folder`, on a free port, ready. `environment` are further settings."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    binary = binary or rustfs_binary(folder)
    port, access_key, secret_key = free_port(), "contract-root", secrets.token_hex(20)
    settings = {**server_environment(port, folder, access_key, secret_key), **environment}
    endpoint = f"http://{settings['RUSTFS_ADDRESS']}"
    keys = settings["RUSTFS_ACCESS_KEY"], settings["RUSTFS_SECRET_KEY"]
    server = RunningServer(endpoint, *keys, str(binary), folder, settings)
    try:
        server.start()
        yield server
    finally:
        server.close()
