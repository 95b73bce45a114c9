# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the double does wrong when it is told to."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_http import NoAnswer, Server, cards
from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_log import explain
from tests.support.engine_requests import COMPLETION
from tests.support.engines import engine
from tests.support.running_engine import PATIENCE, STOP, RunningEngine

NEVER = "/nonexistent/file"
"""The end of a span that a test does not end."""
STARTED = "Application startup complete."


def ready(running: RunningEngine) -> Server:
    """A client of the kind that the gate uses, once the server says that it is well."""
    running.wait_ready()
    return Server("127.0.0.1", running.port, running.api_key)


def test_a_slow_start_holds_the_port_and_refuses(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    with engine("double", environment={"DOUBLE_START": str(loaded)}) as running:
        running.wait_for(lambda: bool(running.children("VLLM::Worker")), "it loads")
        assert running.status("/health") is None
        with socket.socket() as other, pytest.raises(OSError, match="Address already in use"):
            other.bind(("127.0.0.1", running.port))
        loaded.touch()
        ready(running)


def test_health_before_it_can_complete(tmp_path: Path) -> None:
    able = tmp_path / "able"
    with engine("double", environment={"DOUBLE_UNREADY": str(able)}) as running:
        server = ready(running)
        assert server.get("/v1/models", PATIENCE).status == 200
        assert server.post("/v1/completions", COMPLETION, PATIENCE).status == 503
        able.touch()
        assert server.post("/v1/completions", COMPLETION, PATIENCE).status == 200


def test_another_id_and_another_root() -> None:
    with engine("double", environment={"DOUBLE_MODEL_ID": "other", "DOUBLE_ROOT": "/old/v0"}) as running:
        found = cards(ready(running).get("/v1/models", PATIENCE))
    assert [(card["id"], card["root"]) for card in found] == [("other", "/old/v0")]


def test_frozen_it_accepts_and_never_answers_not_even_sigterm(tmp_path: Path) -> None:
    frozen = tmp_path / "frozen"
    with engine("double", environment={"DOUBLE_FREEZE_AFTER": str(frozen)}) as running:
        server = ready(running)
        assert server.post("/v1/completions", COMPLETION, PATIENCE).status == 200
        frozen.touch()
        running.wait_for(lambda: "double: frozen" in running.log, "it is frozen")
        with pytest.raises(NoAnswer):
            server.get("/health", 1)
        running.terminate()
        running.wait_for(lambda: "double: a stop that is not heard" in running.log, "it has got the signal")
        assert running.process.poll() is None
        assert server.is_open(PATIENCE)
        running.process.kill()


def test_the_right_key_is_refused() -> None:
    with engine("double", environment={"DOUBLE_REFUSE_KEY": "1"}) as running:
        assert ready(running).get("/v1/models", PATIENCE).status == 401


def test_a_crash_after_the_gate(tmp_path: Path) -> None:
    crash = tmp_path / "crash"
    with engine("double", environment={"DOUBLE_CRASH_AFTER": str(crash)}) as running:
        assert ready(running).post("/v1/completions", COMPLETION, PATIENCE).status == 200
        crash.touch()
        assert running.process.wait(STOP) == 1
        running.wait_gone()


def test_an_engine_that_dies_after_the_gate(tmp_path: Path) -> None:
    """The port is held, so that there is time to ask."""
    die, end = tmp_path / "die", tmp_path / "end"
    faults = {"DOUBLE_ENGINE_DIES_AFTER": str(die), "DOUBLE_STOP": str(end)}
    with engine("double", environment=faults) as running:
        ready(running)
        die.touch()
        running.wait_for(lambda: running.status("/health") == 503, "the engine is dead")
        end.touch()
        assert running.process.wait(STOP) == 0


def test_a_stop_that_releases_the_port_slowly(tmp_path: Path) -> None:
    end = tmp_path / "end"
    with engine("double", environment={"DOUBLE_STOP": str(end)}) as running:
        server = ready(running)
        running.terminate()
        running.wait_for(lambda: "engine client stopped" in running.log, "its engine is stopped")
        assert server.is_open(PATIENCE)
        end.touch()
        assert running.process.wait(STOP) == 0
        assert not server.is_open(PATIENCE)


def test_children_survive_a_kill_and_hold_the_device(tmp_path: Path) -> None:
    device = {"DOUBLE_DEVICE": str(tmp_path / "gpu0")}
    with engine("double", environment={**device, "DOUBLE_SURVIVE": NEVER}) as running:
        ready(running)
        children = running.children("VLLM")
        assert len(children) == 2
        running.process.kill()
        running.process.wait()
        for child in children:
            os.kill(child, signal.SIGTERM)
        assert "less memory is free" in started_beside(device, 0)
        assert started_beside({}, running.port) == "", "the port was to be free"
        assert running.children() == children
    assert started_beside(device, 0) == "", "what held the device is gone"


def test_children_survive_a_kill_and_hold_the_port() -> None:
    with engine("double", environment={"DOUBLE_SURVIVE": NEVER, "DOUBLE_SURVIVE_PORT": "1"}) as running:
        server = ready(running)
        running.process.kill()
        running.process.wait()
        assert server.is_open(PATIENCE)
        assert "another process listens" in started_beside({}, running.port)


def started_beside(environment: dict[str, str], port: int) -> str:
    """Why another server does not start; "" when it does."""
    with engine("double", environment=environment, port=port) as other:
        other.wait_for(lambda: other.process.poll() is not None or STARTED in other.log, "it starts, or fails")
        if STARTED in other.log:
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
            (card, _) = cards(ready(running).get("/v1/models", PATIENCE))
            assert card["root"] == (state or running.model)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("DOUBLE_CRASH", "no-such-crash", "is none of: config, directory"),
        ("DOUBLE_FREEZE", "1", "is no fault. There are: crash"),
        ("DOUBLE_STOP", "long", "is not a number of seconds or an absolute path"),
        ("DOUBLE_TOKEN_S", "/a/file", "is not a number of seconds"),
        ("DOUBLE_REFUSE_KEY", "yes", "is not 0 or 1"),
    ],
)
def test_a_fault_that_does_not_exist_is_refused(name: str, value: str, words: str) -> None:
    with engine("double", environment={name: value}) as running:
        assert running.process.wait(STOP) == 2
        assert words in running.log
