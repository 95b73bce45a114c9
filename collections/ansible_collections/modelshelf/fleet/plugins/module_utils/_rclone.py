# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rclone of a mount, asked over its socket, and the cache that it keeps. Standard library and Python 3.9 only.

Measured with 1.75.2. The cache is `vfs/<remote>/<bucket>/<model>/<version>/...`, sparse files as large as the
objects, and beside them in `vfsMeta`, under the same names, which ranges of them are there.
"""

from __future__ import annotations

import http.client
import json
import shutil
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._serving_host import allocated, on_disk

_ROOT = ""
"""What rclone calls the top of a mount in its answers."""


class RcloneError(Exception):
    """rclone could not be asked, or did not do what it was asked for. The message has its words."""


class _Local(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path, self._patience = path, timeout

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._patience)
        self.sock.connect(self._path)


def ask(rc: str, command: str, timeout: float, **values: str) -> dict[str, Any]:
    """The answer to a command of rclone's remote control at the socket `rc`. Raises RcloneError."""
    connection = _Local(rc, timeout=timeout)
    try:
        connection.request("POST", f"/{command}", json.dumps(values), {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise RcloneError(f"rclone does not answer at {rc}: {error or type(error).__name__}") from None
    finally:
        connection.close()
    if response.status != http.client.OK or not isinstance(answer, dict):
        raise RcloneError(f"rclone refused {command}: {answer.get('error') if isinstance(answer, dict) else answer}")
    return answer


def refresh(rc: str, timeout: float) -> None:
    """Have a mount list everything anew, within `timeout` seconds. Raises RcloneError.

    Of the whole mount, always: when the store does not answer, that leaves the old listing as it is. Of a single
    directory, or by SIGHUP, it would be lost, and with it the use of what is cached.
    """
    result = ask(rc, "vfs/refresh", timeout, recursive="true").get("result")
    said = result.get(_ROOT) if isinstance(result, dict) else result
    if said != "OK":
        raise RcloneError(f"rclone could not list the mount anew: {said}")


@dataclass(frozen=True)
class Cache:
    """The cached files of one model, `files`, and what rclone knows of them, `meta`."""

    files: Path
    meta: Path

    def versions(self) -> dict[str, int]:
        """The bytes on disk of each version of which something is there."""
        names = {entry.name for place in self._places() if place.is_dir() for entry in place.iterdir()}
        return {name: sum(allocated(place / name) for place in self._places()) for name in sorted(names)}

    def present(self, version: str, path: str) -> int:
        """How much of a file rclone would read from the cache, in bytes; it writes that down as it closes the file."""
        # Files leave a cache at any time.
        with suppress(OSError, ValueError, LookupError, TypeError):
            known = json.loads((self.meta / version / path).read_text(encoding="utf-8"))
            if (self.files / version / path).stat().st_size == known["Size"]:
                return sum(int(part["Size"]) for part in known["Rs"] or ())
        return 0

    def on_disk(self, version: str, path: str) -> int:
        """How much of a file is on disk, in bytes, written down or not."""
        return on_disk(self.files / version / path)

    def remove(self, version: str) -> list[str]:
        """Remove the cached files of a version, and return what was removed. Raises OSError.

        rclone notices by itself, and reads from the store whoever opens such a file again.
        """
        gone = []
        for place in self._places():
            # The name comes from a listing of that directory, and a link in it is not followed.
            if (place / version).is_dir() and not (place / version).is_symlink():
                shutil.rmtree(place / version)
                gone.append(str(place / version))
        return gone

    def _places(self) -> tuple[Path, Path]:
        return self.files, self.meta


def cache_of(rc: str, directory: str, model: str, timeout: float) -> Cache | None:
    """The cache of the mount whose rclone listens at `rc`, None when it keeps none. Raises RcloneError.

    Refuses one that is not below `directory`, or whose last part is not the model.
    """
    disk = ask(rc, "vfs/stats", timeout).get("diskCache")
    if not isinstance(disk, dict):
        return None
    cache = Cache(Path(str(disk.get("path"))), Path(str(disk.get("pathMeta"))))
    for place, top in ((cache.files, "vfs"), (cache.meta, "vfsMeta")):
        if place.name != model or Path(directory, top) not in place.parents:
            raise RcloneError(f"the mount has its cache at {place}: expected it below {directory}/{top}, for {model}")
    return cache
