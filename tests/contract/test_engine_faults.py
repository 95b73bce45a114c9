# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the double does wrong when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_http import NoAnswer, Server, cards
from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_log import explain
from tests.support.engine_requests import COMPLETION
from tests.support.engines import RunningEngine, engine


def ready(running: RunningEngine) -> Server:
    """A client of the kind that the gate uses, once the server says that it is well."""
    running.wait_ready()
    return Server("127.0.0.1", running.port, running.api_key)


def test_a_slow_start_holds_the_port_and_refuses() -> None:
    began = time.monotonic()
    with engine("double", environment={"DOUBLE_START_S": "3"}) as running:
        running.wait_for(lambda: bool(running.children("VLLM::Worker")), 10, "it loads")
        assert running.status("/health") is None
        with socket.socket() as other, pytest.raises(OSError, match="Address already in use"):
            other.bind(("127.0.0.1", running.port))
        ready(running)
    assert time.monotonic() - began > 3


def test_health_before_it_can_complete() -> None:
    with engine("double", environment={"DOUBLE_UNREADY_S": "4"}) as running:
        server = ready(running)
        assert server.get("/v1/models", 5).status == 200
        assert server.post("/v1/completions", COMPLETION, 5).status == 503
        running.wait_for(lambda: server.post("/v1/completions", COMPLETION, 5).status == 200, 10, "it is ready")


def test_another_id_and_another_root() -> None:
    with engine("double", environment={"DOUBLE_MODEL_ID": "other", "DOUBLE_ROOT": "/old/v0"}) as running:
        found = cards(ready(running).get("/v1/models", 5))
    assert [(card["id"], card["root"]) for card in found] == [("other", "/old/v0")]


def test_frozen_it_accepts_and_never_answers_not_even_sigterm() -> None:
    with engine("double", environment={"DOUBLE_FREEZE_AFTER_S": "3"}) as running:
        server = ready(running)
        assert server.post("/v1/completions", COMPLETION, 5).status == 200
        time.sleep(3)
        assert server.is_open(2)
        with pytest.raises(NoAnswer):
            server.get("/health", 1)
        running.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(2)
        assert server.is_open(2)
        running.process.kill()


def test_the_right_key_is_refused() -> None:
    with engine("double", environment={"DOUBLE_REFUSE_KEY": "1"}) as running:
        assert ready(running).get("/v1/models", 5).status == 401


def test_a_crash_after_the_gate() -> None:
    with engine("double", environment={"DOUBLE_CRASH_AFTER_S": "2"}) as running:
        assert ready(running).post("/v1/completions", COMPLETION, 5).status == 200
        assert running.process.wait(10) == 1
        deadline = time.monotonic() + 5
        while running.children("VLLM"):
            assert time.monotonic() < deadline, "its children live on"
            time.sleep(0.1)


def test_an_engine_that_dies_after_the_gate() -> None:
    with engine("double", environment={"DOUBLE_ENGINE_DIES_AFTER_S": "1"}) as running:
        ready(running)
        running.wait_for(lambda: running.status("/health") == 503, 5, "the engine is dead")
        assert running.process.wait(10) == 0


def test_a_stop_that_releases_the_port_slowly() -> None:
    with engine("double", environment={"DOUBLE_STOP_S": "2"}) as running:
        server = ready(running)
        running.terminate()
        time.sleep(1)
        assert server.is_open(2)
        assert running.process.wait(10) == 0
        assert not server.is_open(2)


def test_children_survive_a_kill_and_hold_the_device(tmp_path: Path) -> None:
    device = {"DOUBLE_DEVICE": str(tmp_path / "gpu0")}
    with engine("double", environment={**device, "DOUBLE_SURVIVE_S": "30"}) as running:
        ready(running)
        children = running.children("VLLM")
        assert len(children) == 2
        running.process.kill()
        running.process.wait()
        for child in children:
            os.kill(child, signal.SIGTERM)
        time.sleep(0.5)
        assert running.children("VLLM") == children
        assert "less memory is free" in started_beside(device, 0)
        assert started_beside({}, running.port) == "", "the port was to be free"
    assert started_beside(device, 0) == "", "what held the device is gone"


def test_children_survive_a_kill_and_hold_the_port() -> None:
    with engine("double", environment={"DOUBLE_SURVIVE_S": "30", "DOUBLE_SURVIVE_PORT": "1"}) as running:
        server = ready(running)
        running.process.kill()
        running.process.wait()
        assert server.is_open(2)
        assert "another process listens" in started_beside({}, running.port)


def started_beside(environment: dict[str, str], port: int) -> str:
    """Why another server does not start; "" when it does."""
    with engine("double", environment=environment, port=port) as other:
        try:
            other.process.wait(3)
        except subprocess.TimeoutExpired:
            other.wait_ready()
            return ""
        found = explain(other.log.splitlines())
        assert found
        return found.what


def test_faults_hold_while_a_file_is_there(tmp_path: Path) -> None:
    switch = tmp_path / "faulty"
    environment = {"DOUBLE_ROOT": "/old", "DOUBLE_WHILE": str(switch)}
    for state in ("/old", None):
        switch.touch() if state else switch.unlink()
        with engine("double", environment=environment) as running:
            (card, _) = cards(ready(running).get("/v1/models", 5))
            assert card["root"] == (state or running.model)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("DOUBLE_CRASH", "no-such-crash", "is none of: config, directory"),
        ("DOUBLE_FREEZE", "1", "is no fault. There are: crash"),
        ("DOUBLE_STOP_S", "long", "is not a number of seconds"),
        ("DOUBLE_REFUSE_KEY", "yes", "is not 0 or 1"),
    ],
)
def test_a_fault_that_does_not_exist_is_refused(name: str, value: str, words: str) -> None:
    with engine("double", environment={name: value}) as running:
        assert running.process.wait(10) == 2
        assert words in running.log
