# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves of gpu1 that are interrupted, under load: it ends on one of the two versions, and has requests again.

The steps of these moves end only when a file is there. The tests depend on their order.
"""

from __future__ import annotations

import getpass
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.faults import SERVE_SECONDS, interrupted_play, restart_host
from tests.support.fleet import host, play, until
from tests.support.load import Load
from tests.support.serving import pid
from tests.support.swap import (
    ENDPOINT,
    INSTANCE,
    history,
    is_drained,
    logged,
    now,
    serve,
    served,
    step,
    variables,
)

ONE = ["--tags=swap", "--limit=gpu1"]
MAY = "/run/server-may"
WAITS = [f"DOUBLE_STOP={MAY}/stop", f"DOUBLE_START={MAY}/gate"]
SLOW: dict[str, Any] = {
    "vllm_service_directives": {"Environment": WAITS},
    "vllm_start_budget": 120,
    "vllm_stop_timeout": 60,
}

# In front of the real one, for as long as a step is held: systemd is told of a start after it has read its units.
SYSTEMCTL = f"""#!/bin/sh
test "$1" != daemon-reload || until test -e {MAY}/start; do sleep 0.1; done
exec /usr/bin/systemctl "$@"
"""

MINUTE = "Stop the server, flip it to the generation, start and prove it"
MOMENTS = [
    ("begun", "Drain the instance on every gateway"),
    ("drained", "Wait until its requests have ended"),
    ("stop", MINUTE),
    ("start", MINUTE),
    ("gate", MINUTE),
    ("served", "Give it requests again"),
]


@pytest.fixture(scope="module")
def load(fleet: None) -> Iterator[Load]:
    """Streams that are short enough for many drains."""
    with Load(ENDPOINT, clients=8, long_clients=2, long_seconds=4) as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def slow(fleet: None) -> Iterator[None]:
    """The server of gpu1 waits for files from the first test to the last; then it serves v1 as before."""
    run = serve("v2", "--tags=publish")
    assert run.status == 0, run.output[-3000:]
    allow("stop", "start", "gate")
    run = serve(served()["gpu1"], *ONE, **SLOW)
    assert run.status == 0, run.output[-3000:]
    yield
    run = serve("v1", *ONE)
    assert run.status == 0, run.output[-3000:]


def allow(*steps: str) -> None:
    files = " ".join(f"{MAY}/{name}" for name in steps)
    host("gpu1").check_output(f"mkdir -p {MAY} && touch {files}")


@contextmanager
def held(at: str) -> Iterator[None]:
    """A move of gpu1 does not get beyond that step inside the block."""
    front = "/usr/sbin/systemctl"
    host("gpu1").check_output(f"cat > {front} <<'END'\n{SYSTEMCTL}END\nchmod +x {front} && rm -f {MAY}/{at}")
    try:
        yield
    finally:
        allow("stop", "start", "gate")
        host("gpu1").check_output(f"rm {front}")


def versions() -> tuple[str, str]:
    """What gpu1 serves, and what it does not."""
    old = served()["gpu1"]
    return old, {"v1": "v2", "v2": "v1"}[old]


def recovered() -> None:
    """Runs recover.yml, which ends well: the server goes on, and has requests again."""
    server = pid("gpu1")
    run = play("--limit=gpu1", playbook="playbooks/recover.yml")
    assert run.status == 0, run.output[-3000:]
    assert pid("gpu1") == server
    assert_in_service()


def assert_in_service() -> None:
    assert (step("gpu1"), is_drained("gpu1")) == ("", False)
    since = now()
    until(lambda: any(request.host == "gpu1" and request.whole for request in logged(since)), 60, "gpu1 has requests")


@pytest.mark.parametrize(("at", "task"), MOMENTS, ids=[at for at, _ in MOMENTS])
def test_controller_killed_at_any_step(load: Load, at: str, task: str) -> None:
    """The host ends by itself what it has begun; recover.yml gives it requests again, and the next move can begin."""
    old, new = versions()
    carried_out = at not in ("begun", "drained")
    with held(at):
        interrupted_play(
            task,
            signal.SIGKILL,
            variables(new, **SLOW),
            *ONE,
            when=lambda: task != MINUTE or step("gpu1") == at,
        )
        assert (step("gpu1"), is_drained("gpu1")) == (at, at != "begun")
    until(lambda: step("gpu1") == ("served" if carried_out else at), SERVE_SECONDS, "the host ends the move by itself")
    assert served()["gpu1"] == (new if carried_out else old)
    recovered()
    line = history("gpu1")
    assert (line["action"], line["result"]) == ("recover", "served" if carried_out else "abandoned")
    assert load.failures == []


def test_run_after_these_moves_it_and_the_next_changes_nothing(load: Load) -> None:
    _old, new = versions()
    run = serve(new, *ONE, **SLOW)
    assert run.status == 0, run.output[-3000:]
    server = pid("gpu1")
    run = serve(new, *ONE, **SLOW)
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert (served()["gpu1"], pid("gpu1")) == (new, server)
    assert load.failures == []


def test_controller_killed_over_a_version_that_does_not_serve(load: Load) -> None:
    """The host goes back by itself, and recover.yml says why it did."""
    old, new = versions()
    fault = {**SLOW, "vllm_service_directives": {"Environment": [*WAITS, "DOUBLE_MODEL_ID=x"]}}
    with held("gate"):
        interrupted_play(MINUTE, signal.SIGKILL, variables(new, **fault), *ONE, when=lambda: step("gpu1") == "gate")
    until(lambda: step("gpu1") == "reverted", SERVE_SECONDS, "the host goes back by itself")
    server = pid("gpu1")
    run = play("--limit=gpu1", playbook="playbooks/recover.yml")
    assert run.status != 0
    assert "serves the names x, expected tiny-qwen2" in " ".join(run.output.split())
    assert_in_service()
    assert (history("gpu1")["action"], history("gpu1")["result"]) == ("recover", "reverted")
    assert (served()["gpu1"], pid("gpu1")) == (old, server)
    assert load.failures == []


def test_second_controller_is_told_to_wait(load: Load) -> None:
    _old, new = versions()
    with ThreadPoolExecutor(1) as pool:
        with held("gate"):
            first = pool.submit(serve, new, *ONE, **SLOW)
            until(lambda: step("gpu1") == "gate", SERVE_SECONDS, "the first one is in the gate")
            journal, server = host("gpu1").check_output(f"cat {INSTANCE}/journal.json"), pid("gpu1")
            seconds = [
                serve(new, *ONE, **SLOW),
                serve(new, "--tags=undrain", "--limit=gpu1", **SLOW),
                play("--limit=gpu1", playbook="playbooks/recover.yml"),
            ]
            assert host("gpu1").check_output(f"cat {INSTANCE}/journal.json") == journal
            assert (pid("gpu1"), is_drained("gpu1")) == (server, True)
        assert first.result().status == 0, first.result().output[-3000:]
    for second in seconds:
        said = " ".join(second.output.split())
        assert second.status != 0
        assert f"{getpass.getuser()}@{socket.gethostname()} is moving the instance main to generation" in said
        assert "(step gate). Wait until that run" in said
    assert_in_service()
    assert (served()["gpu1"], pid("gpu1")) == (new, server)
    assert (history("gpu1")["action"], history("gpu1")["result"]) == ("swap", "served")
    assert load.failures == []


def test_host_restarted_in_the_middle_of_a_move(load: Load) -> None:
    """In its gate. It serves the new version after that, and recover.yml proves it."""
    _old, new = versions()
    shortly = {**SLOW, "vllm_stop_timeout": 5}  # a server that loads does not hear SIGTERM
    with ThreadPoolExecutor(1) as pool:
        with held("gate"):
            running = pool.submit(serve, new, *ONE, **shortly)
            until(lambda: step("gpu1") == "gate", SERVE_SECONDS, "the move is in the gate")
            restart_host("gpu1")
        assert running.result().status != 0
    until(lambda: served()["gpu1"] == new, SERVE_SECONDS, "gpu1 serves by itself")
    assert step("gpu1") == "gate"
    recovered()
    assert (history("gpu1")["action"], history("gpu1")["result"]) == ("recover", "served")
    assert served()["gpu1"] == new
    assert load.failures == []


@pytest.mark.parametrize("at", ["stop", "start"])
def test_rollback_first_ends_what_a_run_and_its_host_have_left(load: Load, at: str) -> None:
    """Before and after the flip: what is gone back to is what was served before that move."""
    old, new = versions()
    with held(at):
        interrupted_play(MINUTE, signal.SIGKILL, variables(new, **SLOW), *ONE, when=lambda: step("gpu1") == at)
        host("gpu1").check_output("systemctl kill --signal=KILL modelshelf-swap@main")
    assert step("gpu1") == at
    run = serve(new, "--tags=rollback", "--limit=gpu1", **SLOW)
    assert run.status == 0, run.output[-3000:]
    assert (history("gpu1")["action"], history("gpu1")["result"]) == ("rollback", "served")
    assert served()["gpu1"] == old
    assert_in_service()
    run = serve(new, *ONE, rollout_lift_hold=True, **SLOW)
    assert run.status == 0, run.output[-3000:]
    assert served()["gpu1"] == new
    assert load.failures == []


def test_what_a_gone_run_has_left_ends_before_the_first_wave(load: Load) -> None:
    """A canary that fails afterwards leaves no host drained."""
    new = f"v{now():.0f}"
    run = serve(new, "--tags=publish")
    assert run.status == 0, run.output[-3000:]
    interrupted_play(MOMENTS[1][1], signal.SIGKILL, variables(new), "--tags=swap", "--limit=gpu2")
    assert (step("gpu2"), is_drained("gpu2")) == ("drained", True)
    run = serve(new, "--tags=swap", faults={"gpu1": {"DOUBLE_CRASH": "memory"}})
    assert run.status != 0
    assert history("gpu1")["result"] == "reverted"
    assert (step("gpu2"), is_drained("gpu2")) == ("", False)
    assert (history("gpu2")["action"], history("gpu2")["result"]) == ("recover", "abandoned")
    assert load.failures == []
