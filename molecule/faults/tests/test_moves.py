# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One instance moved to a new version and back, with everything in its way that was seen in the field.

The steps share one stop and two starts of the server of gpu1: they depend on their order. In the end all is as before.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from lab.settings import CACHE
from tests.support.faults import SERVE_SECONDS, interrupted_play, old_server
from tests.support.fleet import host, play, until
from tests.support.serving import BROWN, MODEL, MOUNT, MOUNTPOINT, SERVER, ask, complete, pids, root

INSTANCE = "/var/lib/modelshelf/instances/main"
MODELS = [
    {"name": MODEL, "version": "v2", "directory": str(CACHE / "models" / "tiny-qwen2-next")},
    {"name": "tiny-llama-sharded", "version": "v1"},
]
MOVE = "--extra-vars=" + json.dumps({"modelshelf_models": MODELS})
STRAYS = [f"stray-{number}" for number in range(6)]
MINUTE = "Stop the server, flip it to the generation, start and prove it"
FREE = "--extra-vars=rollout_free_timeout=5"


def generation(name: str, link: str = "current") -> int:
    return int(host(name).check_output(f"readlink {INSTANCE}/{link}").removeprefix("generations/"))


def step(name: str) -> str:
    """The step of the move that the instance is in the middle of, empty when there is none."""
    journal = host(name).run(f"cat {INSTANCE}/journal.json")
    return str(json.loads(journal.stdout)["step"]) if journal.rc == 0 else ""


def history(name: str) -> dict[str, Any]:
    """The newest line of the instance's history."""
    line: dict[str, Any] = json.loads(host(name).check_output(f"tail -n 1 {INSTANCE}/history.jsonl"))
    return line


@pytest.fixture(scope="module")
def untouched() -> tuple[dict[str, tuple[int, int]], int]:
    """gpu2 before any of this."""
    return pids("gpu2"), generation("gpu2")


@pytest.fixture(scope="module")
def down(untouched: object) -> None:
    """gpu1 with its server and its mount stopped."""
    host("gpu1").check_output(f"systemctl stop {SERVER} {MOUNT}")


@pytest.fixture
def strays(down: None) -> Iterator[None]:
    places = " ".join(f"{MOUNTPOINT}/{name}" for name in STRAYS)
    host("gpu1").check_output(f"touch {places}")
    yield
    host("gpu1").check_output(f"rm {places}")


def test_a16_files_under_the_mount_point_are_listed_and_kept(strays: None) -> None:
    run = play("--limit=gpu1")
    said = " ".join(run.output.split())
    assert run.status != 0
    assert f"{MOUNTPOINT} is not mounted and not empty" in said
    assert f"{', '.join(STRAYS[:5])}." in said
    assert host("gpu1").check_output(f"ls {MOUNTPOINT}").split() == STRAYS
    assert host("gpu1").run(f"mountpoint -q {MOUNTPOINT}").rc != 0


def test_a14_mount_that_cannot_start_says_why(down: None) -> None:
    """The helper is gone although its package is there."""
    host("gpu1").check_output("mv /usr/bin/fusermount3 /usr/bin/fusermount3.gone")
    try:
        run = play("--limit=gpu1", "--tags=mount")
    finally:
        host("gpu1").check_output("mv /usr/bin/fusermount3.gone /usr/bin/fusermount3")
    said = " ".join(run.output.split())
    assert run.status != 0
    assert f"{MOUNT} did not start" in said or "fusermount" in said
    assert "fusermount" in said.partition("PLAY RECAP")[0]


