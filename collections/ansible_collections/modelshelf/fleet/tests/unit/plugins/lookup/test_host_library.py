# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from ansible import constants
from ansible.errors import AnsibleLookupError

from ansible_collections.modelshelf.fleet.plugins.lookup.host_library import LookupModule


def library(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder.mkdir()
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(folder))
    (found,) = LookupModule().run([])
    assert LookupModule().run([]) == [found]
    assert [path.name for path in folder.iterdir()] == ["modelshelf-library.zip"]
    return Path(found)


@pytest.mark.parametrize("program", ["_weights", "_swap_run"])
def test_host_runs_the_programs_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    archive = library(tmp_path / "one", monkeypatch)
    name = f"ansible_collections.modelshelf.fleet.plugins.module_utils.{program}"
    done = os.spawnve(
        os.P_WAIT, "/usr/bin/python3", ["python3", "-m", name, "--help"], {"PYTHONPATH": str(archive)}
    )  # fmt: skip
    assert done == 0


def test_same_library_has_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {hashlib.sha256(library(tmp_path / name, monkeypatch).read_bytes()).hexdigest() for name in ("a", "b")}
    assert len(digests) == 1


def test_terms_and_options_are_refused() -> None:
    with pytest.raises(AnsibleLookupError, match="neither terms nor options"):
        LookupModule().run(["x"])
    with pytest.raises(AnsibleLookupError, match="neither terms nor options"):
        LookupModule().run([], x=1)
