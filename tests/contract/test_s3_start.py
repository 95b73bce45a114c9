# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts that are refused, each with its reason on a `[FATAL]` line and nothing formatted; and a start with TLS."""

from __future__ import annotations

import http.client
import os
import secrets
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.rustfs_server import RunningServer, free_port, server_environment


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="modelshelf-server-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def last_words(binary: Path, folder: Path, user: str | None = None, **changes: str | None) -> str:
    """What a server says that must not start."""
    settings = {**server_environment(free_port(), folder, "root-key-1", "root-secret-1"), **changes}
    environment = {name: value for name, value in settings.items() if value is not None}
    done = subprocess.run(
        [binary, "server"], env=environment, cwd=folder, user=user, capture_output=True, text=True, timeout=60
    )
    said = done.stdout + done.stderr
    assert (done.returncode, "[FATAL]" in said) == (1, True), said
    return said


def test_volumes_that_a_start_refuses(rustfs: Path, open_folder: Path) -> None:
    assert "Volume not found" in last_words(rustfs, open_folder)
    assert not (open_folder / "data").exists()
    last_words(rustfs, open_folder, RUSTFS_VOLUMES=None)
    for number in range(2):
        (open_folder / f"data{number}").mkdir()
    said = last_words(rustfs, open_folder, RUSTFS_VOLUMES=f"{open_folder}/data{{0...1}}")
    assert f"{open_folder}/data0" in said and f"{open_folder}/data1" in said
    assert [path.name for path in open_folder.rglob("*")] in (["data0", "data1"], ["data1", "data0"])


def test_a_volume_of_another_owner_is_refused(rustfs: Path, open_folder: Path) -> None:
    assert os.geteuid() == 0, "needs root, to start a program as another user"
    binary = open_folder / "rustfs"
    shutil.copy(rustfs, binary)
    (open_folder / "data").mkdir(mode=0o755)
    path = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin"))
    assert "ermission denied" in last_words(binary, open_folder, "nobody", PATH=path, HOME="/nonexistent")
    assert list((open_folder / "data").iterdir()) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"RUSTFS_ACCESS_KEY_FILE": "key"},
        {"RUSTFS_SECRET_KEY": None, "RUSTFS_SECRET_KEY_FILE": "no-such-file"},
        {"RUSTFS_TLS_PATH": "no-such-folder"},
        {"RUSTFS_CONSOLE_ENABLE": "true", "RUSTFS_CONSOLE_ADDRESS": "same"},
    ],
    ids=["key and key file", "no key file", "no TLS folder", "console on the port"],
)
def test_settings_that_a_start_refuses(rustfs: Path, open_folder: Path, changes: dict[str, str | None]) -> None:
    (open_folder / "data").mkdir()
    (open_folder / "key").write_text("from-a-file\n")
    address = f"127.0.0.1:{free_port()}"
    files = {
        name: address if value == "same" else value and str(open_folder / value) if value != "true" else value
        for name, value in changes.items()
    }
    last_words(rustfs, open_folder, RUSTFS_ADDRESS=address, **files)


def make_certificate(folder: Path) -> None:
    folder.mkdir()
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 "
        "-keyout rustfs_key.pem -out rustfs_cert.pem".split(),
        cwd=folder,
        check=True,
        capture_output=True,
    )


def test_tls(rustfs: Path, tmp_path: Path) -> None:
    make_certificate(tmp_path / "tls")
    folder, port = tmp_path / "server", free_port()
    (folder / "data").mkdir(parents=True)
    environment = {**server_environment(port, folder, "root-key-1", secrets.token_hex(20))}
    environment["RUSTFS_TLS_PATH"] = str(tmp_path / "tls")
    context = ssl.create_default_context(cafile=str(tmp_path / "tls" / "rustfs_cert.pem"))

    def status() -> int:
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status
        finally:
            connection.close()

    server = RunningServer(f"http://127.0.0.1:{port}", "root-key-1", "", str(rustfs), folder, environment)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([rustfs, "server"], env=environment, cwd=folder, stdout=log, stderr=log)
    server.processes.append(process)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                assert status() == 200
                break
            except (OSError, http.client.HTTPException):
                assert time.monotonic() < deadline and process.poll() is None, server.log
                time.sleep(0.05)
        assert not server.ready(), "plain HTTP was answered on the port of TLS"
        assert status() == 200
    finally:
        server.close()