def test_old_server_on_the_port_fails_the_gate(down: None, untouched: object) -> None:
    """It shares the port, as vLLM does. gpu2 is to move as well: the first failure ends the run before that."""
    host("gpu1").check_output(f"systemctl stop {SERVER}")
    before = generation("gpu1")
    with old_server("gpu1", 8000, MODEL, f"{MOUNTPOINT}/v0") as process:
        assert ask("gpu1", "/v1/models")[1]["data"][0]["id"] == MODEL
        run, proof = play(MOVE, FREE), play("--tags=verify", "--limit=gpu1")
    said = " ".join(run.output.split())
    assert run.status != 0
    assert f"pid {process}" in said
    assert "still has the port 8000" in said
    assert (history("gpu1")["result"], generation("gpu1")) == ("failed", before)
    proved = " ".join(proof.output.split())
    assert proof.status != 0
    assert f"An older server answers on this port: root is {MOUNTPOINT}/v0, expected {MOUNTPOINT}/v1" in proved
    assert run.recap["gpu1"]["failed"] == 1
    assert (pids("gpu2"), generation("gpu2")) == untouched
    assert root("gpu2") == f"{MOUNTPOINT}/v1"


def test_interrupted_run_is_finished_by_the_next(down: None) -> None:
    """Ctrl-C at the gate. gpu1 then serves the new version, which its mount shows although its listing was cached."""
    interrupted_play(MINUTE, signal.SIGINT, MOVE, "--limit=gpu1", when=lambda: step("gpu1") == "gate")
    run = play(MOVE, "--limit=gpu1")
    assert run.status == 0, run.output[-2000:]
    assert root("gpu1") == f"{MOUNTPOINT}/v2"
    assert complete("gpu1") != BROWN
    again = play(MOVE, "--limit=gpu1", "--tags=serve")
    assert (again.status, again.changed()) == (0, {})


def test_controller_killed_in_the_middle_of_a_rollback(down: None, untouched: object) -> None:
    """Killed while the server starts. The host goes on by itself, and recover.yml writes the hold."""
    left, before = generation("gpu1"), generation("gpu1", "previous")
    interrupted_play(
        MINUTE, signal.SIGKILL, "--tags=rollback", "--limit=gpu1", when=lambda: step("gpu1") in ("start", "gate")
    )
    until(lambda: step("gpu1") == "served", SERVE_SECONDS, "the host ends the move by itself")
    process = pids("gpu1")
    recovered = play(playbook="playbooks/recover.yml")
    assert (recovered.status, recovered.changed().keys()) == (0, {"gpu1"}), recovered.output[-2000:]
    assert pids("gpu1") == process
    assert step("gpu1") == ""
    assert (history("gpu1")["action"], history("gpu1")["result"]) == ("recover", "served")
    assert (generation("gpu1"), generation("gpu1", "previous")) == (before, left)
    assert root("gpu1") == f"{MOUNTPOINT}/v1"
    assert complete("gpu1") == BROWN
    assert (pids("gpu2"), generation("gpu2")) == untouched


def test_version_that_a_rollback_left_is_held(down: None) -> None:
    """The inventory still names v2. A run says that it is held; a second rollback would go forward: refused."""
    process = pids("gpu1")
    run = play(MOVE, "--limit=gpu1", "--tags=swap")
    said = " ".join(run.output.split())
    assert (run.status, run.changed()) == (0, {}), run.output[-2000:]
    assert "HELD: main stays with generation" in said
    assert f"went back from {MODEL} v2" in said
    again = play(MOVE, "--tags=rollback", "--limit=gpu1")
    said = " ".join(again.output.split())
    assert again.status != 0
    assert f"({MODEL} v2) already" in said
    assert f"name it as rollback_to; there are 1 ({MODEL} v1, current)" in said
    assert pids("gpu1") == process


def test_hold_ends_when_the_inventory_names_another_version(down: None, untouched: object) -> None:
    """It names v1, which serves: nothing is restarted. On both it is staged again, and the hold of gpu1 is lifted."""
    process = pids("gpu1")
    run = play("--tags=swap")
    assert (run.status, run.changed()) == (0, {"gpu1": 2, "gpu2": 1}), run.output[-2000:]
    run = play()
    assert (run.status, run.changed()) == (0, {}), run.output[-2000:]
    assert pids("gpu1") == process
    assert (pids("gpu2"), generation("gpu2")) == untouched
