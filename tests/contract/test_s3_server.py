# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The server as a program: how it starts, why it does not, and what a stop, a kill and a new start leave."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.s3_server import Server, Shelf
from tests.support.rustfs_server import RunningServer, free_port, running_server, server_environment


def deployment(server: Server) -> str:
    """The identity of the store."""
    answer = server.ask("GET", "/rustfs/admin/v3/info")
    said = json.loads(answer.body)
    identity: str = said.get("info", said)["deploymentID"]
    assert identity, answer
    return identity


def add_user(server: Server, name: str, secret: str) -> None:
    body = json.dumps({"secretKey": secret, "status": "enabled"}).encode()
    assert server.ask("PUT", "/rustfs/admin/v3/add-user", {"accessKey": name}, body).status == 200


def test_a_kill_loses_nothing_that_was_acknowledged(fresh_server: RunningServer) -> None:
    fresh_server.client().create_bucket(Bucket="models")
    add_user(fresh_server, "alice", "alice-secret-1")
    done: list[str] = []

    def write(worker: int) -> None:
        client = fresh_server.client()
        for number in range(10_000):
            key = f"{worker}/{number}"
            try:
                client.put_object(Bucket="models", Key=key, Body=key.encode() * 100)
            except Exception:
                return  # killed
            done.append(key)

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    while len(done) < 60 and time.monotonic() < deadline:
        time.sleep(0.02)
    fresh_server.kill()
    for thread in threads:
        thread.join(60)
    assert len(done) >= 60
    fresh_server.start()
    shelf = Shelf(fresh_server, "models")
    assert set(done) <= set(shelf.keys())
    for key in done:
        assert shelf.content(key) == key.encode() * 100
    assert fresh_server.ask("GET", "/rustfs/admin/v3/is-admin", key=("alice", "alice-secret-1")).status == 200


def test_a_stop_ends_well_and_a_start_serves_all_of_it(fresh_server: RunningServer) -> None:
    client = fresh_server.client()
    client.create_bucket(Bucket="models")
    client.put_object(Bucket="models", Key="k", Body=b"kept")
    identity, start = deployment(fresh_server), time.monotonic()
    assert fresh_server.stop() == 0
    assert time.monotonic() - start < 10
    fresh_server.start()
    assert Shelf(fresh_server, "models").content("k") == b"kept"
    assert deployment(fresh_server) == identity


def test_root_keys_change_with_a_restart_and_nothing_else_does(fresh_server: RunningServer) -> None:
    fresh_server.client().create_bucket(Bucket="models")
    add_user(fresh_server, "alice", "alice-secret-1")
    fresh_server.stop()
    fresh_server.start(RUSTFS_ACCESS_KEY="another-root", RUSTFS_SECRET_KEY="another-secret-1")
    assert fresh_server.ask("GET", "/").code == "InvalidAccessKeyId"
    renamed = replace(fresh_server, access_key="another-root", secret_key="another-secret-1")
    assert [bucket["Name"] for bucket in renamed.client().list_buckets()["Buckets"]] == ["models"]
    assert b"alice" in renamed.ask("GET", "/rustfs/admin/v3/list-users").body


def test_an_empty_folder_becomes_a_new_store_without_a_word(fresh_server: RunningServer) -> None:
    """Why the store is known by its deployment id: this is what a disk that did not mount looks like."""
    fresh_server.client().create_bucket(Bucket="models")
    identity = deployment(fresh_server)
    fresh_server.stop()
    shutil.rmtree(fresh_server.folder / "data")
    (fresh_server.folder / "data").mkdir()
    fresh_server.start()
    assert deployment(fresh_server) != identity
    assert fresh_server.client().list_buckets()["Buckets"] == []


def test_two_servers_can_hold_one_port(fresh_server: RunningServer, tmp_path: Path) -> None:
    """A second server neither fails nor warns, and the requests are spread over both."""
    other = {"RUSTFS_ADDRESS": fresh_server.environment["RUSTFS_ADDRESS"]}
    with running_server(tmp_path / "second", Path(fresh_server.binary), **other) as second:
        seen, deadline = set[str](), time.monotonic() + 30
        while len(seen) < 2 and time.monotonic() < deadline:
            seen.add(second.ask("GET", "/").code)
        assert seen == {"", "SignatureDoesNotMatch"}
        assert (second.process.poll(), fresh_server.process.poll()) == (None, None)


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a program as another user")
def test_a_volume_of_another_owner_is_refused(rustfs: Path, open_folder: Path) -> None:
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


def test_keys_are_read_from_files(fresh_server: RunningServer) -> None:
    for name, text in (("access", "key-of-a-file"), ("secret", "secret-of-a-file")):
        (fresh_server.folder / name).write_text(f"  {text}\n")
    fresh_server.stop()
    fresh_server.start(
        RUSTFS_ACCESS_KEY="",
        RUSTFS_SECRET_KEY="",
        RUSTFS_ACCESS_KEY_FILE=str(fresh_server.folder / "access"),
        RUSTFS_SECRET_KEY_FILE=str(fresh_server.folder / "secret"),
    )
    assert fresh_server.ask("GET", "/", key=("key-of-a-file", "secret-of-a-file")).status == 200


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
