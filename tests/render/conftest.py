# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything rendered once. Tests that need a program of the machine are collected where it is there; the run says what
was left out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.render.unit_cases import GIVEN

HERE = Path(__file__).resolve().parent
LEFT_OUT: list[str] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if shutil.which("systemd-analyze"):
        return
    without = [item for item in items if item.get_closest_marker("systemd_analyze")]
    LEFT_OUT.extend(item.nodeid for item in without)
    items[:] = [item for item in items if item not in without]
    config.hook.pytest_deselected(items=without)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if LEFT_OUT:
        terminalreporter.write_line(f"render: no systemd-analyze on this machine: {len(LEFT_OUT)} tests left out")


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with everything that the roles' templates make of GIVEN. In `cached` are mounts that keep."""
    output = tmp_path_factory.mktemp("rendered")
    given = tmp_path_factory.mktemp("given") / "given.json"
    given.write_text(json.dumps(GIVEN), encoding="utf-8")
    playbook = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [
            playbook,
            "-i",
            "host,",
            HERE / "render.yml",
            "-e",
            json.dumps({"given": str(given), "output": str(output)}),
            "-e",
            f"ansible_python_interpreter={sys.executable}",
        ],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "DEPRECATION" not in done.stderr
    return output


@pytest.fixture(scope="session")
def cached(rendered: Path) -> Path:
    """The units of mounts that keep what was read."""
    return rendered / "cached"
