# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import OLD, host, refusals


@pytest.mark.parametrize(("now", "then", "blocked"), [
    ({"main": 8000, "b": 8001}, {"main": 8001, "b": 8000}, ["main"]),
    ({"main": 8000, "b": 8001}, {"main": 8001, "b": 8002}, ["main"]),
    ({"main": 8000, "b": 8001}, {"main": 8002, "b": 8000}, []),
    ({"main": 8000, "b": 8001}, {"main": 8000, "b": 8001}, []),
    ({"main": 8000}, {"main": 8000, "b": 8001}, []),
])  # fmt: skip
def test_a_port_that_another_instance_has_until_its_own_move_is_refused(
    now: dict[str, int], then: dict[str, int], blocked: list[str]
) -> None:
    """Both move, the first that is named first."""
    state: dict[str, Any] = {name: {"current": {**OLD, "port": port}} for name, port in now.items()}
    found = refusals(
        host("gpu-01", *({"name": name, "port": port} for name, port in then.items()), state=state, devices=2)
    )
    said = [f"gpu-01: {name} is to listen on port {then[name]}, where b listens when {name} moves" for name in blocked]
    assert [reason for reason in found if "is to listen" in reason] == [
        f"{text}. Name b before main in modelshelf_instances; to exchange two ports, first give one of them a free one"
        for text in said
    ]
