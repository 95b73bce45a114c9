# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._listeners import (
    Listener,
    foreign,
    in_control_group,
    listeners,
    parse_listeners,
)

HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
# Lines of /proc/net/tcp and tcp6 of a little-endian machine: local and remote address, state, user, inode.
ROW = "   0: {} {} {} 00000000:00000000 00:00000000 00000000   {}        0 {} 1 0 100 0 0 10 0\n"
NOBODY, NOBODY6 = "00000000:0000", "00000000000000000000000000000000:0000"
TCP = HEADER + "".join(
    ROW.format(*fields)
    for fields in [
        ("1532590A:1F40", NOBODY, "0A", 998, 41001),
        ("00000000:1F40", NOBODY, "0A", 0, 41002),
        ("0100007F:1F41", NOBODY, "0A", 0, 41003),
        ("1532590A:1F40", "0132590A:C5E4", "01", 998, 41004),
    ]
)
TCP6 = HEADER + "".join(
    ROW.format(*fields)
    for fields in [
        ("00000000000000000000000001000000:1F40", NOBODY6, "0A", 0, 42001),
        ("0000000000000000FFFF00001532590A:1F40", NOBODY6, "0A", 0, 42002),
        ("00000000000000000000000000000000:1F40", NOBODY6, "0A", 0, 42003),
    ]
)
GROUP = "/system.slice/modelshelf-vllm@main.service"


def fake_proc(home: Path, tcp: str = "", tcp6: str = "") -> Path:
    (home / "net").mkdir(parents=True)
    (home / "net" / "tcp").write_text(tcp or HEADER)
    (home / "net" / "tcp6").write_text(tcp6 or HEADER)
    return home


def add_process(proc: Path, pid: int, group: str, command: str, *inodes: int) -> None:
    (proc / str(pid) / "fd").mkdir(parents=True)
    (proc / str(pid) / "cgroup").write_text(group)
    (proc / str(pid) / "cmdline").write_bytes(command.replace(" ", "\0").encode() + b"\0")
    for number, inode in enumerate(inodes):
        (proc / str(pid) / "fd" / str(number)).symlink_to(f"socket:[{inode}]")


def test_parse_listeners() -> None:
    assert parse_listeners(TCP, 8000) == [Listener("10.89.50.21", "41001", 998), Listener("0.0.0.0", "41002", 0)]
    assert [item.address for item in parse_listeners(TCP6, 8000)] == ["::1", "10.89.50.21", "::"]


@pytest.mark.parametrize(
    ("address", "inodes"),
    [
        ("10.89.50.21", {"41001", "41002", "42002", "42003"}),
        ("10.89.50.22", {"41002", "42003"}),
        ("::1", {"42001", "42003"}),
        ("0.0.0.0", {"41001", "41002", "42001", "42002", "42003"}),
    ],
)
def test_a_wildcard_counts_for_every_address(tmp_path: Path, address: str, inodes: set[str]) -> None:
    proc = fake_proc(tmp_path / "proc", TCP, TCP6)
    assert {item.inode for item in listeners(address, 8000, str(proc))} == inodes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"0::{GROUP}\n", True),
        (f"0::{GROUP}/worker\n", True),
        (f"3:cpu:/\n1:name=systemd:/docker/0a1b{GROUP}\n0::/\n", True),
        ("0::/system.slice/modelshelf-vllm@main.service.d\n", False),
        ("0::/system.slice/xmodelshelf-vllm@main.service\n", False),
        ("0::/system.slice/modelshelf-vllm@old.service\n", False),
        ("0::/\n", False),
    ],
)
def test_control_groups_are_compared_by_their_end(tmp_path: Path, text: str, expected: bool) -> None:
    add_process(tmp_path, 7, text, "vllm")
    assert in_control_group(7, GROUP, str(tmp_path)) is expected
    assert not in_control_group(7, "", str(tmp_path))
    assert not in_control_group(8, GROUP, str(tmp_path))


def test_every_listener_must_belong_to_the_unit(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path / "proc", TCP)
    add_process(proc, 10, f"0::{GROUP}\n", "vllm serve --config new", 41001)
    add_process(proc, 11, f"0::{GROUP}\n", "vllm worker", 41001)
    assert foreign("10.89.50.21", 8000, GROUP, str(proc)) == ["a process of uid 0 that cannot be seen from here"]
    add_process(proc, 20, "0::/system.slice/old.service\n", "vllm serve --config old", 41002)
    assert foreign("10.89.50.21", 8000, GROUP, str(proc)) == ["pid 20 of old.service (vllm serve --config old)"]


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield int(listening.getsockname()[1])


def test_a_real_socket_is_found_with_its_process(port: int) -> None:
    (found,) = foreign("127.0.0.1", port, GROUP)
    assert f"pid {os.getpid()}" in found
    assert foreign("localhost", port, GROUP) == [found]
    assert foreign("127.0.0.2", port, GROUP) == []


def test_a_name_that_cannot_be_resolved_has_no_listeners(port: int) -> None:
    assert listeners("no-such-host.invalid", port) == []
