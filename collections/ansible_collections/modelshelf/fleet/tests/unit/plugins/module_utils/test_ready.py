# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._ready import Gate, GateFailure, Ladder, Served
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import (
    ABSENT,
    CRASHED,
    Host,
    Vllm,
    publish,
    serving,
    show,
)

UNIT = "modelshelf-vllm@main.service"
OURS = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()[-1].split(":", 2)[-1]
RUNGS = ("unit", "port", "listener", "health", "models", "completion", "weights")


@pytest.fixture(autouse=True)
def control_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take this test's own process for one of the unit, wherever the tests run; `/` names no unit."""
    monkeypatch.setattr(
        "ansible_collections.modelshelf.fleet.plugins.module_utils._listeners.in_control_group",
        lambda pid, group, proc: pid == os.getpid() and group == "/system.slice/modelshelf-vllm@main.service",
    )


@pytest.fixture
def root(tmp_path: Path) -> str:
    publish(tmp_path / "v2")
    return str(tmp_path / "v2")


@pytest.fixture
def vllm(root: str) -> Iterator[Vllm]:
    with serving(Vllm("qwen", root=root)) as server:
        yield server


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def running() -> str:
    return show(pid=os.getpid())


def gate(vllm: Vllm, root: str) -> Gate:
    return Gate(UNIT, "127.0.0.1", vllm.port, ("qwen",), root, timeout=30, completion_timeout=10)


def climb(gate: Gate, host: Host, *, complete: bool = True) -> Served:
    clock = Clock()
    return Ladder(gate, Systemd(host.run), clock=lambda: clock.now, sleep=clock.sleep).climb(complete=complete)


def failure(gate: Gate, host: Host) -> GateFailure:
    with pytest.raises(GateFailure) as caught:
        climb(gate, host)
    assert str(caught.value).startswith(f"{caught.value.rung}: ")
    return caught.value


def test_a_server_that_is_right_passes(vllm: Vllm, root: str) -> None:
    served = climb(gate(vllm, root), Host([running()]))
    assert served == Served(" brown brown", "qwen", root, 0.0, RUNGS)
    assert vllm.requests == [{"model": "qwen", "prompt": "the quick brown", "max_tokens": 8, "temperature": 0}]


def test_no_completion_is_asked_for_when_none_is_wanted(vllm: Vllm, root: str) -> None:
    served = climb(gate(vllm, root), Host([running()]), complete=False)
    assert (served.completion, "completion" in served.rungs) == ("", False)
    assert climb(replace(gate(vllm, root), prompt=""), Host([running()])).completion == ""
    assert vllm.requests == []


def test_an_empty_completion_is_one(vllm: Vllm, root: str) -> None:
    vllm.completion = ""
    assert "completion" in climb(gate(vllm, root), Host([running()])).rungs


def test_a_start_that_takes_its_time_is_waited_for(vllm: Vllm, root: str) -> None:
    vllm.status = {"/health": [503, 503, 200]}
    queued, starting = show(active="inactive", sub="dead", job=9), show(active="activating", sub="start-pre")
    assert climb(gate(vllm, root), Host([queued, starting, running()])).seconds == 4.0


def test_a_unit_that_does_not_exist(vllm: Vllm, root: str) -> None:
    found = failure(gate(vllm, root), Host([ABSENT]))
    assert (found.rung, "does not exist on this host" in str(found)) == ("unit", True)


def test_a_unit_that_nobody_started(vllm: Vllm, root: str) -> None:
    found = failure(gate(vllm, root), Host([show(active="inactive", sub="dead")]))
    assert f"{UNIT} is stopped" in str(found)


@pytest.mark.parametrize("state", [CRASHED, {"active": "failed", "sub": "failed", "result": "exit-code", "status": 1}])
def test_a_crash_ends_the_wait_with_its_cause(root: str, state: dict[str, object]) -> None:
    log = "ok\nRuntimeError: Cannot find any model weights with `/m`\nRuntimeError: Engine core initialization failed."
    host = Host([running(), running(), show(**state)], log)
    found = failure(Gate(UNIT, "127.0.0.1", 1, ("qwen",), root, timeout=1800), host)
    assert "Cause: the directory has no weight files" in str(found)
    assert "Cannot find any model weights" in str(found)
    assert found.log[-1].startswith("RuntimeError: Engine core")
    assert len(host.asked) == 4


def test_a_restart_while_waiting_is_a_crash(root: str) -> None:
    host = Host([running(), show(pid=7, restarts=1)], "killed")
    found = failure(Gate(UNIT, "127.0.0.1", 1, ("qwen",), root), host)
    assert "crashed and was started again: active/running, 1 automatic restarts; last log lines: killed" in str(found)


def test_restarts_from_before_do_not_count(vllm: Vllm, root: str) -> None:
    assert climb(gate(vllm, root), Host([show(pid=os.getpid(), restarts=4)])).completion


