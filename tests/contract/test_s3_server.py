# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The server as a program: what a stop, a kill, a full disk and a new start leave."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

from tests.contract.s3_server import Server, Shelf
from tests.support.rustfs_server import RunningServer, running_server


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


def test_default_and_short_keys_are_taken(fresh_server: RunningServer) -> None:
    """Why the role refuses them: the server only warns."""
    fresh_server.stop()
    fresh_server.start(RUSTFS_ACCESS_KEY="root-key-1", RUSTFS_SECRET_KEY="abc")
    assert fresh_server.ask("GET", "/", key=("root-key-1", "abc")).status == 200
    fresh_server.stop()
    fresh_server.start(RUSTFS_ACCESS_KEY="rustfsadmin", RUSTFS_SECRET_KEY="rustfsadmin")
    assert fresh_server.ask("GET", "/", key=("rustfsadmin", "rustfsadmin")).status == 200


def test_a_full_disk_is_ready_and_takes_no_object(rustfs: Path, tmp_path: Path) -> None:
    """Why a canary is written: no health call tells."""
    assert os.geteuid() == 0, "needs root, to mount a small file system"
    data = tmp_path / "rustfs" / "data"
    data.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", data], check=True)
    try:
        with running_server(tmp_path / "rustfs", rustfs) as server:
            server.client().create_bucket(Bucket="models")
            server.client().put_object(Bucket="models", Key="small", Body=b"x")
            subprocess.run(["dd", "if=/dev/zero", f"of={data}/ballast", "bs=1M"], check=False, capture_output=True)
            answer = server.ask("PUT", "/models/large", body=bytes(4 << 20))
            assert (answer.status, answer.code) == (500, "InternalError")
            assert server.ready()
            assert Shelf(server, "models").content("small") == b"x"
            (data / "ballast").unlink()
            assert server.ask("PUT", "/models/large", body=bytes(4 << 20)).status == 200
    finally:
        subprocess.run(["umount", "--lazy", data], check=True)
