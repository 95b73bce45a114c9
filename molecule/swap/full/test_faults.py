# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A new version that does not serve as it should, under load: the clients notice nothing of it.

The tests depend on their order.
"""

from __future__ import annotations

import re

import pytest

from tests.support.load import Load
from tests.support.serving import pid, pids
from tests.support.swap import HOSTS, history, serve, served

TAGS = "--tags=swap"
FAULTS = [
    ("CRASH", "memory", "unit: .* crashed.* Cause: .*Free memory on device"),
    ("CRASH", "truncated", "unit: .* crashed.* Cause: .*incomplete metadata"),
    ("CRASH_AFTER", "0", "crashed"),
    ("ENGINE_DIES_AFTER", "0", "does not serve"),
    ("START", "3600", "port: after 30 s the port .* was still closed"),
    ("FREEZE_AFTER", "0", "health: after 30 s .*/health still did not answer 200"),
    ("MODEL_ID", "other", "models: .* serves the names other, expected tiny-qwen2"),
    ("ROOT", "/elsewhere", "models: an older server answers on this port .*: root is /elsewhere, expected"),
    ("REFUSE_KEY", "1", "models: .*: 401: the server refuses the API key that was given"),
    ("UNREADY", "3600", "completion: /v1/completions: expected 200 with a text, found 503"),
]


@pytest.fixture(scope="module", autouse=True)
def published(fleet: None) -> None:
    run = serve("v2", "--tags=publish")
    assert run.status == 0, run.output[-3000:]


@pytest.mark.parametrize(("name", "value", "message"), FAULTS, ids=[f"{name}-{value}" for name, value, _ in FAULTS])
def test_version_with_a_fault_goes_back_and_says_which(load: Load, name: str, value: str, message: str) -> None:
    others = pids(*HOSTS[1:])
    run = serve("v2", TAGS, "--limit=gpu1", faults={"gpu1": {f"DOUBLE_{name}": value}})
    assert run.status != 0
    line = history("gpu1")
    assert line["result"] == "reverted"
    assert re.search(message, " ".join(line["cause"].split())), line["cause"]
    assert "The generation before serves again" in " ".join(run.output.split())
    assert served() == dict.fromkeys(HOSTS, "v1")
    assert pids(*HOSTS[1:]) == others
    assert load.failures == []


def test_fault_on_a_later_host_leaves_the_hosts_before_it_on_the_new_version(load: Load) -> None:
    last = pid("gpu4")
    run = serve("v2", TAGS, faults={"gpu3": {"DOUBLE_ROOT": "/elsewhere"}})
    said = " ".join(run.output.split())
    assert run.status != 0
    assert "main on gpu3: generation" in said
    assert "root is /elsewhere, expected" in said
    assert (history("gpu2")["result"], history("gpu3")["result"]) == ("served", "reverted")
    assert served() == {"gpu1": "v2", "gpu2": "v2", "gpu3": "v1", "gpu4": "v1"}
    assert pid("gpu4") == last
    assert load.failures == []


def test_next_run_goes_on_from_there(load: Load) -> None:
    before = pids("gpu1", "gpu2")
    run = serve("v2", TAGS)
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, "v2")
    assert pids("gpu1", "gpu2") == before
    assert load.failures == []
    assert set(load.versions) == {"v1", "v2"}
