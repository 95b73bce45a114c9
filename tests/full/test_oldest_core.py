# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The oldest supported ansible-core (2.19 on Python 3.11) on a fleet that the newest one brought up."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from lab.settings import CHECKOUT
from tests.support.fleet import ADDRESSES, SERVING, play


@pytest.fixture(scope="module")
def converged() -> Iterator[None]:
    subprocess.run([sys.executable, "-m", "lab", "hosts", "--name", "test"], cwd=CHECKOUT, check=True)
    subprocess.run([sys.executable, "-m", "lab", "environment", "--python", "3.11"], cwd=CHECKOUT, check=True)
    yield
    subprocess.run([sys.executable, "-m", "lab", "down", "--name", "test"], cwd=CHECKOUT, check=True)


def test_check_mode_and_no_op_on_the_oldest_core(converged: None) -> None:
    oldest = CHECKOUT / ".venv-3.11"
    version = subprocess.run([oldest / "bin" / "ansible", "--version"], capture_output=True, text=True).stdout
    sys.stdout.write(version.splitlines()[0] + "\n")
    assert "core 2.19." in version

    bare = play("--check", "--diff", environment=oldest, ANSIBLE_DEPRECATION_WARNINGS="1")
    assert bare.status == 0, bare.output
    assert "DEPRECATION" not in bare.output

    real = play()
    assert real.status == 0, real.output

    for options in ([], ["--check", "--diff"]):
        again = play(*options, environment=oldest, ANSIBLE_DEPRECATION_WARNINGS="1")
        assert again.status == 0, again.output
        assert "DEPRECATION" not in again.output
        assert again.changed() == {}, again.output
        assert {*SERVING, "store1"} <= set(again.recap) | (set(ADDRESSES) - {"store1", *SERVING})