def test_a_port_that_stays_closed_ends_with_the_budget(root: str) -> None:
    found = failure(
        Gate(UNIT, "127.0.0.1", 1, ("qwen",), root, timeout=1800, interval=60), Host([running()], "loading")
    )
    assert "after 1800 s the port 127.0.0.1:1 was still closed; last log lines: loading" in str(found)


def test_an_old_server_on_the_port_is_named(vllm: Vllm, root: str) -> None:
    vllm.cards[0]["root"] = "/srv/w/qwen/v1"
    found = failure(gate(vllm, root), Host([show(group="/system.slice/modelshelf-vllm@other.service")]))
    assert found.rung == "listener"
    assert f"pid {os.getpid()}" in str(found)
    assert f"An older server answers on this port: root is /srv/w/qwen/v1, expected {root}." in str(found)


def test_a_crash_for_want_of_the_port_names_who_has_it(vllm: Vllm, root: str) -> None:
    found = failure(gate(vllm, root), Host([show(**CRASHED)], "OSError: [Errno 98] Address already in use"))
    assert "Cause: another process listens on the port" in str(found)
    assert f"pid {os.getpid()}" in str(found)


def test_the_own_server_with_an_older_version_does_not_pass(vllm: Vllm, root: str) -> None:
    vllm.cards[0]["root"] = "/srv/w/qwen/v1"
    found = failure(gate(vllm, root), Host([running()]))
    assert found.rung == "models"
    assert "an older server answers on this port" in str(found)
    assert f"root is /srv/w/qwen/v1, expected {root}" in str(found)


@pytest.mark.parametrize("names", [(), ("qwen", "qwen-v2"), ("qwen qwen-v2",), ("other",)])
def test_a27_served_names_are_compared_exactly(vllm: Vllm, root: str, names: tuple[str, ...]) -> None:
    vllm.cards = [{"id": name, "root": root, "parent": None} for name in names]
    found = failure(gate(vllm, root), Host([running()]))
    assert found.rung == "models"
    assert f"serves the names {', '.join(names) or '(none)'}, expected qwen" in str(found)


def test_a27_several_names_in_any_order(vllm: Vllm, root: str) -> None:
    vllm.cards = [{"id": name, "root": root, "parent": None} for name in ("b", "a")]
    assert climb(replace(gate(vllm, root), served_names=("a", "b")), Host([running()])).model == "a"


def test_adapters_of_the_model_do_not_count(vllm: Vllm, root: str) -> None:
    vllm.cards.append({"id": "tuned", "root": "/srv/w/adapter/v1", "parent": "qwen"})
    assert climb(gate(vllm, root), Host([running()])).root == root


@pytest.mark.parametrize(("key", "says"), [("wrong", "the API key that was given"), ("", "a request without API key")])
def test_a_refused_key_ends_it_at_once(vllm: Vllm, root: str, key: str, says: str) -> None:
    vllm.key = "canary-key"
    host = Host([running()], "non-default args: {'api_key': ['canary-key']}")
    found = failure(replace(gate(vllm, root), api_key=key), host)
    assert f"401: the server refuses {says}" in str(found)
    assert climb(replace(gate(vllm, root), api_key="canary-key"), host).completion
    assert "canary-key" not in f"{found} {found.log} {gate(vllm, root)}"


def test_another_program_on_the_port_is_no_server(vllm: Vllm, root: str) -> None:
    vllm.status = {"/health": [404]}
    assert "expected 200, found 404 nothing. This is no vLLM server" in str(
        failure(gate(vllm, root), Host([running()]))
    )


def test_a_completion_that_fails(vllm: Vllm, root: str) -> None:
    vllm.status = {"/v1/completions": [500]}
    found = failure(gate(vllm, root), Host([running()]))
    assert (found.rung, "expected 200 with a text, found 500" in str(found)) == ("completion", True)


def test_weights_that_the_service_cannot_read(vllm: Vllm, root: str) -> None:
    vllm.cards[0]["root"] = "/srv/nowhere/v2"
    found = failure(replace(gate(vllm, root), root="/srv/nowhere/v2"), Host([running()]))
    assert found.rung == "weights"
    assert f"/srv/nowhere/v2/.modelshelf/manifest.json cannot be read inside {UNIT} (pid {os.getpid()})" in str(found)


def test_streamed_weights_have_no_directory(vllm: Vllm) -> None:
    vllm.cards[0]["root"] = "s3://models/qwen/v2"
    assert "weights" not in climb(gate(vllm, "s3://models/qwen/v2"), Host([running()])).rungs


def test_a_restart_at_the_last_moment_does_not_pass(vllm: Vllm, root: str) -> None:
    other = running().replace("InvocationID=5a1c", "InvocationID=ffff")
    found = failure(gate(vllm, root), Host([*[running()] * 4, other]))
    assert "was restarted while it was being checked" in str(found)
