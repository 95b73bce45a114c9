# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._clock import Greeting, greet, judge
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ClockSkew, NotTrusted, Unreachable

NOON = 1_800_000_000.0


class Clock(http.server.BaseHTTPRequestHandler):
    """A store whose clock is `server.ahead` seconds ahead; None: it sends no Date."""

    def do_GET(self) -> None:
        server: Any = self.server
        self.send_response_only(200)
        if server.ahead is not None:
            self.send_header("Date", formatdate(time.time() + server.ahead, usegmt=True))
        self.end_headers()
        self.wfile.write(b'{"version": "1.0.0-rc.3"}')

    def log_message(self, *arguments: Any) -> None:
        """Silence."""


@pytest.fixture
def store() -> Iterator[Any]:
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Clock)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.endpoint = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("ahead", [0, 250, -250])
def test_a7_a_small_difference_is_none(store: Any, ahead: int) -> None:
    store.ahead = ahead
    greeting = greet(store.endpoint)
    assert greeting.version == "1.0.0-rc.3"
    assert judge(greeting, store.endpoint) == ""


@pytest.mark.parametrize(("ahead", "words"), [(-600, "ahead of that of the store"), (600, "behind that of the store")])
def test_a7_over_five_minutes_is_a_warning_with_both_times(store: Any, ahead: int, words: str) -> None:
    store.ahead = ahead
    text = judge(greet(store.endpoint), store.endpoint)
    assert words in text and store.endpoint in text
    assert text.count("UTC") == 2


@pytest.mark.parametrize("ahead", [-1200, 1200])
def test_a7_twenty_minutes_fail(store: Any, ahead: int) -> None:
    store.ahead = ahead
    with pytest.raises(ClockSkew, match="Set the clocks right"):
        judge(greet(store.endpoint), store.endpoint)


@pytest.mark.parametrize(
    ("difference", "outcome"), [(300, "right"), (301, "warns"), (840, "warns"), (841, "fails"), (-841, "fails")]
)
def test_a7_limits(difference: int, outcome: str) -> None:
    greeting = Greeting(200, "", NOON, NOON + difference)
    if outcome == "fails":
        with pytest.raises(ClockSkew):
            judge(greeting, "http://s")
    else:
        assert bool(judge(greeting, "http://s")) is (outcome == "warns")


def test_a_store_that_does_not_tell_its_time(store: Any) -> None:
    store.ahead = None
    greeting = greet(store.endpoint)
    assert greeting.difference is None
    assert judge(greeting, store.endpoint) == ""


def test_nobody_there() -> None:
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:9 for its time: no answer"):
        greet("http://127.0.0.1:9")


def test_a_server_without_tls_is_not_trusted(store: Any) -> None:
    store.ahead = 0
    with pytest.raises(NotTrusted, match="check ca_file"):
        greet(store.endpoint.replace("http:", "https:"))
