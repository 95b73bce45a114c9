# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract suite on a server that the user names, as a program and as an address: the packed stand-in here."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from lab.settings import CHECKOUT
from tests.standin.pack import pack
from tests.support.rustfs_server import running_server


def contract(*options: str, **named: str) -> str:
    """`make contract` with what names the server; its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUSTFS_")}
    command = ["make", "contract", f"PYTEST=.venv/bin/pytest {' '.join(options)}"]
    done = subprocess.run(command, cwd=CHECKOUT, env={**environment, **named}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def count(output: str, word: str) -> int:
    return sum(map(int, re.findall(rf"\b(\d+) {word}", output)))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack(tmp_path_factory.mktemp("named") / "rustfs")


def test_program(program: Path) -> None:
    output = contract(RUSTFS_BIN=str(program))
    assert f"contract: tried on {program}" in output
    assert "left out" not in output
    assert count(output, "passed") == count(contract("--collect-only"), "tests collected") > 0


def test_address(program: Path, tmp_path: Path) -> None:
    with running_server(tmp_path, program) as server:
        named = {
            "RUSTFS_URL": server.endpoint,
            "RUSTFS_ACCESS_KEY": server.access_key,
            "RUSTFS_SECRET_KEY": server.secret_key,
        }
        output = contract(**named)
    assert f"contract: tried on {server.endpoint}" in output
    left_out = int(re.findall(r"contract: (\d+) tests start a server of their own: left out", output)[0])
    assert count(output, "passed") + left_out == count(contract("--collect-only"), "tests collected")
