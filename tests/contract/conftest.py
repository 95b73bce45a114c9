# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The S3 servers that the contract is tried on.

Without more, that is `rclone serve s3`, started here on a free port of the loopback. RUSTFS_URL (with RUSTFS_ACCESS_KEY
and RUSTFS_SECRET_KEY) names a running server to use in its place.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.s3_server import Server, Shelf


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _rclone() -> str:
    found = shutil.which("rclone", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    assert found, "the contract tests need rclone beside the Python that runs them: install the lab's requirements"
    return found


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if os.environ.get("RUSTFS_URL"):
        yield Server(os.environ["RUSTFS_URL"], os.environ["RUSTFS_ACCESS_KEY"], os.environ["RUSTFS_SECRET_KEY"])
        return
    folder = tmp_path_factory.mktemp("rclone")
    (folder / "data").mkdir()
    port, key, secret = _free_port(), "contract-writer", secrets.token_hex(20)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RCLONE_", "AWS_"))}
    command = [_rclone(), "serve", "s3", "--config", "", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{key},{secret}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, str(folder / "data")], env=environment, stdout=log, stderr=log)
    try:
        _wait_for(port, process, folder / "log")
        yield Server(f"http://127.0.0.1:{port}", key, secret)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"rclone serve s3 did not come up: {log.read_text()}")


@pytest.fixture
def shelf(server: Server) -> Shelf:
    bucket = f"shelf-{secrets.token_hex(6)}"
    server.client().create_bucket(Bucket=bucket)
    return Shelf(server, bucket)
