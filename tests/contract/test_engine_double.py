# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The double itself: its pace, its seats, many requests at once, and how it is installed."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.double.install import install, wheel
from tests.support.engine_requests import COMPLETION
from tests.support.engines import DRAIN, engine, make_model
from tests.support.running_engine import NAMES, PATIENCE, STOP, RunningEngine


def test_a_request_says_how_long_its_answer_takes() -> None:
    with engine("double", environment={"DOUBLE_TOKEN_S": "3600"}) as running:
        running.wait_ready()
        connection = send(running)
        running.wait_for(lambda: running.in_flight() == (1, 0), "it runs")
        assert running.ask("POST", "/v1/completions", {**COMPLETION, "double_seconds": 0.1}).status == 200
        assert running.in_flight() == (1, 0)
        connection.close()


def send(running: RunningEngine, **more: object) -> http.client.HTTPConnection:
    """One completion, which is not waited for."""
    connection = running.connect()
    running.send(connection, "POST", "/v1/completions", {**COMPLETION, **more})
    return connection


def test_a_whole_answer_that_nobody_waits_for_is_given_up(tmp_path: Path) -> None:
    with engine("double") as running:
        running.wait_ready()
        connection = send(running, double_until=str(tmp_path / "never"))
        running.wait_for(lambda: running.in_flight() == (1, 0), "it runs")
        connection.close()
        running.wait_for(lambda: running.in_flight() == (0, 0), "it is given up")


def test_a_stop_that_signals_every_process_breaks_the_drain(tmp_path: Path) -> None:
    """Why the units may not stop a server with KillMode=control-group."""
    with engine("double", shutdown_timeout=DRAIN) as running:
        running.wait_ready()
        connection = send(running, double_until=str(tmp_path / "never"))
        running.wait_for(lambda: running.in_flight() == (1, 0), "it runs")
        os.killpg(running.process.pid, signal.SIGTERM)
        assert connection.getresponse().status == 500
        assert running.process.wait(STOP) == 0


def test_requests_beyond_the_seats_wait(tmp_path: Path) -> None:
    with engine("double", max_num_seqs=1) as running:
        running.wait_ready()
        go = tmp_path / "go"
        connections = [send(running, double_until=str(go)) for _ in range(2)]
        running.wait_for(lambda: running.in_flight() == (1, 1), "one runs and one waits")
        go.touch()
        assert [connection.getresponse().status for connection in connections] == [200, 200]
        assert running.in_flight() == (0, 0)


def test_the_answers_name_the_version_of_the_weights(tmp_path: Path) -> None:
    for version in ("v7", "2026-11-30"):
        with engine("double", model=make_model(tmp_path / version)) as running:
            running.wait_ready()
            data = running.ask("POST", "/v1/completions", COMPLETION).json()
            assert data["choices"][0]["text"] == 4 * f" {version}"


def test_many_requests_at_once_are_all_answered() -> None:
    with engine("double") as running:
        running.wait_ready()
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
            thread.join(PATIENCE)
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
