# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a version's manifest through a mount, without ever being stuck in it.

A read from a mount whose store is gone can block so that no signal ends it: the kernel waits for rclone's answer.
So nothing here touches a mount in the calling process: a child does, with a deadline, and is left behind when it hangs.

Also a program, which systemd runs as the service's user before vLLM starts (with PYTHONPATH at the folder that holds
`ansible_collections`): `python3 -m ansible_collections.modelshelf.fleet.plugins.module_utils._weights check RELEASE`.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import posixpath
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import (
    MANIFEST_PATH,
    Manifest,
    ManifestError,
    parse_manifest,
)

ABSENT, DEAD, DENIED, SILENT = "absent", "dead endpoint", "permission denied", "no answer"
NOT_MOUNTED, DAMAGED, OTHER, WRITABLE = "not mounted", "damaged", "other digest", "writable"

_STORE = "the store does not answer, has a certificate that is not trusted, or refuses the reader's key"
_ERRNO = {
    errno.ENOENT: ABSENT,
    errno.ENOTDIR: ABSENT,
    errno.ENOTCONN: DEAD,
    errno.ECONNABORTED: DEAD,
    errno.EACCES: DENIED,
    errno.EPERM: DENIED,
}


class WeightsFault(Exception):
    """Weights that are not as they should be. `kind` is one of the constants above; the message is for an operator."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Stalled(Exception):
    """A child said nothing for as long as it was given."""


@dataclass(frozen=True)
class Identity:
    """The user and the groups that a child takes on. Taking on another one than its own needs root."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mount:
    """What is mounted on a directory: the type of file system and its source (rclone's is `remote:bucket/prefix`)."""

    fstype: str
    source: str


def mount_at(directory: str, mountinfo: str | None = None) -> Mount | None:
    """The topmost mount exactly at `directory`, None when it is no mount point. `mountinfo`: text as in proc(5)."""
    text = Path("/proc/self/mountinfo").read_text(encoding="utf-8") if mountinfo is None else mountinfo
    wanted, found = posixpath.normpath(directory), None
    for line in text.splitlines():
        fields, kinds = (part.split(" ") for part in f"{line} - ".split(" - ")[:2])
        if len(fields) > 4 and len(kinds) > 1 and _unescape(fields[4]) == wanted:
            found = Mount(kinds[0], _unescape(kinds[1]))
    return found


def in_child(
    work: Callable[[], Iterator[Any]], *, stall: float, identity: Identity | None = None, root: str = ""
) -> Iterator[Any]:
    """Run `work` in a forked process, as `identity` and below `root`, and yield what it yields (JSON data).

    Raises Stalled when nothing came for `stall` seconds, RuntimeError when `work` raised. The child is killed and not
    waited for: one that the kernel holds would hold the caller too. It keeps no descriptor of the caller's, since an
    ssh session ends only when the last holder of its output does.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _be_child(work, identity, root, writer)
    os.close(writer)
    try:
        for line in _lines(reader, stall):
            message = json.loads(line)
            if "error" in message:
                raise RuntimeError(message["error"])
            yield message["value"]
    finally:
        os.close(reader)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        for _attempt in range(20):
            if os.waitpid(child, os.WNOHANG)[0]:
                break
            time.sleep(0.01)


def read_manifest(path: str, *, timeout: float, identity: Identity | None = None) -> Manifest:
    """The manifest of the version in directory `path`, read within `timeout` seconds. Raises WeightsFault."""
    place = posixpath.join(path, MANIFEST_PATH)

    def work() -> Iterator[Any]:
        try:
            yield {"text": Path(place).read_text(encoding="utf-8", errors="surrogateescape")}
        except OSError as error:
            yield {"errno": error.errno, "why": error.strerror}

    try:
        answer = next(in_child(work, stall=timeout, identity=identity))
    except (Stalled, StopIteration):
        raise WeightsFault(SILENT, f"no answer within {timeout:.3g} s while reading {place}: {_STORE}") from None
    except RuntimeError as error:
        raise WeightsFault(DENIED, f"cannot read {place} as uid {identity and identity.uid}: {error}") from None
    if "text" in answer:
        try:
            return parse_manifest(answer["text"])
        except ManifestError as error:
            raise WeightsFault(DAMAGED, f"{place}: {error}. Publish the model under a new version") from None
    kind = _ERRNO.get(answer["errno"], SILENT)
    if kind in (ABSENT, DEAD):
        raise _missing(path, dead=kind == DEAD)
    hint = f": {_STORE}" if kind == SILENT else ": files there must be readable by the service's user"
    raise WeightsFault(kind, f"{place}: {answer['why']}{hint}")


def check_release(release: str, *, timeout: float) -> None:
    """Prove that the weights which `release` (a release.json) names are there to be read. Raises WeightsFault."""
    try:
        data = json.loads(Path(release).read_text(encoding="utf-8"))
        path, expected = str(data["weights_path"]), str(data["manifest_digest"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise WeightsFault(DAMAGED, f"{release} is no usable release description: {error}") from None
    manifest = read_manifest(path, timeout=timeout)
    if manifest.digest != expected:
        raise WeightsFault(
            OTHER,
            f"{path} has another digest than the release that was written for it: expected {expected}, found"
            f" {manifest.digest}. Versions never change: publish the new content under a new version",
        )


def _missing(path: str, *, dead: bool) -> WeightsFault:
    mountpoint, version = posixpath.split(posixpath.normpath(path))
    mount = mount_at(mountpoint)
    if dead:
        return WeightsFault(DEAD, f"the mount at {mountpoint} is a dead endpoint: its rclone is gone")
    if mount is None:
        return WeightsFault(NOT_MOUNTED, f"{mountpoint} is not a mount point, and has no {version}/{MANIFEST_PATH}")
    prefix = f"{mount.source.rstrip('/')}/{version}/"
    return WeightsFault(ABSENT, f"no manifest at {prefix}, mounted at {mountpoint}: not uploaded or not listable")


def _be_child(work: Callable[[], Iterator[Any]], identity: Identity | None, root: str, writer: int) -> None:
    code = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        for descriptor in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
            if descriptor > 2 and descriptor != writer:
                with suppress(OSError):
                    os.close(descriptor)
        if root:
            os.chroot(root)
        if identity is not None and (identity.uid, identity.gid) != (os.geteuid(), os.getegid()):
            os.setgroups(identity.groups)
            os.setgid(identity.gid)
            os.setuid(identity.uid)
        for value in work():
            _send(writer, {"value": value})
        code = 0
    except BaseException as error:
        with suppress(OSError):
            _send(writer, {"error": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(code)


def _send(writer: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(writer, data) :]


def _lines(reader: int, stall: float) -> Iterator[bytes]:
    rest, deadline = b"", time.monotonic() + stall
    while True:
        if not select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise Stalled
        data = os.read(reader, 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
        deadline = time.monotonic() + stall


def _unescape(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), field)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="modelshelf-weights", description="Check the weights that a release names.")
    parser.add_argument("command", choices=["check"])
    parser.add_argument("release", help="path of the release.json of a generation")
    parser.add_argument("--timeout", type=float, default=90.0, metavar="SECONDS", help="how long to wait for the mount")
    options = parser.parse_args(arguments)
    try:
        check_release(options.release, timeout=options.timeout)
    except WeightsFault as fault:
        line = " ".join(str(fault).split())
        sys.stderr.write(f"modelshelf: weights are not mounted: {line}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
