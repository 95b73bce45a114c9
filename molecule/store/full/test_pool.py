# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four hosts as one store, with the real server that RUSTFS_BIN names: they are collected with that alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support.fleet import ADDRESSES, host, until
from tests.support.store import UNIT, Shop, reset, said

NODES = ("gpu1", "gpu2", "gpu3", "gpu-01.example.net")
PORT = 9100
DRIVES = "/srv/pool"
URL = f"http://pool1:{PORT}"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Names for the four, one drive each, and nothing of an earlier store on them."""
    names = "".join(f"{ADDRESSES[name]} pool{number}\n" for number, name in enumerate(NODES, 1))
    for name in NODES:
        reset(name)
        host(name).check_output(f"cp /etc/hosts /run/hosts && cat >> /etc/hosts <<'END'\n{names}END\n")
    yield Shop(
        tmp_path_factory.mktemp("pool"),
        {
            "modelshelf_store": {"endpoint": f"http://{ADDRESSES[NODES[0]]}:{PORT}", "bucket": "models"},
            "rustfs_binary_file": os.environ["RUSTFS_BIN"],
            "rustfs_volumes": [f"http://pool{{1...4}}:{PORT}{DRIVES}"],
            "rustfs_gate_timeout": 200,
        },
        NODES,
    )
    for name in NODES:
        reset(name)
        host(name).run(f"cat /run/hosts > /etc/hosts; rm -rf {DRIVES}")


def started(name: str) -> str:
    return str(host(name).check_output(f"systemctl show --property=ActiveEnterTimestampMonotonic --value {UNIT}"))


def test_volumes_that_name_other_hosts_are_refused(pool: Shop) -> None:
    run = pool.run("--limit=gpu1", "--extra-vars", '{"rustfs_volumes": ["http://pool{1...3}:9100/srv/pool"]}')
    assert run.status != 0
    assert "the volumes name 3 hosts (pool1, pool2, pool3), and 4 hosts make up the store" in said(run)


def test_four_hosts_come_up_as_one_store(pool: Shop) -> None:
    run = pool.run()
    assert run.status == 0, run.output[-4000:]
    records = {host(name).check_output("cat /var/lib/modelshelf/store.json") for name in NODES}
    assert len(records) == 1
    assert pool.run().changed() == {}


def test_hosts_are_restarted_one_after_the_other_in_a_whole_cluster(pool: Shop) -> None:
    pool.variables["rustfs_environment"] = {"RUSTFS_OBS_LOGGER_LEVEL": "info"}
    before = {name: started(name) for name in NODES}
    run = pool.run()
    assert run.status == 0, run.output[-4000:]
    assert set(run.changed()) == set(NODES)
    times = [int(started(name)) for name in NODES]
    assert times == sorted(times)
    assert all(started(name) != before[name] for name in NODES)


def test_no_host_is_touched_in_a_cluster_that_is_not_whole(pool: Shop) -> None:
    for name in NODES[2:]:
        host(name).check_output(f"systemctl stop {UNIT}")
    try:
        ask = f"curl -s -o /dev/null -w '%{{http_code}}' {URL}/minio/health/cluster"
        until(lambda: host(NODES[0]).check_output(ask) == "503", 60, "the cluster says that it is not whole")
        before = started(NODES[0])
        pool.variables["rustfs_environment"] = {"RUSTFS_OBS_LOGGER_LEVEL": "warn"}
        run = pool.run("--limit", NODES[0])
        assert run.status != 0
        assert "/minio/health/cluster should have answered 200" in said(run)
        assert started(NODES[0]) == before
    finally:
        for name in NODES[2:]:
            host(name).check_output(f"systemctl start {UNIT}")
