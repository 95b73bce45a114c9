# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What only the stand-in has: its own settings, and the promises that make it fit for the lab."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.s3_server import Shelf
from tests.support.rustfs_server import RunningServer, free_port, running_server, server_environment


@pytest.fixture
def running(tmp_path: Path, standin: Path) -> Iterator[RunningServer]:
    with running_server(tmp_path / "rustfs", standin) as server:
        yield server


def test_a_server_that_is_never_ready(tmp_path: Path, standin: Path) -> None:
    port, folder = free_port(), tmp_path / "rustfs"
    (folder / "data").mkdir(parents=True)
    notified = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notified.bind(str(tmp_path / "notify"))
    notified.settimeout(3)
    environment = server_environment(port, folder, "root-key-1", "root-secret-1")
    environment |= {"STANDIN_NEVER_READY": "1", "NOTIFY_SOCKET": str(tmp_path / "notify")}
    server = RunningServer(f"http://127.0.0.1:{port}", "root-key-1", "root-secret-1", str(standin), folder, environment)
    with (folder / "log").open("wb") as log:
        server.processes.append(subprocess.Popen([standin], env=environment, stdout=log, stderr=log))
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                answer = server.ask("GET", "/health/ready", signed=False)
                break
            except OSError:
                assert time.monotonic() < deadline, server.log
                time.sleep(0.05)
        assert (answer.status, json.loads(answer.body)["ready"]) == (503, False)
        assert server.ask("GET", "/health/live", signed=False).status == 200
        assert server.ask("GET", "/").status == 503
        assert server.stop() == 0
        assert notified.recv(100) == b"STOPPING=1"
    finally:
        server.close()
        notified.close()


def test_systemd_is_told_when_it_is_ready(tmp_path: Path, standin: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(str(tmp_path / "notify"))
        notified.settimeout(30)
        with running_server(tmp_path / "rustfs", standin, NOTIFY_SOCKET=str(tmp_path / "notify")) as server:
            assert notified.recv(100) == b"READY=1"
            assert server.stop() == 0
        assert notified.recv(100) == b"STOPPING=1"


def test_what_an_older_server_lacks(tmp_path: Path, standin: Path) -> None:
    with running_server(tmp_path / "rustfs", standin, STANDIN_LACKS="idp/builtin/policy, quota") as server:
        for call in ("idp/builtin/policy-entities", "idp/builtin/policy/attach", "quota/models", "list-users"):
            method = "POST" if call.endswith("attach") else "GET"
            answer = server.ask(method, f"/rustfs/admin/v3/{call}")
            lacks = call in ("idp/builtin/policy/attach", "quota/models")
            assert (answer.status == 501) is lacks, (call, answer)


def test_the_first_minute_of_quota(tmp_path: Path, standin: Path) -> None:
    with running_server(tmp_path / "rustfs", standin, STANDIN_QUOTA_WARMUP_S="600") as server:
        server.client().create_bucket(Bucket="models")
        for method, body in (("GET", b""), ("PUT", b'{"quota": 1048576}')):
            answer = server.ask(method, "/rustfs/admin/v3/quota/models", body=body)
            assert (answer.status, answer.code) == (503, "ServiceUnavailable")


def test_the_access_log_has_requests_and_no_secrets(tmp_path: Path, standin: Path) -> None:
    log = tmp_path / "access.jsonl"
    with running_server(tmp_path / "rustfs", standin, STANDIN_ACCESS_LOG=str(log)) as server:
        client = server.client(signature_version="s3v4")
        client.create_bucket(Bucket="models")
        client.put_object(Bucket="models", Key="k", Body=b"0123")
        client.get_object(Bucket="models", Key="k", Range="bytes=1-2")["Body"].read()
        url = client.generate_presigned_url("get_object", {"Bucket": "models", "Key": "none"})
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(url, timeout=30)
        text = log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    reads = [line for line in lines if line["path"] == "/models/k" and line["method"] == "GET"]
    expected = {"method": "GET", "path": "/models/k", "query": [], "status": 206, "bytes_out": 2}
    assert reads == [{**expected, "access_key": "contract-root"}]
    assert server.secret_key not in text
    assert "ignature" not in text


def peak(process: int) -> int:
    """The most memory that a process had, in MiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found
    return int(found[1]) >> 10


def test_memory_stays_flat_with_large_objects(running: RunningServer, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        for _ in range(256):
            file.write(os.urandom(1 << 20))
    client = running.client(request_checksum_calculation="when_required")
    client.create_bucket(Bucket="models")
    before = peak(running.process.pid)
    with large.open("rb") as body:
        client.put_object(Bucket="models", Key="large", Body=body)
    client.copy_object(Bucket="models", Key="copy", CopySource={"Bucket": "models", "Key": "large"})
    found, wanted = hashlib.sha256(), hashlib.sha256(large.read_bytes())
    for piece in client.get_object(Bucket="models", Key="copy")["Body"].iter_chunks(1 << 20):
        found.update(piece)
    assert found.digest() == wanted.digest()
    assert peak(running.process.pid) - before < 32


def blobs(server: RunningServer) -> list[Path]:
    return [path for path in (server.folder / "data" / ".rustfs.sys" / "blobs").rglob("*") if path.is_file()]


def test_no_file_outlives_its_object(running: RunningServer) -> None:
    client = running.client()
    client.create_bucket(Bucket="models")
    for body in (b"one", b"two"):
        client.put_object(Bucket="models", Key="k", Body=body)
    upload = client.create_multipart_upload(Bucket="models", Key="big")["UploadId"]
    client.upload_part(Bucket="models", Key="big", UploadId=upload, PartNumber=1, Body=b"part")
    assert len(blobs(running)) == 2
    client.abort_multipart_upload(Bucket="models", Key="big", UploadId=upload)
    client.delete_object(Bucket="models", Key="k")
    assert blobs(running) == []


def test_what_a_killed_server_left_is_swept_at_the_next_start(running: RunningServer) -> None:
    client = running.client()
    client.create_bucket(Bucket="models")
    client.put_object(Bucket="models", Key="k", Body=b"kept")
    running.kill()
    half = blobs(running)[0].with_name("0" * 32)
    half.write_bytes(b"half-written")
    running.start()
    assert Shelf(running, "models").content("k") == b"kept"
    assert not half.exists()


def test_connections_are_kept_and_bodies_that_nobody_reads_do_not_upset_them(running: RunningServer) -> None:
    client = running.client()
    client.create_bucket(Bucket="models")
    host, _, port = running.endpoint.partition("://")[2].partition(":")
    refused = b"PUT /models/k HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n12345"
    health = b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(refused + refused + health)
        answers = b""
        while piece := connection.recv(65536):
            answers += piece
    assert [line.split()[1] for line in re.findall(rb"HTTP/1.1 \d+", answers)] == [b"403", b"403", b"200"]


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        b"PUT /models/k HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /%ff HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(running: RunningServer, sent: bytes) -> None:
    host, _, port = running.endpoint.partition("://")[2].partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(sent)
        assert connection.recv(65536).startswith(b"HTTP/1.1 4")
    assert running.ready()
