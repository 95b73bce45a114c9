# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which process listens on a port, and whether it belongs to a unit, from proc(5). Standard library, Python 3.9.

With several front processes vLLM binds with SO_REUSEPORT: then an old server and a new one can listen on one port at
once, each getting a share of the connections. So every listener counts, not the one that happened to answer.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LISTEN = "0A"
_SHOWN = 160


@dataclass(frozen=True)
class Listener:
    """A listening TCP socket: the address that it is bound to (an unspecified one means all), and its inode."""

    address: str
    inode: str
    uid: int


@dataclass(frozen=True)
class Owner:
    """A process that holds a socket, as an operator would look for it."""

    pid: int
    command: str
    unit: str

    def __str__(self) -> str:
        where = f" of {self.unit}" if self.unit else ""
        return f"pid {self.pid}{where} ({self.command})"


def parse_listeners(text: str, port: int) -> list[Listener]:
    """The sockets that listen on `port` in a text like /proc/net/tcp or tcp6."""
    found = []
    for fields in (line.split() for line in text.splitlines()[1:]):
        host, number = fields[1].split(":")
        if fields[3] == _LISTEN and int(number, 16) == port:
            found.append(Listener(_address(host), fields[9], int(fields[7])))
    return found


def listeners(address: str, port: int, proc: str = "/proc") -> list[Listener]:
    """The sockets of this host that get connections to `address` (a name, an address, or an unspecified one)."""
    wanted = _resolved(address, port)
    everywhere = any(ipaddress.ip_address(item).is_unspecified for item in wanted)
    found: list[Listener] = []
    for table in ("tcp", "tcp6"):
        with suppress(FileNotFoundError):
            found += parse_listeners(Path(proc, "net", table).read_text(encoding="ascii"), port)
    return [item for item in found if everywhere or _covers(item.address, wanted)]


def owners(sockets: Sequence[Listener], proc: str = "/proc") -> dict[str, list[int]]:
    """For each socket, by inode, the processes that hold it. Other users' processes are seen by root only."""
    held: dict[str, list[int]] = {item.inode: [] for item in sockets}
    for directory in Path(proc).iterdir():
        if not directory.name.isdigit():
            continue
        # Processes come and go while this looks at them.
        with suppress(OSError):
            for descriptor in (directory / "fd").iterdir():
                with suppress(OSError):
                    match = re.fullmatch(r"socket:\[(\d+)\]", str(descriptor.readlink()))
                    if match and match.group(1) in held:
                        held[match.group(1)].append(int(directory.name))
    return {inode: sorted(set(pids)) for inode, pids in held.items()}


def in_control_group(pid: int, control_group: str, proc: str = "/proc") -> bool:
    """Whether a process is in a unit's control group, or below it.

    The end of the path counts, on any line: a container may show its own prefix, hybrid hierarchies several lines.
    """
    ended = control_group.rstrip("/") + "/"
    return bool(control_group.strip("/")) and any(ended in f"{path}/" for path in _cgroups(pid, proc))


def foreign(address: str, port: int, control_group: str, proc: str = "/proc") -> list[str]:
    """Who else listens there: one text for each socket that no process of the control group holds."""
    sockets = listeners(address, port, proc)
    found = []
    for inode, pids in owners(sockets, proc).items():
        if any(in_control_group(pid, control_group, proc) for pid in pids):
            continue
        uid = next(item.uid for item in sockets if item.inode == inode)
        found += [str(describe(pid, proc)) for pid in pids] or [f"a process of uid {uid} that cannot be seen from here"]
    return sorted(set(found))


def describe(pid: int, proc: str = "/proc") -> Owner:
    """A process by its command line and its unit."""
    command = ""
    with suppress(OSError):
        command = Path(proc, str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    units = re.findall(r"([^/\n]+\.(?:service|scope))/?$", "\n".join(_cgroups(pid, proc)), re.MULTILINE)
    return Owner(pid, command[:_SHOWN] or "unknown command", units[-1] if units else "")


def _cgroups(pid: int, proc: str) -> Iterator[str]:
    with suppress(OSError):
        for line in Path(proc, str(pid), "cgroup").read_text(encoding="utf-8").splitlines():
            yield line.split(":", 2)[-1]


def _address(hexadecimal: str) -> str:
    # The kernel prints each 32-bit word of the address as a number of the machine's own byte order.
    words = [int(hexadecimal[start : start + 8], 16) for start in range(0, len(hexadecimal), 8)]
    return _plain(ipaddress.ip_address(struct.pack(f"={len(words)}I", *words)))


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def _resolved(address: str, port: int) -> set[str]:
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except socket.gaierror:
        return set()
    return {_plain(ipaddress.ip_address(str(item[4][0]).partition("%")[0])) for item in found}


def _covers(bound: str, wanted: set[str]) -> bool:
    if bound == "0.0.0.0":
        return any(":" not in item for item in wanted)
    return bound == "::" or bound in wanted
