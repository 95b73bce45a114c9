# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What RustFS makes of its volumes: pools, erasure sets, drives. Standard library and Python 3.9 only.

The rules are those of crates/ecstore/src/layout/{disks_layout,endpoints}.rs and crates/utils/src/string.rs of the
server, which refuses at its start what is refused here.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

SET_SIZES = range(2, 17)
"""How many drives one erasure set may have."""

LONGEST_RANGE = 10_000
"""The most values of one range."""

_RANGE = re.compile(r"\{([0-9A-Fa-f]+)\.\.\.([0-9A-Fa-f]+)\}")
_HOME = ("/home", "/root", "/run/user")


class LayoutError(ValueError):
    """Volumes that the server would refuse."""


@dataclass(frozen=True)
class Drive:
    """One drive of a pool: its folder, and the host and port that serve it (empty and 0 for a path of this host)."""

    path: str
    scheme: str = ""
    host: str = ""
    port: int = 0

    @property
    def server(self) -> str:
        """The URL of the server that has this drive; empty for a path of this host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" if host else ""

    def __str__(self) -> str:
        return f"{self.server}{self.path}"


@dataclass(frozen=True)
class Pool:
    """Drives in the order of the server, and how many of them make one erasure set."""

    text: str
    drives: tuple[Drive, ...]
    set_size: int

    @property
    def sets(self) -> int:
        """How many erasure sets the pool has."""
        return len(self.drives) // self.set_size


@dataclass(frozen=True)
class Layout:
    """All pools of a store."""

    pools: tuple[Pool, ...]

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The drives of all pools."""
        return tuple(drive for pool in self.pools for drive in pool.drives)

    @property
    def distributed(self) -> bool:
        """Whether drives are named by URL, so that several hosts make one store."""
        return any(drive.host for drive in self.drives)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of the hosts in the volumes, each once."""
        return tuple(dict.fromkeys(drive.host for drive in self.drives if drive.host))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The URLs of the servers in the volumes, each once, without a path."""
        return tuple(dict.fromkeys(drive.server for drive in self.drives if drive.host))


def parse_layout(volumes: Sequence[str], set_size: int = 0) -> Layout:
    """What the server makes of `volumes`; `set_size`: the number of drives per erasure set, 0 for the server's choice.

    Raises LayoutError for what the server refuses, naming the volume and the numbers.
    """
    if not volumes:
        raise LayoutError("no volume is given: at least one folder is needed")
    for text in volumes:
        _check_text(text)
    ranges = [_ranges(text) for text in volumes]
    if any(ranges):
        if not all(ranges):
            plain = ", ".join(text for text, found in zip(volumes, ranges) if not found)
            raise LayoutError(
                f"{plain} has no range such as {{1...4}}, and other volumes have one: each argument with a range is a"
                " pool of its own. Give all of them a range, or none"
            )
        sizes = [math.prod(len(values) for values in found) for found in ranges]
        chosen = _set_size(sizes, [[len(values) for values in found] for found in ranges], set_size, ", ".join(volumes))
        pools = [Pool(text, tuple(_drive(item) for item in _expand(text)), chosen) for text in volumes]
    else:
        count = len(volumes)
        chosen = 1 if count == 1 else _set_size([count], [], set_size, ", ".join(volumes))
        pools = [Pool(" ".join(volumes), tuple(map(_drive, volumes)), chosen)]
    layout = Layout(tuple(pools))
    _check_drives(layout)
    return layout


def topology_problems(layout: Layout, local: Sequence[Drive], hosts: int, port: int) -> list[str]:
    """What does not fit between the volumes and the hosts of the store, as sentences.

    `local`: the drives that are on this host; `hosts`: how many hosts make up the store (0: unknown); `port`: that of
    the server.
    """
    named = layout.hosts
    if not named:
        return [f"{hosts} hosts make up the store, and its volumes name none of them: write URLs"] if hosts > 1 else []
    found = []
    if hosts and len(named) != hosts:
        found.append(f"the volumes name {len(named)} hosts ({', '.join(named)}), and {hosts} hosts make up the store")
    if not local:
        found.append(f"none of the hosts in the volumes is this one: {', '.join(named)}")
    other = sorted({drive.port for drive in layout.drives} - {port})
    if other:
        found.append(f"the volumes name the port {', '.join(map(str, other))}, and the server listens on {port}")
    return found


def _check_text(text: str) -> None:
    if not text or re.search(r"[\s,\"'\\$%]", text):
        raise LayoutError(
            f"the volume {text!r} is empty or has a blank, a comma, a quote, a backslash, a $ or a % in it"
        )
    left = _RANGE.sub("", text)
    if re.search(r"[{}]|\.\.\.", left):
        raise LayoutError(
            f"the volume {text} has a range that is none: write {{N...M}}, with three dots and braces, N not above M,"
            " both decimal or hexadecimal"
        )


