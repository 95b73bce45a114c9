# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.test.idle_engine import TestModule as Idle

TESTS = Idle().tests()
METRICS = """# HELP vllm:num_requests_running Number of requests in model execution batches.
vllm:num_requests_running{engine="0",model_name="opt"} %s
vllm:num_requests_running{engine="1",model_name="opt"} 0.0
vllm:num_requests_waiting{engine="0",model_name="opt"} %s
vllm:num_requests_waiting_by_reason{engine="0",model_name="opt",reason="capacity"} 5.0
"""
STATISTICS = """# pxname,svname,qcur,qmax,scur,smax,
opt,gpu1:main,0,0,%s,7,
opt,gpu2:main,0,0,3,7,
opt,BACKEND,0,0,3,7,
other,gpu1:main,,,%s,1,

"""


@pytest.mark.parametrize(
    ("answer", "idle"),
    [
        ({"status": 200, "content": METRICS % ("0.0", "0.0")}, True),
        ({"status": 200, "content": METRICS % ("1.0", "0.0")}, False),
        ({"status": 200, "content": METRICS % ("0.0", "2.0")}, False),
        ({"status": -1, "msg": "Request failed: <urlopen error [Errno 111] Connection refused>"}, True),
        ({"status": -1, "msg": "Status code was -1 and not [200]: Connection failure: timed out"}, False),
        ({"status": -1, "msg": "<urlopen error [Errno 113] No route to host>"}, False),
        ({"status": 401, "msg": "Status code was 401 and not [200]: HTTP Error 401: Unauthorized"}, False),
        ({"status": 500, "msg": "Status code was 500 and not [200]: HTTP Error 500: Internal Server Error"}, False),
        ({"msg": "the module failed"}, False),
    ],
)
def test_only_metrics_without_requests_and_a_server_that_is_not_there_are_idle(
    answer: dict[str, Any], idle: bool
) -> None:
    assert TESTS["idle_engine"](answer) == idle


@pytest.mark.parametrize(("first", "second", "idle"), [("0", "0", True), ("1", "0", False), ("0", "2", False)])
def test_server_is_idle_when_it_is_so_in_every_pool(first: str, second: str, idle: bool) -> None:
    assert TESTS["idle_server"](STATISTICS % (first, second), "gpu1:main") == idle


def test_server_that_no_pool_has_is_idle() -> None:
    assert TESTS["idle_server"](STATISTICS % (1, 1), "gpu3:main")
    assert TESTS["idle_server"]("", "gpu3:main")
