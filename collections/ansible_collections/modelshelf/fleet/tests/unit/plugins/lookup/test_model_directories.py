# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

from ansible_collections.modelshelf.fleet.plugins.lookup.model_directories import LookupModule
from ansible_collections.modelshelf.fleet.plugins.module_utils._models import resolve_models
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import hf_files, write_tree


def test_sizes_and_faults_of_directories(tmp_path: Path) -> None:
    files = hf_files()
    whole, broken = write_tree(tmp_path / "whole", files), write_tree(tmp_path / "broken", files)
    (broken / "config.json").unlink()
    (whole / ".git").mkdir()
    (whole / ".git/objects").write_bytes(bytes(1000))
    models = resolve_models(
        [
            {"name": "A/Whole", "version": "v1", "directory": str(whole)},
            {"name": "broken", "version": "v2", "directory": str(broken)},
            {"name": "gone", "version": "v2", "directory": str(tmp_path / "gone")},
            {"name": "on-the-shelf", "version": "v1"},
        ]
    )
    good, bad, gone = LookupModule().run(models)
    size = sum(len(data) for data in files.values())
    assert good == {"model": "a-whole", "version": "v1", "directory": str(whole), "bytes": size, "fault": ""}
    assert bad["bytes"] == 0
    assert "config.json is missing" in bad["fault"]
    assert str(tmp_path / "gone") in gone["fault"]
