# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGTERM without a shutdown-timeout, and SIGTERM to a server that loads: what vLLM 0.32 does, and the double."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time

import pytest

from tests.support.engines import READY, SLOW, STOP, RunningEngine, engine, events_of, kinds

SETTLE = 3
"""Seconds in which a process would have ended, or an answer come."""
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."


def send_slow(running: RunningEngine, stream: bool) -> http.client.HTTPConnection:
    """A request that takes some seconds, on a connection of its own."""
    connection = running.connect(STOP)
    running.send(connection, "POST", "/v1/completions", {**SLOW, "stream": stream})
    return connection


@pytest.mark.parametrize("kind", kinds())
def test_sigterm_is_not_heard_while_it_loads_and_leaves_requests_without_an_answer(kind: str) -> None:
    """Two facts of one start: a start of vLLM is a minute of two processors."""
    with engine(kind, environment={"DOUBLE_START_S": "4"}) as running:
        running.wait_for(lambda: bool(running.children("VLLM::EngineCor")), READY[kind], "its engine loads")
        running.terminate()
        time.sleep(SETTLE)
        assert running.process.poll() is None, "it heard SIGTERM while it loaded"
        running.wait_ready()

        connections = [send_slow(running, stream) for stream in (False, True)]
        running.wait_for(lambda: running.busy() >= 100, 20, "the requests run")
        running.terminate()
        running.wait_for(lambda: running.status("/health") is None, 10, "the port is closed")
        time.sleep(SETTLE)
        assert running.process.poll() is None, "it did not wait for its clients"
        assert not running.children("VLLM::EngineCor")
        for connection in connections:
            connection.close()
        assert running.process.wait(STOP) == 0
        assert "mode=abort timeout=0s" in running.log


@pytest.mark.parametrize("kind", kinds())
def test_an_engine_that_dies_takes_its_requests_along_and_the_server_ends_with_0(kind: str) -> None:
    """A stop that signals all processes of a unit does this to a drain: a worker ends at SIGTERM."""
    with engine(kind, shutdown_timeout=60) as running:
        running.wait_ready()
        (worker,) = running.children("VLLM::Worker")
        whole, streamed = (send_slow(running, stream) for stream in (False, True))
        running.wait_for(lambda: running.busy() >= 100, 20, "the requests run")
        os.kill(worker, signal.SIGTERM)
        answer = whole.getresponse()
        error = {"message": DEAD, "type": "InternalServerError", "param": None, "code": 500}
        assert (answer.status, json.loads(answer.read())) == (500, {"error": error})
        *_, last, done = events_of(streamed.getresponse().read())
        assert (json.loads(last), done) == ({"error": error}, "[DONE]")
        assert running.status("/health") in (503, None)
        assert running.process.wait(STOP) == 0
