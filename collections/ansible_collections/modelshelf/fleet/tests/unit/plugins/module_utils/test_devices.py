# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._devices import holders


def process(proc: Path, pid: int, *files: str) -> None:
    (proc / str(pid) / "fd").mkdir(parents=True)
    for number, file in enumerate(files):
        (proc / str(pid) / "fd" / str(number)).symlink_to(file)


@pytest.mark.parametrize("device", ["/dev/nvidia0", "/dev/nvidia12", "/dev/kfd", "/dev/dri/renderD128"])
def test_a28_who_has_a_gpu_open_is_found(tmp_path: Path, device: str) -> None:
    process(tmp_path, 7, "/dev/null", device)
    process(tmp_path, 8, "/dev/null", "/dev/nvidiactl", "/srv/nvidia0", "socket:[1]")
    (tmp_path / "9").mkdir()
    (tmp_path / "uptime").write_text("1")
    assert holders(os.getuid(), str(tmp_path)) == [7]
    assert holders(os.getuid() + 1, str(tmp_path)) == []


def test_this_machine_can_be_looked_at() -> None:
    assert os.getpid() not in holders(os.getuid())
