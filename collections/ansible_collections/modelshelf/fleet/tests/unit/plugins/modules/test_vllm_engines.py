# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vllm_engines, as Ansible runs it: check, real, check again, again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.modules import vllm_engines

MARKER = ".modelshelf-complete"
INSTALLED = ["vllm-1", "vllm-2", "vllm-3", "vllm-4"]
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Engines 1 to 4, of which generation 1 links the first, 2 the second; 4 is wanted; 5 was interrupted."""
    for name in (*INSTALLED, "vllm-5", "own"):
        (tmp_path / "engines" / name / "bin").mkdir(parents=True)
    for name in INSTALLED:
        (tmp_path / "engines" / name / MARKER).touch()
    for number in (1, 2):
        generation = tmp_path / "instances" / "main" / "generations" / str(number)
        generation.mkdir(parents=True)
        (generation / "engine").symlink_to(tmp_path / "engines" / f"vllm-{number}")

    def run(check: bool = False, **changes: Any) -> dict[str, Any]:
        given = {
            "root": str(tmp_path / "engines"),
            "marker": MARKER,
            "wanted": str(tmp_path / "engines" / "vllm-4"),
            "instances": str(tmp_path / "instances"),
            "_ansible_check_mode": check,
        }
        with patch_module_args({**given, **changes}), pytest.raises(SystemExit):
            vllm_engines.main()
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return result

    return run


def there(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "engines").iterdir())


def test_engines_that_no_generation_links_go_as_generations_go(run: Run, tmp_path: Path) -> None:
    left, generations = list(INSTALLED), tmp_path / "instances" / "main" / "generations"
    for gone in ("vllm-3", "vllm-1", "vllm-2"):
        if gone != "vllm-3":
            (generations / gone[-1] / "engine").unlink()
        after = [name for name in left if name != gone]
        for check, changed in ((True, True), (False, True), (True, False), (False, False)):
            result = run(check)
            assert (result["changed"], result["removed"]) == (changed, [gone] if changed else [])
            assert result["diff"]["before"] == {"engines": left if changed else after}
            assert result["diff"]["after"] == {"engines": after}
            assert there(tmp_path) == ["own", *(left if check and changed else after), "vllm-5"]
        left = after


def test_check_mode_leaves_out_generations_that_would_be_gone(run: Run, tmp_path: Path) -> None:
    assert run(True, without={"main": [1], "other": [2]})["removed"] == ["vllm-1", "vllm-3"]
    assert run(True)["removed"] == ["vllm-3"]
    assert there(tmp_path) == ["own", *INSTALLED, "vllm-5"]


def test_engine_of_somebody_else_may_be_wanted(run: Run, tmp_path: Path) -> None:
    assert run(wanted="/opt/vllm")["removed"] == ["vllm-3", "vllm-4"]
    assert there(tmp_path) == ["own", "vllm-1", "vllm-2", "vllm-5"]


@pytest.mark.parametrize("check", [False, True])
def test_host_on_which_nothing_is(run: Run, tmp_path: Path, check: bool) -> None:
    result = run(check, root=str(tmp_path / "none"), instances=str(tmp_path / "none"))
    assert (result["changed"], result["removed"]) == (False, [])
