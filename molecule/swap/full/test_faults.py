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
from tests.support.swap import HOSTS, history, now, serve, served

TAGS = "--tags=swap"
# How far the gate is when a server crashes at its start depends on how fast it does.
FAULTS = [
    ("CRASH", "memory", "(unit|port): .* crashed.* Cause: .*Free memory on device"),
    ("CRASH", "truncated", "(unit|port): .* crashed.* Cause: .*incomplete metadata"),
    ("CRASH_AFTER", "0", "crashed"),
    ("ENGINE_DIES_AFTER", "0", "does not serve"),
    ("START", "3600", "port: after 30 s the port .* was still closed"),
    ("FREEZE_AFTER", "0", "health: after 30 s .*/health still did not answer 200"),
    ("MODEL_ID", "other", "models: .* serves the names other, expected tiny-qwen2"),
    ("ROOT", "/elsewhere", "models: an older server answers on this port .*: root is /elsewhere, expected"),
    ("REFUSE_KEY", "1", "models: .*: 401: the server refuses the API key that was given"),
    ("UNREADY", "3600", "completion: /v1/completions: expected 200 with a text, found 503"),
]
IDS = [f"{name}-{value}" for name, value, _ in FAULTS]


@pytest.fixture(scope="module", autouse=True)
def published(fleet: None) -> None:
    run = serve("v2", "--tags=publish")
    assert run.status == 0, run.output[-3000:]


@pytest.mark.parametrize(("name", "value", "message"), FAULTS, ids=IDS)
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


@pytest.mark.parametrize(("name", "value", "message"), FAULTS, ids=IDS)
def test_fault_on_the_third_host_ends_the_swap_there_and_the_next_run_ends_it(
    load: Load, name: str, value: str, message: str
) -> None:
    old, new, last = served()["gpu3"], f"v{now():.0f}", pid("gpu4")
    run = serve(new, "--tags=publish,swap", faults={"gpu3": {f"DOUBLE_{name}": value}})
    assert run.status != 0
    assert "main on gpu3: generation" in " ".join(run.output.split())
    line = history("gpu3")
    assert (history("gpu2")["result"], line["result"]) == ("served", "reverted")
    assert re.search(message, " ".join(line["cause"].split())), line["cause"]
    assert served() == {"gpu1": new, "gpu2": new, "gpu3": old, "gpu4": old}
    assert pid("gpu4") == last
    before = pids("gpu1", "gpu2")
    run = serve(new, TAGS)
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, new)
    assert pids("gpu1", "gpu2") == before
    assert load.failures == []


@pytest.mark.parametrize("fault", ["STOP", "SURVIVE"])
def test_old_server_that_does_not_end_is_ended(load: Load, fault: str) -> None:
    """It has the port, or its engine lives on, for an hour after SIGTERM."""
    version, wanted = served()["gpu1"], f"v{now():.0f}"
    run = serve(version, TAGS, faults={"gpu1": {f"DOUBLE_{fault}": "3600"}})
    assert run.status == 0, run.output[-3000:]
    run = serve(wanted, "--tags=publish,swap")
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, wanted)
    assert load.failures == []
