# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_ready import Gate, Ladder, NotReady, ask
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import ABSENT, CRASHED, Host, show

UNIT = "modelshelf-rustfs.service"
RUNGS = ["unit", "port", "listener", "ready"]


class Server(ThreadingHTTPServer):
    """Answers with the statuses that it is given for a path, the last one for ever."""

    daemon_threads = True

    def __init__(self, statuses: dict[str, list[int]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses = statuses


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        left = self.server.statuses.get(self.path, [404])
        self.send_response(left.pop(0) if len(left) > 1 else left[0])
        self.end_headers()
        self.wfile.write(b'{"status": "starting"}')

    def log_message(self, *_arguments: object) -> None:
        """Says nothing."""


@contextmanager
def serving(**statuses: list[int]) -> Iterator[Gate]:
    paths = {"ready": "/health/ready", "cluster": "/minio/health/cluster"}
    server = Server({paths[name]: list(values) for name, values in statuses.items()})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Gate(UNIT, server.server_port, "127.0.0.1", timeout=30)
    finally:
        server.shutdown()
        server.server_close()


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this test's process, which listens, for the unit's."""
    monkeypatch.setattr(
        "ansible_collections.modelshelf.fleet.plugins.module_utils._listeners.in_control_group",
        lambda pid, group, proc: pid == os.getpid() and group == "/unit",
    )


def climb(gate: Gate, states: Sequence[str], log: str = "", groups: tuple[str, ...] = ("/unit",)) -> list[str]:
    clock = Clock()
    host = Host(list(states), log)
    ladder = Ladder(gate, Systemd(host.run), lambda state: groups, clock=lambda: clock.now, sleep=clock.sleep)
    return ladder.climb()


def failure(gate: Gate, states: Sequence[str], log: str = "", groups: tuple[str, ...] = ("/unit",)) -> NotReady:
    with pytest.raises(NotReady) as caught:
        climb(gate, states, log, groups)
    return caught.value


def test_a_server_that_is_right_passes() -> None:
    with serving(ready=[200]) as gate:
        assert climb(gate, [show()]) == RUNGS


def test_a_start_that_takes_its_time_is_waited_for() -> None:
    starting = show(active="activating", sub="start")
    with serving(ready=[503, 503, 200]) as gate:
        assert climb(gate, [starting, starting, show()]) == RUNGS


def test_the_process_before_a_queued_restart_does_not_count() -> None:
    with serving(ready=[200]) as gate:
        assert "the unit did not run" in str(failure(gate, [show(job=7)]))
        assert climb(gate, [show(job=7), show(active="activating", sub="start", job=7), show()]) == RUNGS


def test_a9_never_ready_is_told_with_the_state_of_the_unit_and_the_log() -> None:
    with serving(ready=[503]) as gate:
        found = failure(gate, [show()], "waiting for quorum\n")
    assert found.rung == "ready"
    for part in ("after 30 s", "should have answered 200", "503", "starting", "active/running", "waiting for quorum"):
        assert part in str(found)


def test_a9_server_that_has_not_told_systemd_yet_is_asked_what_it_waits_for() -> None:
    with serving(ready=[503]) as gate:
        found = failure(gate, [show(active="activating", sub="start")])
    assert found.rung == "unit"
    assert "the unit did not run, and " in str(found)
    assert '503 {"status": "starting"} (activating/start)' in str(found)


def test_a_few_tries_are_waited_for_and_a_loop_of_them_is_not() -> None:
    with serving(ready=[200]) as gate:
        again = [show(**{**CRASHED, "restarts": count}) for count in range(3)]
        assert climb(gate, [*again, show(restarts=2)]) == RUNGS
        loop = [show(**{**CRASHED, "restarts": count}) for count in range(9)]
        found = failure(gate, loop, "[FATAL] Volume not found\n")
    assert "ended 3 times and was started again each time" in str(found)
    assert "[FATAL] Volume not found" in str(found)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (ABSENT, "does not exist on this host"),
        (show(active="failed", sub="failed", result="exit-code"), "failed: failed/failed, result exit-code"),
        (show(active="inactive", sub="dead"), "is stopped"),
    ],
)
def test_a_unit_that_will_not_run_ends_the_wait(state: str, reason: str) -> None:
    with serving(ready=[200]) as gate:
        assert reason in str(failure(gate, [state]))


def test_a_second_server_on_the_port_is_named() -> None:
    with serving(ready=[200]) as gate:
        found = failure(gate, [show()], groups=("/other",))
    assert (found.rung, f"pid {os.getpid()}" in str(found)) == ("listener", True)


def test_every_node_of_a_cluster_counts() -> None:
    with serving(ready=[200], cluster=[503, 200]) as first, serving(cluster=[503]) as second:
        nodes = (first.url, second.url)
        whole = Gate(UNIT, first.port, "127.0.0.1", timeout=5, nodes=nodes[:1])
        assert climb(whole, [show()]) == [*RUNGS[:4], "cluster"]
        found = failure(Gate(UNIT, first.port, "127.0.0.1", timeout=5, nodes=nodes), [show()])
    assert found.rung == "cluster"
    assert f"{second.url}/minio/health/cluster should have answered 200" in str(found)


def test_a_closed_port_is_told() -> None:
    with serving() as gate:
        pass
    assert f"nobody listened on the port {gate.port}" in str(failure(gate, [show()]))
    assert ask(gate.url).startswith("no answer: ")


def test_the_own_url_is_one_that_can_be_asked() -> None:
    assert Gate(UNIT, 9000).url == "http://127.0.0.1:9000"
    assert Gate(UNIT, 9000, "::", tls=True).url == "https://[::1]:9000"
    assert Gate(UNIT, 9000, "10.0.0.1").url == "http://10.0.0.1:9000"


def test_plain_http_on_a_tls_port_is_no_answer() -> None:
    with serving(ready=[200]) as gate:
        assert ask(gate.url.replace("http:", "https:")).startswith("no answer: ")
