# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.way_back import FilterModule

way_back = FilterModule().filters()["way_back"]

VERSIONS = {1: "v0", 2: "v1", 3: "v2"}


def host(name: str, current: int | None, previous: int | None, **more: Any) -> dict[str, Any]:
    """A host with the instance main, which the inventory wants to have v2; the newest generation with it was staged."""
    versions = more.get("versions", VERSIONS)
    releases = {number: {"model": "qwen", "version": text} for number, text in versions.items()}
    generations = [{"generation": number, **release} for number, release in releases.items()]
    wanted = more.get("wanted", "v2")
    staged = more.get("staged", max((number for number, text in versions.items() if text == wanted), default=None))
    links = {"current": current, "previous": previous, "staged": staged}
    there = {"instance": "main", **links, "generations": generations}
    hold = {"model": "qwen", "version": more["hold"]} if "hold" in more else None
    return {
        "name": name,
        "wanted": {"main": wanted},
        "models": {"main": more.get("model", "qwen"), **more.get("beside", {})},
        "generations": [{**there, "hold": hold}] if versions else [],
        "active": more.get("active", ["main", *more.get("beside", {})]),
    }


def decided(hosts: list[dict[str, Any]], **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    found = way_back(hosts, **options)
    assert found["refusals"] == []
    back, held = ({name: those for name, those in found[key].items() if those} for key in ("back", "held"))
    return back, held


def refused(hosts: list[dict[str, Any]], **options: Any) -> str:
    return "\n".join(way_back(hosts, **options)["refusals"])


def test_all_go_back_to_the_generation_before() -> None:
    back, held = decided([host("gpu1", 3, 2), host("gpu2", 3, 2)])
    assert (back, held) == ({"gpu1": {"main": 2}, "gpu2": {"main": 2}}, {})


def test_what_a_swap_that_failed_half_way_has_not_moved_stays_and_is_held() -> None:
    """gpu3 tried it, and came back by itself; gpu4 has v1 as its only generation that was ever current."""
    hosts = [host("gpu1", 3, 2), host("gpu2", 2, 1), host("gpu3", 2, 1), host("gpu4", 2, None)]
    back, held = decided(hosts)
    assert back == {"gpu1": {"main": 2}}
    assert held == {name: {"main": {"model": "qwen", "version": "v2"}} for name in ("gpu2", "gpu3", "gpu4")}


def test_a_run_that_stopped_half_way_is_ended() -> None:
    back, held = decided([host("gpu1", 2, 3, hold="v2"), host("gpu2", 3, 2), host("gpu3", 2, 1, hold="v2")])
    assert (back, held) == ({"gpu2": {"main": 2}}, {})


def test_the_hold_of_an_earlier_rollback_is_renewed() -> None:
    versions = {1: "v0", 2: "v1", 4: "v3"}
    hosts = [host(f"gpu{n}", c, p, versions=versions, wanted="v3", **h) for n, c, p, h in
             ((1, 4, 2, {}), (2, 2, 3, {"hold": "v2"}))]  # fmt: skip
    back, held = decided(hosts)
    assert (back, held) == ({"gpu1": {"main": 2}}, {"gpu2": {"main": {"model": "qwen", "version": "v3"}}})


def test_another_model_of_the_same_version_is_another_version() -> None:
    """The inventory has llama v2 instead of qwen v2, and gpu1 alone serves it."""
    llama = host("gpu1", 3, 2, model="llama", wanted="v2", versions={2: "v2", 3: "v2"})
    hosts = [llama, host("gpu2", 2, 1, model="llama", versions={1: "v1", 2: "v2", 3: "v2"}),
             host("gpu3", 2, 1, model="llama", versions={1: "v1", 2: "v2", 3: "v2"}, hold="v2")]  # fmt: skip
    for one in hosts:
        one["generations"][0]["generations"][-1]["model"] = "llama"
    back, held = decided(hosts)
    assert back == {"gpu1": {"main": 2}}
    assert held == {name: {"main": {"model": "llama", "version": "v2"}} for name in ("gpu2", "gpu3")}


@pytest.mark.parametrize(("moved", "result", "refusal"), [
    (False, "reverted", True), (False, "failed", True), (True, "reverted", False), (False, "served", False),
])  # fmt: skip
def test_a_swap_that_moved_nobody_leaves_nothing_to_go_back_from(moved: bool, result: str, refusal: bool) -> None:
    canary = host("gpu1", 2, 1)
    canary["generations"][0]["history"] = [{"action": "swap", "to": 3, "result": result}]
    fleet = [canary, host("gpu2", 2, 1), host("gpu3", *((3, 2) if moved else (2, 1)))]
    text = "main on gpu1 came back by itself from generation 3 (qwen v2), which no instance of this run serves"
    assert (text in refused(fleet)) == refusal


def test_generations_of_one_version_are_told_apart() -> None:
    """Engines, say, change twice: generation 1 to 2 everywhere, and 2 to 3 on gpu1 alone, as gpu2 came back."""
    versions = dict.fromkeys((1, 2, 3), "v2")
    fleet = [host("gpu1", 3, 2, versions=versions), host("gpu2", 2, 1, versions=versions)]
    fleet[1]["generations"][0]["history"] = [{"action": "swap", "to": 3, "result": "reverted"}]
    back, held = decided(fleet)
    assert back == {"gpu1": {"main": 2}}
    assert held == {"gpu2": {"main": {"model": "qwen", "version": "v2"}}}


def test_host_that_the_swap_was_not_asked_for_stays() -> None:
    """Such as with --limit gpu1, or without a host that was down: nothing was staged there."""
    fleet = [host("gpu1", 3, 2), *(host(f"gpu{number}", 2, 1, staged=2) for number in (2, 3))]
    back, held = decided(fleet)
    assert back == {"gpu1": {"main": 2}}
    assert held == {name: {"main": {"model": "qwen", "version": "v2"}} for name in ("gpu2", "gpu3")}


@pytest.mark.parametrize("tried", [False, True])
def test_what_was_staged_after_a_swap_that_failed_half_way_is_none_of_a_rollback(tried: bool) -> None:
    """Generation 4 is v2 with another argument; gpu1 has not come to it, or come back from it."""
    versions = {1: "v0", 2: "v1", 3: "v2", 4: "v2"}
    fleet = [host("gpu1", 3, 2, versions=versions), host("gpu2", 2, 1, versions=versions)]
    if tried:
        fleet[0]["generations"][0]["history"] = [{"action": "swap", "to": 4, "result": "reverted"}]
    back, held = decided(fleet)
    assert back == {"gpu1": {"main": 2}}
    assert held == {"gpu2": {"main": {"model": "qwen", "version": "v2"}}}


def test_argument_that_served_on_no_host_leaves_nothing_to_go_back_from() -> None:
    versions = {1: "v0", 2: "v1", 3: "v2", 4: "v2"}
    fleet = [host(f"gpu{number}", 3, 2, versions=versions) for number in (1, 2)]
    fleet[0]["generations"][0]["history"] = [{"action": "swap", "to": 4, "result": "reverted"}]
    assert "main on gpu1 came back by itself from generation 4 (qwen v2)" in refused(fleet)


def test_rollback_that_has_ended_is_none_to_refuse_for_a_canary() -> None:
    """gpu1 was led back, gpu2 had come back before that: both are held. vllm_swap refuses a second rollback."""
    fleet = [host("gpu1", 2, 3, hold="v2"), host("gpu2", 2, 1, hold="v2")]
    fleet[1]["generations"][0]["history"] = [{"action": "swap", "to": 3, "result": "reverted"}]
    assert decided(fleet) == ({}, {})


def test_what_is_staged_alone_moves_nobody_and_changes_nothing_of_a_rollback() -> None:
    back, held = decided([host("gpu1", 2, 1), host("gpu2", 2, 1)])
    assert (back, held) == ({"gpu1": {"main": 1}, "gpu2": {"main": 1}}, {})


def test_nothing_before_is_refused_with_the_generations_and_how_to_leave_it_out() -> None:
    text = refused(
        [host("gpu1", 3, 2), host("gpu2", 3, None, versions={3: "v2"}), host("gpu3", None, None, versions={})]
    )
    assert "main on gpu2 has no generation before: there is nothing to go back to" in text
    assert "Its generations are 3 (qwen v2); name one as rollback_to, or leave it out by modelshelf_only" in text
    assert "or its host by --limit 'all:!gpu2'" in text
    assert "Its generations are none" in text


def test_named_generation() -> None:
    back, held = decided([host("gpu1", 3, 2), host("gpu2", 1, 2)], to="1")
    assert (back, held) == ({"gpu1": {"main": 1}}, {"gpu2": {"main": {"model": "qwen", "version": "v2"}}})
    assert decided([host("gpu1", 3, 2)], to="3") == ({}, {})
    assert "main on gpu1 has no generation 9" in refused([host("gpu1", 3, 2)], to="9")
    with pytest.raises(AnsibleFilterError, match="rollback_to is 'v1', not a whole number"):
        way_back([host("gpu1", 3, 2)], to="v1")


@pytest.mark.parametrize("to", [None, 2])
def test_different_versions_of_a_model_are_refused(to: int | None) -> None:
    """Generations of different hosts have the same numbers, and need not have the same versions."""
    text = refused([host("gpu1", 3, 2), host("gpu2", 3, 2, versions={2: "v0", 3: "v2"})], to=to)
    assert "different versions of qwen would be served: qwen v1 by main on gpu1; qwen v0 by main on gpu2" in text


def test_versions_may_differ_where_the_inventory_wants_it() -> None:
    back, held = decided([host("gpu1", 3, 2), host("gpu2", 2, 1, wanted="v1")])
    assert (back, held) == ({"gpu1": {"main": 2}, "gpu2": {"main": 1}}, {})


def test_minimum_is_kept() -> None:
    fleet = [host(f"gpu{number}", 3, 2) for number in range(1, 4)]
    text = refused(fleet, serial="2", canary="no", minimum=2)
    assert "wave 1 changes 2 hosts (gpu1, gpu2), and only 1 would serve meanwhile; the minimum is 2" in text
    assert "set serial to 1 at most" in text
    outside = {"gpu9": [{"name": "main", "model": "Qwen"}]}
    assert refused(fleet, serial=2, canary=False, minimum=2, outside=outside) == ""


def test_servers_that_do_not_run_are_none_that_a_rollback_takes_away() -> None:
    dead = [host(f"gpu{number}", 3, 2, active=[]) for number in range(1, 3)]
    assert refused([*dead, host("gpu3", 3, 2)], serial=3, canary=False, minimum={"Qwen": 1}) != ""
    assert refused(dead, serial=3, canary=False, minimum=2) == ""


def test_other_instances_of_a_host_go_on() -> None:
    fleet = [host(f"gpu{number}", 3, 2, beside={"second": "llama"}) for number in range(1, 3)]
    assert refused(fleet, serial=2, canary=False, minimum={"llama": 2}) == ""
    assert "only 0 would serve qwen" in refused(fleet, serial=2, canary=False, minimum={"qwen": 1})
