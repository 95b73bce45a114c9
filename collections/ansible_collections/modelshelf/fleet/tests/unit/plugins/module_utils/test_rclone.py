# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import socketserver
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._rclone import (
    Cache,
    RcloneError,
    cache_of,
    refresh,
)


class Rclone:
    """An rclone that answers what it is told, at a socket."""

    def __init__(self, socket: Path) -> None:
        self.socket, self.status, self.answer, self.asked = str(socket), 200, b"{}", list[tuple[str, Any]]()
        rclone = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                rclone.asked.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(rclone.status)
                self.send_header("Content-Length", str(len(rclone.answer)))
                self.end_headers()
                self.wfile.write(rclone.answer)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.server = socketserver.UnixStreamServer(self.socket, Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


@pytest.fixture
def rclone() -> Iterator[Rclone]:
    # The path of a socket has 107 characters at most.
    with tempfile.TemporaryDirectory() as folder:
        rclone = Rclone(Path(folder, "rc.sock"))
        yield rclone
        rclone.server.shutdown()
        rclone.server.server_close()


def test_whole_mount_is_listed_anew(rclone: Rclone) -> None:
    rclone.answer = b'{"result": {"": "OK"}}'
    refresh(rclone.socket, 10)
    assert rclone.asked == [("/vfs/refresh", {"recursive": "true"})]


@pytest.mark.parametrize(
    ("status", "answer", "says"),
    [
        (200, b'{"result": {"": "file does not exist"}}', "could not list the mount anew: file does not exist"),
        (200, b'{"result": {"v1": "OK"}}', "could not list the mount anew: None"),
        (200, b'{"result": "no"}', "could not list the mount anew: no"),
        (200, b"[]", "refused vfs/refresh: \\[\\]"),
        (500, b'{"error": "no VFS found", "status": 500}', "refused vfs/refresh: no VFS found"),
        (200, b"not JSON", "does not answer at /"),
    ],
)
def test_answer_that_is_not_ok_is_an_error_with_its_text(rclone: Rclone, status: int, answer: bytes, says: str) -> None:
    rclone.status, rclone.answer = status, answer
    with pytest.raises(RcloneError, match=says):
        refresh(rclone.socket, 10)


def test_socket_without_an_rclone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RcloneError, match="No such file or directory"):
        refresh(str(tmp_path / "rc.sock"), 10)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache with a file of four bytes in two versions."""
    found = Cache(tmp_path / "vfs" / "shelf" / "models" / "tiny", tmp_path / "vfsMeta" / "shelf" / "models" / "tiny")
    for version in ("v1", "v2"):
        for place, text in ((found.files, "1234"), (found.meta, '{"Size": 4, "Rs": [{"Pos": 0, "Size": 4}]}')):
            (place / version).mkdir(parents=True)
            (place / version / "a").write_text(text)
    return found


@pytest.mark.parametrize(
    ("meta", "present"),
    [
        ('{"Size": 4, "Rs": [{"Pos": 0, "Size": 1}, {"Pos": 2, "Size": 2}]}', 3),
        ('{"Size": 4, "Rs": null}', 0),
        ('{"Size": 5, "Rs": [{"Pos": 0, "Size": 5}]}', 0),
        ('{"Size": 4, "Rs": [{"Position": 0}]}', 0),
        ('{"Si', 0),
        ("[]", 0),
    ],
    ids=["part", "open", "cut off", "other format", "half", "list"],
)
def test_only_what_rclone_has_written_down_counts(cache: Cache, meta: str, present: int) -> None:
    assert (cache.present("v1", "a"), cache.present("v1", "b"), cache.on_disk("v1", "b")) == (4, 0, 0)
    (cache.meta / "v1" / "a").write_text(meta)
    assert cache.present("v1", "a") == present
    assert cache.on_disk("v1", "a") == 4


def test_version_is_removed_and_nothing_behind_a_link(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (cache.files / "v3").symlink_to(tmp_path / "precious")
    assert set(cache.versions()) == {"v1", "v2", "v3"}
    assert cache.remove("v1") == [str(cache.files / "v1"), str(cache.meta / "v1")]
    assert cache.remove("v3") == [] and (tmp_path / "precious").is_dir()
    assert set(cache.versions()) == {"v2", "v3"}
    assert Cache(tmp_path / "no", tmp_path / "where").versions() == {}


def test_place_of_the_cache_is_what_rclone_says(rclone: Rclone) -> None:
    disk = {"path": "/c/tiny/vfs/shelf/models/tiny", "pathMeta": "/c/tiny/vfsMeta/shelf/models/tiny"}
    rclone.answer = json.dumps({"diskCache": disk}).encode()
    assert cache_of(rclone.socket, "/c/tiny", "tiny", 10) == Cache(Path(disk["path"]), Path(disk["pathMeta"]))
    for directory, model in (("/c", "tiny"), ("/c/tiny", "other"), ("/c/tin", "tiny")):
        with pytest.raises(RcloneError, match=f"expected it below {directory}/vfs, for {model}"):
            cache_of(rclone.socket, directory, model, 10)
    rclone.answer = b'{"opt": {}}'
    assert cache_of(rclone.socket, "/c/tiny", "tiny", 10) is None
