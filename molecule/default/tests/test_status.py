# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/status.yml: what each host serves, and the hosts that do not answer."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.fleet import SERVING, play
from tests.support.serving import MODEL


def row(output: str, name: str) -> str:
    found = re.search(rf"^\s*- '?({re.escape(name)}\s.*?)'?$", output, re.M)
    assert found, output[-2000:]
    return found[1]


def test_each_server_has_a_row_with_its_version_and_state(tmp_path: Path) -> None:
    run = play(playbook="playbooks/status.yml")
    assert (run.status, run.changed()) == (0, {})
    for name in SERVING:
        assert re.search(rf"main\s+{MODEL}\s+v1\s", row(run.output, name))


def test_a_host_that_does_not_answer_has_a_row_too(tmp_path: Path) -> None:
    gone = tmp_path / "hosts.yml"
    gone.write_text("all: {children: {gpu: {hosts: {gpu9: {ansible_host: 10.89.51.99}}}}}\n")
    run = play(playbook="playbooks/status.yml", inventories=[gone], ANSIBLE_TIMEOUT="3")
    assert "unreachable" in row(run.output, "gpu9").lower()
    for name in SERVING:
        assert re.search(rf"main\s+{MODEL}\s+v1\s", row(run.output, name))
