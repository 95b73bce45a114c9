# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A generation has its unit: a changed one is a move of the same version. The tests depend on their order."""

from __future__ import annotations

from tests.support.fleet import host
from tests.support.load import Load
from tests.support.serving import SERVER, pids, show
from tests.support.swap import HOSTS, INSTANCE, history, serve, served

GOOD, BAD = {"OOMScoreAdjust": 100}, {"ExecStartPre": "/bin/false"}


def unit(name: str) -> str:
    """The unit of a host's instance, which is that of its current generation."""
    text = str(host(name).check_output(f"cat /etc/systemd/system/{SERVER}"))
    assert host(name).check_output(f"cat {INSTANCE}/current/unit.service") == text
    return text


def test_unit_that_does_not_start_goes_back_with_its_generation(load: Load) -> None:
    before, text = pids(*HOSTS[1:]), unit("gpu1")
    run = serve("v1", vllm_service_directives=BAD)
    line = history("gpu1")
    assert run.status != 0
    assert line["result"] == "reverted"
    assert "unit: " in line["cause"]
    assert "The generation before serves again" in " ".join(run.output.split())
    assert unit("gpu1") == text
    assert served() == dict.fromkeys(HOSTS, "v1")
    assert pids(*HOSTS[1:]) == before
    assert load.failures == []


def test_changed_unit_moves_all_hosts_under_load(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v1", vllm_service_directives=GOOD)
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, "v1")
    for name, (server, mount) in pids(*HOSTS).items():
        assert (server != before[name][0], mount) == (True, before[name][1])
        assert show(name, SERVER, "OOMScoreAdjust", "NeedDaemonReload") == {
            "OOMScoreAdjust": "100",
            "NeedDaemonReload": "no",
        }
        assert "OOMScoreAdjust=100" in unit(name)
    assert load.failures == []


def test_next_run_changes_nothing(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v1", vllm_service_directives=GOOD)
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert pids(*HOSTS) == before
    assert load.failures == []
