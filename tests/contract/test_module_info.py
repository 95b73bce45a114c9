# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server says about itself, and its clock against ours."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from email.utils import formatdate
from typing import Any

import pytest
from botocore import auth

from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_access_probe, rustfs_bucket, rustfs_info
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server


@pytest.fixture
def bench(server: Server) -> Bench:
    return bench_on(server)


def test_a_server_tells_what_it_is(bench: Bench) -> None:
    bench.done(rustfs_bucket, name=bench.name("models"))
    found = bench.done(rustfs_info)
    health = json.loads(bench.server.ask("GET", "/health", signed=False).body)
    assert found["changed"] is False
    assert found["version"] == health["version"]
    assert found["mode"] == "online"
    assert len(found["deployment_id"]) > 8
    assert found["backend"]["drives_online"] == sum(len(server["drives"]) for server in found["servers"]) >= 1
    assert found["space"]["total"] >= found["space"]["used"] > 0
    assert abs(found["clock_difference_seconds"]) <= 2
    assert found["calls"] == {"GET info": 1}
    assert "warnings" not in found
    assert bench.done(rustfs_info)["deployment_id"] == found["deployment_id"]


@pytest.mark.parametrize("keys", [{"access_key": "wrong-root"}, {"secret_key": "wrong-secret"}])
def test_a40_a_refused_key_fails(bench: Bench, keys: dict[str, str]) -> None:
    said = bench.failure(rustfs_info, **keys)
    assert repr(keys.get("access_key", bench.server.access_key)) in said


def test_check_mode_takes_an_absent_store_for_empty(bench: Bench) -> None:
    nobody = {"endpoint": "http://127.0.0.1:9", "timeout": 1}
    found = bench.done(rustfs_info, check_mode=True, **nobody)
    assert (found["deployment_id"], found["servers"], found["clock_difference_seconds"]) == ("", [], None)
    assert "taken for empty" in str(found["warnings"])
    assert "no answer" in bench.failure(rustfs_info, **nobody)


class Relay(http.server.BaseHTTPRequestHandler):
    """The real server's answers, with the clock of `server.ahead` seconds."""

    def do_GET(self) -> None:
        server: Any = self.server
        body = b'{"version": "1.0.0-rc.3"}' if self.path == "/health" else b"{}"
        self.send_response_only(200)
        self.send_header("Date", formatdate(time.time() + server.ahead, usegmt=True))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Silence."""


@pytest.fixture
def clock() -> Iterator[Any]:
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(("ahead", "words"), [(600, "behind that of the store"), (-600, "ahead of that of the store")])
def test_a7_a_clock_that_is_over_five_minutes_off_is_a_warning(
    bench: Bench, clock: Any, ahead: int, words: str
) -> None:
    clock.ahead = ahead
    found = bench.done(rustfs_info, endpoint=f"http://127.0.0.1:{clock.server_port}")
    assert abs(found["clock_difference_seconds"] + ahead) <= 2
    assert words in str(found["warnings"]) and str(found["warnings"]).count("UTC") == 2


@pytest.mark.parametrize("ahead", [1200, -1200])
def test_a7_a_clock_that_is_twenty_minutes_off_fails_and_blames_no_key(bench: Bench, clock: Any, ahead: int) -> None:
    clock.ahead = ahead
    endpoint = f"http://127.0.0.1:{clock.server_port}"
    probe = {"bucket": "models", "prefixes": ["opt"], "endpoint": endpoint}
    for said in (bench.failure(rustfs_info, endpoint=endpoint), bench.failure(rustfs_access_probe, **probe)):
        assert "clock of this machine" in said and "Set the clocks right" in said
        assert said.count("UTC") == 2
        assert "secret" not in said and "policy" not in said


def test_a7_the_servers_own_refusal_is_told_as_clock_skew(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    real = auth.get_current_datetime
    monkeypatch.setattr(auth, "get_current_datetime", lambda: real() - timedelta(minutes=20))
    said = bench.run(rustfs_bucket, name=bench.name("models"))["msg"]
    assert "RequestTimeTooSkewed" in said and "clocks of this machine and of the store differ" in said
