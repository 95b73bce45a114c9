# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes, hosts and the store fail, and the fleet is back by itself: no run of Ansible mends anything here."""

from __future__ import annotations

import pytest

from tests.support.faults import SERVE_SECONDS, restart_host, stopped_store
from tests.support.fleet import host, play, until
from tests.support.serving import BROWN, MOUNT, MOUNTPOINT, SERVER, answers, complete, pid, show

JOURNAL = f"journalctl --quiet --output=cat --unit {SERVER}"


def gate_passes(name: str) -> None:
    """The proofs of the playbook hold, and it finds nothing to do."""
    run = play(f"--limit={name}", "--tags=verify")
    assert (run.status, run.changed()) == (0, {}), run.output[-2000:]


def mounted(name: str) -> bool:
    return host(name).run(f"timeout 5 cat {MOUNTPOINT}/v1/config.json").rc == 0


def test_killed_rclone_comes_back_with_its_server() -> None:
    mount, restarts = pid("gpu1", MOUNT), int(show("gpu1", MOUNT, "NRestarts")["NRestarts"])
    host("gpu1").check_output(f"kill -9 {mount}")
    until(lambda: mounted("gpu1"), 20, "the mount is back")
    assert pid("gpu1", MOUNT) not in (0, mount)
    assert int(show("gpu1", MOUNT, "NRestarts")["NRestarts"]) > restarts
    until(lambda: answers("gpu1"), SERVE_SECONDS, "the server is back")
    assert complete("gpu1") == BROWN
    # The server's own view of the mount is the new one, not the dead endpoint.
    inside = f"nsenter --target {pid('gpu1')} --mount cat {MOUNTPOINT}/v1/config.json"
    assert host("gpu1").run(inside).rc == 0
    gate_passes("gpu1")


def test_restarted_host_serves_by_itself() -> None:
    restart_host("gpu2")
    until(lambda: answers("gpu2"), SERVE_SECONDS, "gpu2 serves after its restart")
    assert complete("gpu2") == BROWN
    gate_passes("gpu2")


@pytest.fixture(scope="module")
def without_store() -> str:
    """gpu1 restarted while the store is down: what its server says until the store is back."""
    with stopped_store():
        restart_host("gpu1")
        refused = "modelshelf: weights are not mounted"
        until(lambda: refused in host("gpu1").check_output(JOURNAL + " --boot"), 150, "the unit refuses to start")
        assert show("gpu1", SERVER, "SubState")["SubState"] != "running"
        return str(host("gpu1").check_output(JOURNAL + " --boot"))


def test_unit_says_that_the_weights_are_not_mounted(without_store: str) -> None:
    lines = [line for line in without_store.splitlines() if "weights are not mounted" in line]
    assert lines
    assert MOUNTPOINT in lines[0]


@pytest.mark.parametrize("error", ["HFValidationError", "Repo id must", "huggingface", "Invalid repository"])
def test_no_hub_name_error_is_shown_instead(without_store: str, error: str) -> None:
    assert error not in without_store


def test_host_serves_once_the_store_is_back(without_store: str) -> None:
    until(lambda: answers("gpu1"), SERVE_SECONDS, "gpu1 serves after the store came back")
    assert complete("gpu1") == BROWN
    gate_passes("gpu1")


def test_dead_engine_comes_back_although_its_server_ends_without_an_error() -> None:
    """vLLM's front process ends with status 0 when its engine is gone."""
    before = pid("gpu2")
    host("gpu2").check_output("pkill -9 -f VLLM::[E]ngineCore")
    until(lambda: pid("gpu2") not in (0, before), 60, "systemd starts the server again")
    until(lambda: answers("gpu2"), SERVE_SECONDS, "gpu2 serves again")
