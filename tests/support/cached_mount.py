# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host with a cached mount, as the module weights_cache finds it."""

from __future__ import annotations

import io
import json
import os
import subprocess
from contextlib import redirect_stdout
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._rclone import ask, cache_of
from ansible_collections.modelshelf.fleet.plugins.modules import weights_cache
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import publish
from tests.support.rclone_shelf import USER, Shelf

SIZE = 3_000_000


def files(seed: int) -> dict[str, bytes]:
    """Two files with content of their own for each version, larger than what rclone reads ahead of a reader's end."""
    return {"config.json": b"{}", "model.safetensors": bytes([seed]) * SIZE, "empty": b""}


class CachedMount(Shelf):
    """A host with a cached mount of the model, and instances that say what they use."""

    def publish(self, *versions: str) -> None:
        for version in versions:
            publish(self.model / version, files(ord(version[-1])))

    def instance(self, name: str, current: int | None = None, previous: int | None = None, **versions: str) -> None:
        """An instance with generations `g1`, `g2`, ... of versions."""
        place = self.home / "instances" / name
        for number, version in ((key.lstrip("g"), value) for key, value in versions.items()):
            release = place / "generations" / number / "release.json"
            release.parent.mkdir(parents=True)
            release.write_text(json.dumps({"format": 1, "model": "tiny", "version": version}))
        for link, target in (("current", current), ("previous", previous)):
            (place / link).unlink(missing_ok=True)
            if target:
                (place / link).symlink_to(f"generations/{target}")

    def run(self, version: str, *, check_mode: bool = False, **changes: Any) -> dict[str, Any]:
        """What the module answers."""
        arguments = {
            "path": str(self.mountpoint / version),
            "mountpoint": str(self.mountpoint),
            "user": USER,
            "rc": str(self.rc),
            "cache": str(self.cache),
            "instances": str(self.home / "instances"),
            "timeout": 10,
            "_ansible_check_mode": check_mode,
            **changes,
        }
        out = io.StringIO()
        with patch_module_args(arguments), redirect_stdout(out), pytest.raises(SystemExit):
            weights_cache.main()
        answer: dict[str, Any] = json.loads(out.getvalue())
        return answer

    def reads(self, version: str) -> bool:
        """Whether a process that opens all files of the version anew reads them whole and right, none from memory."""
        for place in (self.mountpoint / version, self.cache):
            for path in [path for path in place.rglob("*") if path.is_file()]:
                with path.open("rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        place, origin = self.mountpoint / version, self.model / version
        command = ["timeout", "20", "diff", "--recursive", str(place), str(origin)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def fetched(self) -> int:
        """The bytes that this rclone has read from the store."""
        return int(ask(str(self.rc), "core/stats", 10)["bytes"])

    def cached(self) -> set[str]:
        """The versions of which a file with content lies in the cache."""
        found = cache_of(str(self.rc), str(self.cache), "tiny", 10)
        assert found
        return {version for version, size in found.versions().items() if size > SIZE}
