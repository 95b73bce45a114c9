# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/plan.yml on the converged fleet changes nothing and plans what site.yml does. Refusals: tests/contract."""

from __future__ import annotations

import json
import re
from typing import Any

from lab.settings import CHECKOUT
from tests.support.fleet import SERVING, Run, play
from tests.support.serving import MODEL, pids

PLAYBOOK = "playbooks/plan.yml"


def plan(*arguments: str, **options: Any) -> Run:
    """Plans, and sees that nothing was changed or restarted."""
    before = pids(*SERVING)
    run = play(*arguments, playbook=PLAYBOOK, **options)
    assert run.changed() == {}
    assert pids(*SERVING) == before
    return run


def said(run: Run) -> str:
    return " ".join(run.output.split())


def row(run: Run, name: str) -> str:
    """The line of a host in the table."""
    found = re.search(rf"^\s*- '?({re.escape(name)}\s.*?)'?$", run.output, re.M)
    assert found, run.output[-3000:]
    return " ".join(found[1].split())


def models(version: str) -> str:
    return "--extra-vars=" + json.dumps({"modelshelf_models": [{"name": MODEL, "version": version}]})


def test_converged_fleet_has_nothing_to_move() -> None:
    run = plan("--check")
    assert run.status == 0, run.output[-3000:]
    for name in SERVING:
        assert row(run, name) == f"{name} - main {MODEL} v1 v1 done"
    assert "0 to move on 0 of 2 hosts, 0 held; 0 B from the store" in said(run)


def test_version_that_would_be_published_is_planned_with_the_bytes_of_its_directory() -> None:
    other = [{"name": MODEL, "version": "v7", "directory": "{{ lab_cache }}/models/tiny-qwen2"}]
    run = plan("--extra-vars=" + json.dumps({"modelshelf_models": other}), "--extra-vars=rollout_serial=2")
    assert run.status == 0, run.output[-3000:]
    assert re.fullmatch(rf"gpu2 2 main {MODEL} v1 v7 [0-9.]+ [KM]iB move: version", row(run, "gpu2"))
    assert re.search(r"version v7 of tiny-qwen2 is not on the shelf yet: [0-9.]+ [KM]iB would be published", said(run))


def test_minimum_that_the_waves_break_is_refused() -> None:
    run = plan("--extra-vars=rollout_minimum_serving=2", "--extra-vars=vllm_shm_size=640M")
    assert run.status != 0
    assert re.fullmatch(rf"gpu1 1 main {MODEL} v1 v1 [0-9.]+ [KM]iB move: unit", row(run, "gpu1"))
    assert "wave 1 changes 1 host (gpu1), and only 1 would serve meanwhile; the minimum is 2" in said(run)
    assert "No wave size keeps it: 2 of 2 hosts serve now" in said(run)


def test_bare_host_has_everything_to_fetch() -> None:
    run = plan(inventories=[CHECKOUT / "molecule/third-host"])
    assert run.status == 0, run.output[-3000:]
    assert re.fullmatch(rf"gpu3 1 main {MODEL} - v1 [0-9.]+ [KM]iB move: new", row(run, "gpu3"))
