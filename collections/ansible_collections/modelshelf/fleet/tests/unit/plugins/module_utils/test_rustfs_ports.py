# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_ports import (
    ENGINES,
    control_groups,
    is_open,
    port_problems,
    strangers,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import UnitState

UNIT = "modelshelf-rustfs.service"
GROUP = f"/system.slice/{UNIT}"
RUNNING = UnitState("loaded", "active", "running", control_group=GROUP)


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_forgotten_server_is_named_by_pid_and_command(port: int) -> None:
    (found,) = port_problems("", {"the S3 API": port, "the console": 0}, UNIT, [GROUP])
    assert f"the port {port} (the S3 API) is held by pid {os.getpid()}" in found
    assert "python" in found
    assert is_open("", port)


def test_listener_of_any_of_the_groups_is_no_stranger(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ansible_collections.modelshelf.fleet.plugins.module_utils._listeners.in_control_group",
        lambda pid, group, proc: pid == os.getpid() and group == "/container",
    )
    assert strangers("", port, ["/other"]) != []
    assert strangers("", port, ["/other", "/container"]) == []
    assert strangers("192.0.2.1", port, []) == []


def test_one_port_for_two_things_is_refused() -> None:
    assert "have the same port 9000" in port_problems("", {"the S3 API": 9000, "the console": 9000}, UNIT, [])[0]
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert port_problems("", {"the S3 API": unused.getsockname()[1], "the console": 0}, UNIT, []) == []


def test_container_has_a_group_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "77").mkdir()
    (tmp_path / "77/cgroup").write_text("0::/machine.slice/libpod-0a1b.scope\n")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name == "podman" else None)

    def answering(status: int, text: str) -> tuple[str, ...]:
        return control_groups(RUNNING, ENGINES, "store", lambda argv: (status, text, ""), str(tmp_path))

    assert answering(0, "77\n") == (GROUP, "/machine.slice/libpod-0a1b.scope")
    for status, text in [(0, "0\n"), (125, "no such container"), (0, "78\n")]:
        assert answering(status, text) == (GROUP,)
    assert control_groups(RUNNING, ["docker"], "store", lambda argv: (0, "77", ""), str(tmp_path)) == (GROUP,)
    assert control_groups(UnitState("not-found", "inactive", "dead"), ENGINES, "", lambda argv: (0, "", "")) == ()