def _ranges(text: str) -> list[list[str]]:
    return [_values(match.group(1), match.group(2), text) for match in _RANGE.finditer(text)]


def _values(first: str, last: str, text: str) -> list[str]:
    hexadecimal = re.search("[A-Fa-f]", first + last) is not None
    low, high = (int(value, 16 if hexadecimal else 10) for value in (first, last))
    if low > high:
        raise LayoutError(f"the range {{{first}...{last}}} of the volume {text} begins above its end")
    if high - low >= LONGEST_RANGE:
        raise LayoutError(f"the range {{{first}...{last}}} of the volume {text} has over {LONGEST_RANGE} values")
    if hexadecimal:
        kind = "X" if re.search("[A-F]", first + last) else "x"
        return [f"{number:0{len(last)}{kind}}" for number in range(low, high + 1)]
    width = len(last) if first.startswith("0") and len(first) > 1 else 0
    return [f"{number:0{width}d}" for number in range(low, high + 1)]


def _expand(text: str) -> list[str]:
    """All names that the ranges stand for. The range at the end turns slowest, as in the server."""
    fixed = _RANGE.split(text)[0::3]
    found = []
    for values in itertools.product(*reversed(_ranges(text))):
        parts = itertools.zip_longest(fixed, reversed(values), fillvalue="")
        found.append("".join(itertools.chain.from_iterable(parts)))
    return found


def _set_size(sizes: Sequence[int], patterns: Sequence[Sequence[int]], wanted: int, text: str) -> int:
    """The number of drives of one erasure set, which divides the drives of every pool."""
    smallest = SET_SIZES[0]
    for size in sizes:
        if size < max(smallest, wanted):
            raise LayoutError(f"{text}: {size} drives are too few for an erasure set of {max(smallest, wanted)}")
    common = functools.reduce(math.gcd, sizes)
    possible = [size for size in SET_SIZES if common % size == 0]
    if not possible:
        raise LayoutError(
            f"{text}: {' and '.join(map(str, sizes))} drives cannot be divided into erasure sets of equal size:"
            f" a set has {smallest} to {SET_SIZES[-1]} drives, and none of these numbers divides {common}"
        )
    symmetric = [size for size in possible if not patterns or _symmetric(size, patterns)]
    if not symmetric:
        raise LayoutError(
            f"{text}: {common} drives can be divided into sets of {', '.join(map(str, possible))}, but none of these"
            " spreads evenly over the ranges. Change the number of hosts or of drives per host"
        )
    if wanted and wanted not in symmetric:
        raise LayoutError(
            f"{text}: {wanted} drives per erasure set do not fit {common} drives: possible are"
            f" {', '.join(map(str, symmetric))}"
        )
    # The server prefers few, large sets.
    return wanted or max(symmetric)


def _symmetric(size: int, patterns: Sequence[Sequence[int]]) -> bool:
    # The server overwrites its verdict with every range, so that the first range of the last volume decides.
    length = patterns[-1][0]
    return length % size == 0 if length > size else size % length == 0


def _drive(text: str) -> Drive:
    if "://" not in text:
        if not text.startswith("/") or text.rstrip("/") == "":
            raise LayoutError(f"the volume {text} is no absolute path of a folder, and no URL")
        return Drive(text.rstrip("/"))
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise LayoutError(f"the volume {text} is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.rstrip("/") == "":
        raise LayoutError(f"the volume {text} is not of the form http://host:port/folder")
    if parts.username or parts.query or parts.fragment:
        raise LayoutError(f"the volume {text} has more than a scheme, a host, a port and a folder")
    default = 443 if parts.scheme == "https" else 80
    return Drive(parts.path.rstrip("/"), parts.scheme, parts.hostname, port or default)


def _check_drives(layout: Layout) -> None:
    drives = layout.drives
    twice = sorted({str(drive) for drive in drives if drives.count(drive) > 1})
    if twice:
        raise LayoutError(f"{', '.join(twice)}: the same drive is named more than once")
    if len({bool(drive.host) for drive in drives}) > 1:
        raise LayoutError("some volumes are URLs and others are paths: a store has one kind")
    if len({drive.scheme for drive in drives}) > 1:
        raise LayoutError("some volumes are http and others https: a store has one scheme")
    if layout.distributed and len(drives) == 1:
        raise LayoutError(f"{drives[0]}: a store of one drive is named by its path, not by a URL")
    hidden = sorted({drive.path for drive in drives if drive.path.startswith(tuple(f"{item}/" for item in _HOME))})
    if hidden:
        raise LayoutError(f"{', '.join(hidden)}: the unit hides {', '.join(_HOME)}; put the volumes elsewhere")
