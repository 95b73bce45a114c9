# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A changed option of vLLM is a move as well, of the same version. The tests depend on their order."""

from __future__ import annotations

from tests.support.fleet import host
from tests.support.load import Load
from tests.support.serving import pids
from tests.support.swap import HOSTS, INSTANCE, serve, served

ARGUMENTS = {"enforce-eager": True, "max-model-len": 256, "max-num-seqs": 64}


def test_changed_argument_moves_all_hosts_under_load(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v1", vllm_arguments=ARGUMENTS)
    assert run.status == 0, run.output[-3000:]
    assert load.failures == []
    assert set(load.versions) == {"v1"}
    for name in HOSTS:
        assert '"max-num-seqs": 64' in host(name).check_output(f"cat {INSTANCE}/current/vllm.yaml")
    after = pids(*HOSTS)
    assert not {before[name][0] for name in HOSTS} & {after[name][0] for name in HOSTS}


def test_next_run_restarts_nothing(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v1", vllm_arguments=ARGUMENTS)
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert pids(*HOSTS) == before
    assert load.failures == []
    assert served() == dict.fromkeys(HOSTS, "v1")
