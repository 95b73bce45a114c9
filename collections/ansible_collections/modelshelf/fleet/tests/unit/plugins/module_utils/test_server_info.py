# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._clock import Greeting
from ansible_collections.modelshelf.fleet.plugins.module_utils._server_info import server_facts

GREETING = Greeting(200, "1.0.0-rc.3", 1000.0, 1002.4)
MESSAGE = {
    "mode": "online",
    "region": "eu-west-1",
    "deploymentID": "abc",
    "buckets": {"count": 2, "error": None},
    "objects": {"count": 5},
    "usage": {"size": 77},
    "backend": {"backendType": "Erasure", "onlineDisks": 2, "offlineDisks": 1, "standardSCParity": 1},
    "servers": [
        {
            "endpoint": "store1:9000",
            "state": "online",
            "version": "1.0.1",
            "uptime": 5,
            "drives": [
                {"path": "/d1", "state": "ok", "totalspace": 100, "usedspace": 40, "availspace": 60},
                {"path": "/d2", "state": "ok", "totalspace": 100, "usedspace": 10, "availspace": 90},
            ],
        }
    ],
}


@pytest.mark.parametrize("answer", [MESSAGE, {"info": MESSAGE, "admin_discovery": {}}])
def test_facts_of_a_server(answer: dict[str, Any]) -> None:
    facts = server_facts(answer, GREETING)
    assert (facts["version"], facts["mode"], facts["deployment_id"]) == ("1.0.1", "online", "abc")
    assert facts["region"] == "eu-west-1"
    assert facts["space"] == {"total": 200, "used": 50, "available": 150}
    assert facts["backend"] == {"type": "Erasure", "drives_online": 2, "drives_offline": 1, "parity": 1}
    assert facts["servers"][0]["drives"][1] == {"path": "/d2", "state": "ok", "total": 100, "used": 10, "available": 90}
    assert (facts["buckets"], facts["objects"], facts["object_bytes"]) == (2, 5, 77)
    assert facts["clock_difference_seconds"] == 2


@pytest.mark.parametrize("answer", [{}, None, {"info": None}, {"servers": None, "backend": None, "buckets": None}])
def test_what_a_server_does_not_tell_is_empty(answer: Any) -> None:
    facts = server_facts(answer, GREETING)
    assert (facts["version"], facts["deployment_id"], facts["servers"]) == ("1.0.0-rc.3", "", [])
    assert facts["space"] == {"total": 0, "used": 0, "available": 0}
