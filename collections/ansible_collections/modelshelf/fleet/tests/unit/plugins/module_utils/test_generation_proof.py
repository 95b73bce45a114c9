# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_proof import prove
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.generation_contents import content


@pytest.fixture
def main(tmp_path: Path) -> Instance:
    """Generation 1, and 2, which serves: with their engine and their weights. 3 has another key."""
    program = tmp_path / "engine/bin/vllm"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    instance = Instance(str(tmp_path / "instances"), "main")
    for number, key in ((1, "k1"), (2, "k1"), (3, "k2")):
        weights = tmp_path / f"v{number}"
        (weights / MANIFEST_PATH).parent.mkdir(parents=True)
        (weights / MANIFEST_PATH).write_text("{}")
        config = {"model": str(weights), "host": "127.0.0.1", "port": 8000, "served-model-name": ["tiny"]}
        changes: dict[str, Any] = {"version": f"v{number}", "weights_path": str(weights), "config": config}
        engine = {"path": str(tmp_path / "engine")}
        instance.write(number, content(**changes, engine=engine, environment={"VLLM_API_KEY": key}), "ops")
    instance.flip(2)
    return instance


def proved(instance: Instance, number: int, *, other_key: bool = False) -> None:
    prove(instance, number, user=getpass.getuser(), timeout=5, other_key=other_key)


def test_what_could_serve_passes(main: Instance) -> None:
    proved(main, 1)


@pytest.mark.parametrize("part", ["vllm.yaml", "env", "release.json", "engine"])
def test_generation_without_a_part_is_refused(main: Instance, part: str) -> None:
    (main.directory(1) / part).unlink()
    with pytest.raises(GenerationError, match=r"generation 1 below .* is not complete"):
        proved(main, 1)


def test_engine_that_was_removed_is_refused(main: Instance, tmp_path: Path) -> None:
    (tmp_path / "engine/bin/vllm").unlink()
    with pytest.raises(GenerationError, match=r"the engine at .* has no program bin/vllm"):
        proved(main, 1)


def test_weights_that_cannot_be_read_are_refused(main: Instance, tmp_path: Path) -> None:
    (tmp_path / "v1" / MANIFEST_PATH).unlink()
    with pytest.raises(
        GenerationError, match=r"generation 1 could not read its weights, .*/v1/.modelshelf/manifest.json"
    ):
        proved(main, 1)


def test_another_api_key_is_refused_unless_the_generation_was_named(main: Instance) -> None:
    with pytest.raises(GenerationError, match="generation 3 has another API key") as caught:
        proved(main, 3)
    assert "k1" not in str(caught.value) and "k2" not in str(caught.value)
    proved(main, 3, other_key=True)
