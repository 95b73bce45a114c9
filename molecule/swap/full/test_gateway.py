# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to the gateway and behind it while clients are at work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lab import hosts
from tests.support.faults import BOOT_SECONDS
from tests.support.fleet import LAB, host, until
from tests.support.load import CLIENTS, Load
from tests.support.serving import SERVER, answers
from tests.support.swap import ENDPOINT, HOSTS, is_up, logged, now, serve, served, step


def test_gateway_that_is_reloaded_while_a_host_drains_fails_no_request() -> None:
    """Streams of 20 s keep the host in its drain for long enough."""

    def reload() -> None:
        until(lambda: step("gpu1") == "drained", 300, "gpu1 is drained")
        host("gw1").check_output("systemctl reload haproxy")

    before = served()
    new = {"v1": "v2", "v2": "v1"}[before["gpu1"]]
    assert serve(new, "--tags=publish").status == 0
    with Load(ENDPOINT, long_seconds=20) as load, ThreadPoolExecutor(1) as pool:
        reloaded = pool.submit(reload)
        run = serve(new, "--tags=swap", "--limit=gpu1")
        reloaded.result()
    assert run.status == 0, run.output[-3000:]
    assert load.failures == []
    assert served() == {**before, "gpu1": new}
    assert serve(before["gpu1"], "--tags=swap", "--limit=gpu1").status == 0


def test_host_that_is_switched_off_takes_only_its_own_requests_with_it() -> None:
    since = now()
    with Load(ENDPOINT, long_seconds=8) as load:
        load.reach(200)
        hosts.podman(LAB, "kill", "gpu4")
        off = now()
        load.reach(1000)
    hosts.podman(LAB, "start", "gpu4")
    failed = [request for request in logged(since) if not request.whole]
    assert {request.host for request in failed} == {"gpu4"}
    assert all(request.began < off for request in failed)
    # What gpu4 had not begun to answer, on a connection that its client kept, HAProxy ends without a line in its log.
    assert all(began < off for began in load.failed)
    assert len(failed) <= len(load.failed) <= CLIENTS // len(HOSTS) + 1
    until(lambda: answers("gpu4"), BOOT_SECONDS, "gpu4 serves by itself")


@pytest.mark.parametrize("ending", ["kill --signal=KILL", "stop"])
def test_server_that_dies_is_out_of_the_pool_within_10_s(ending: str) -> None:
    """systemd would start it again; this one stays away."""
    assert is_up("gpu3")
    host("gpu3").check_output(f"systemctl {ending} {SERVER} && systemctl stop {SERVER}")
    try:
        until(lambda: not is_up("gpu3"), 10, "the gateway has no gpu3")
        since = now()
        with Load(ENDPOINT, long_seconds=2) as load:
            load.reach(100)
        assert load.failures == []
        assert "gpu3" not in {request.host for request in logged(since)}
    finally:
        host("gpu3").check_output(f"systemctl start {SERVER}")
    until(lambda: answers("gpu3") and is_up("gpu3"), BOOT_SECONDS, "gpu3 is back")
