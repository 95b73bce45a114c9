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


def test_one_that_does_not_run_listens_nowhere() -> None:
    state = {name: {"current": {**OLD, "port": port}, "reasons": ["inactive"] * (name == "b")}
             for name, port in (("main", 8000), ("b", 8001))}  # fmt: skip
    given = ({"name": "main", "port": 8001}, {"name": "b", "port": 8000})
    assert not [text for text in refusals(host("gpu-01", *given, state=state, devices=2)) if "is to listen" in text]


def test_one_that_is_held_comes_back_on_the_port_that_it_has() -> None:
    """main is held at 8000, and runs no more; the inventory has 8001 for it, and 8000 for b."""
    hold = {"model": OLD["model"], "version": "v2"}
    state = {
        "main": {"current": {**OLD, "port": 8000}, "held": hold, "reasons": ["inactive"], "restarts": ["inactive"]}
    }
    given = ({"name": "main", "port": 8001}, {"name": "b", "port": 8000})
    (reason,) = [text for text in refusals(host("gpu-01", *given, state=state, devices=2)) if "is to listen" in text]
    assert reason.startswith("gpu-01: b is to listen on port 8000, where main listens when b moves")
