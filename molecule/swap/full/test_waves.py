# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in a wave, under load: no later wave is touched, and a next run goes on from there."""

from __future__ import annotations

import re

import pytest

from tests.support.faults import lost
from tests.support.fleet import Run, host
from tests.support.load import Load
from tests.support.serving import MODEL, pids
from tests.support.swap import HOSTS, INSTANCE, history, serve, served

NEW = {"v1": "v2", "v2": "v1"}
SETTINGS = "/etc/haproxy/haproxy.cfg"


@pytest.fixture(scope="module", autouse=True)
def published(fleet: None) -> None:
    run = serve("v2", "--tags=publish")
    assert run.status == 0, run.output[-3000:]


def said(run: Run) -> str:
    return " ".join(run.output.split())


def waves(serial: str) -> str:
    """The values are texts, as -e gives them."""
    return f"--extra-vars=rollout_serial={serial} rollout_canary=no"


@pytest.mark.parametrize("serial", ["2", "50%"])
def test_fault_on_one_host_of_a_wave_stops_the_waves_after_it(load: Load, serial: str) -> None:
    old = served()["gpu1"]
    new, later = NEW[old], pids("gpu3", "gpu4")
    run = serve(new, "--tags=swap", waves(serial), faults={"gpu2": {"DOUBLE_CRASH": "memory"}})
    assert run.status != 0
    assert (history("gpu1")["result"], history("gpu2")["result"]) == ("served", "reverted")
    assert served() == {"gpu1": new, "gpu2": old, "gpu3": old, "gpu4": old}
    for name, version in served().items():
        assert re.search(rf"{name} main {MODEL} {version} sha256:\w+ active", said(run)), run.output[-3000:]
    assert pids("gpu3", "gpu4") == later
    first = pids("gpu1")
    run = serve(new, "--tags=swap", waves(serial))
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, new)
    assert pids("gpu1") == first
    assert load.failures == []


@pytest.mark.parametrize(
    ("serial", "name", "moved"), [("1", "gpu2", ["gpu1"]), ("2", "gpu2", []), ("1", "gpu4", ["gpu1", "gpu2", "gpu3"])]
)
def test_host_that_is_lost_in_the_middle_of_its_wave_stops_all_that_comes_after(
    load: Load, serial: str, name: str, moved: list[str]
) -> None:
    """It is lost when it has been drained: with gpu1 in its wave, that one is not stopped either."""
    before, processes = served(), pids(*HOSTS)
    new = NEW[before[name]]
    with lost(name, f"""grep -qs '"step": "drained"' {INSTANCE}/journal.json"""):
        run = serve(new, "--tags=serve,gateway", waves(serial))
    assert run.status != 0
    assert re.search(rf"{name} - - - - unreachable", said(run)), run.output[-3000:]
    assert "Write the configuration" not in run.output.partition("Serve, wave after wave")[2]
    assert served() == {**before, **dict.fromkeys(moved, new)}
    kept = [each for each in HOSTS if each not in moved]
    assert pids(*kept) == {each: processes[each] for each in kept}
    first = pids(*moved)
    run = serve(new, "--tags=serve,gateway")
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, new)
    assert pids(*moved) == first
    assert "weight 0" not in host("gw1").check_output(f"cat {SETTINGS}").partition("\nglobal")[2]
    assert load.failures == []
