# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the double does wrong when it is told to, and how it is installed."""

from __future__ import annotations

import http.client
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_http import NoAnswer, Server, cards
from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_log import explain
from tests.double.install import install, wheel
from tests.support.engines import NAMES, PROMPT, RunningEngine, engine, make_model

COMPLETION = {"model": NAMES[0], "prompt": PROMPT, "max_tokens": 4}


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


def test_a_request_says_how_long_its_answer_takes() -> None:
    with engine("double") as running:
        ready(running)
        connection = running.connect()
        asked = {**COMPLETION, "stream": True, "double_seconds": 2}
        running.send(connection, "POST", "/v1/completions", asked)
        answer = connection.getresponse()
        times = []
        while line := answer.readline():
            if line.startswith(b"data: {"):
                times.append(time.monotonic())
        assert [1 for before, after in itertools.pairwise(times) if 0.3 < after - before < 0.9] == [1, 1, 1]


def test_a_whole_answer_that_nobody_waits_for_is_given_up() -> None:
    with engine("double") as running:
        ready(running)
        connection = running.connect()
        running.send(connection, "POST", "/v1/completions", {**COMPLETION, "double_seconds": 20})
        running.wait_for(lambda: in_flight(running) == (1, 0), 5, "it runs")
        connection.close()
        running.wait_for(lambda: in_flight(running) == (0, 0), 5, "it is given up")


def test_a_stop_that_signals_every_process_breaks_the_drain() -> None:
    """Why the units may not stop a server with KillMode=control-group."""
    with engine("double", shutdown_timeout=30) as running:
        ready(running)
        connection = running.connect()
        running.send(connection, "POST", "/v1/completions", {**COMPLETION, "double_seconds": 4})
        running.wait_for(lambda: in_flight(running) == (1, 0), 5, "it runs")
        os.killpg(running.process.pid, signal.SIGTERM)
        assert connection.getresponse().status == 500
        assert running.process.wait(20) == 0


def test_requests_beyond_the_seats_wait() -> None:
    with engine("double", max_num_seqs=1) as running:
        ready(running)
        answers: list[int] = []

        def ask() -> None:
            asked = {**COMPLETION, "double_seconds": 2}
            answers.append(running.ask("POST", "/v1/completions", asked).status)

        asking = [threading.Thread(target=ask) for _ in range(2)]
        for thread in asking:
            thread.start()
        running.wait_for(lambda: in_flight(running) == (1, 1), 5, "one runs and one waits")
        for thread in asking:
            thread.join(20)
        assert (answers, in_flight(running)) == ([200, 200], (0, 0))


def in_flight(running: RunningEngine) -> tuple[float, float]:
    """Sequences that run, and that wait."""
    found = running.metrics()
    labels = f'{{engine="0",model_name="{NAMES[0]}"}}'
    return found[f"vllm:num_requests_running{labels}"], found[f"vllm:num_requests_waiting{labels}"]


def test_the_answers_name_the_version_of_the_weights(tmp_path: Path) -> None:
    for version in ("v7", "2026-11-30"):
        with engine("double", model=make_model(tmp_path / version)) as running:
            ready(running)
            data = running.ask("POST", "/v1/completions", COMPLETION).json()
            assert data["choices"][0]["text"] == 4 * f" {version}"


def test_many_requests_at_once_are_all_answered() -> None:
    with engine("double") as running:
        ready(running)
        failed: list[object] = []

        def ask() -> None:
            connection = running.connect()
            for number in range(20):
                try:
                    running.send(connection, "POST", "/v1/completions", {**COMPLETION, "stream": number % 2 == 0})
                    answer = connection.getresponse()
                    body = answer.read()
                    if answer.status != 200 or (number % 2 == 0 and not body.endswith(b"data: [DONE]\n\n")):
                        failed.append(body)
                except (OSError, http.client.HTTPException) as error:
                    failed.append(error)
            connection.close()

        asking = [threading.Thread(target=ask) for _ in range(20)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(60)
        assert failed == []
        labels = f'{{engine="0",finished_reason="length",model_name="{NAMES[0]}"}}'
        assert running.metrics()[f"vllm:request_success_total{labels}"] == 400


def test_it_is_an_engine_as_the_role_sees_one(tmp_path: Path) -> None:
    target = install(tmp_path / "vllm-0.33.1", version="0.33.1", python=Path(sys.executable).resolve())
    ask = "from importlib.metadata import version; print(version('vllm'))"
    said = subprocess.run([target / "bin/python", "-c", ask], capture_output=True, text=True, check=True, cwd="/")
    assert said.stdout == "0.33.1\n"
    said = subprocess.run([target / "bin/vllm", "--version"], capture_output=True, text=True, check=True, cwd="/")
    assert said.stdout == "0.33.1\n"
    with pytest.raises(FileExistsError):
        install(target)
    # Copied, and called through a link, as a generation does.
    (tmp_path / "engine").symlink_to(target.rename(tmp_path / "moved"))
    said = subprocess.run([tmp_path / "engine/bin/vllm", "--version"], capture_output=True, text=True, cwd="/")
    assert (said.returncode, said.stdout) == (0, "0.33.1\n"), said.stderr


def test_pip_installs_it_as_vllm(tmp_path: Path) -> None:
    """As the role does: an index of one folder."""
    assert wheel(tmp_path, version="0.33.1+double").name == "vllm-0.33.1+double-py3-none-any.whl"
    target = tmp_path / "packages"
    options = ["--no-input", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links", str(tmp_path)]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), "vllm==0.33.1+double"]
    subprocess.run(command, check=True)
    environment = {**os.environ, "PYTHONPATH": str(target)}
    said = subprocess.run([target / "bin/vllm", "--version"], capture_output=True, text=True, env=environment)
    assert (said.returncode, said.stdout) == (0, "0.33.1\n"), said.stderr
