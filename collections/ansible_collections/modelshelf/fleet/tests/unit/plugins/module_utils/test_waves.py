# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._waves import (
    FLEET,
    Serving,
    batch_sizes,
    largest_wave,
    parse_serial,
    shortfalls,
    split_waves,
    with_canary,
)


def names(count: int) -> list[str]:
    return [f"h{number}" for number in range(count)]


def same_model(count: int) -> dict[str, Serving]:
    opt = frozenset({"opt"})
    return {name: Serving(opt, opt, opt) for name in names(count)}


@pytest.mark.parametrize(
    ("value", "items"),
    [
        (1, [1]),
        ("2", [2]),
        ("25%", ["25%"]),
        ("25 %", ["25%"]),
        ([1, "50%"], [1, "50%"]),
        ('[1, "50%"]', [1, "50%"]),
        ("[1, 50%]", [1, "50%"]),
        ("1,2", [1, 2]),
        (["2", "100%"], [2, "100%"]),
    ],
)
def test_serial_as_inventories_and_command_lines_give_it(value: Any, items: list[Any]) -> None:
    assert parse_serial(value) == items


@pytest.mark.parametrize("value", [None, "", [], "[]"])
def test_no_serial_would_be_all_hosts(value: Any) -> None:
    with pytest.raises(ValueError, match="all hosts at once"):
        parse_serial(value)


@pytest.mark.parametrize("value", [0, "0", -1, "-2", "0%", "-5%", [1, 0]])
def test_serial_below_one_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="a wave has at least one host"):
        parse_serial(value)


@pytest.mark.parametrize("value", ["two", 1.5, "1.5", "33.3%", "%", True, [[1]], {"a": 1}, "1 2", "5%0%", "\uff11"])
def test_serial_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="neither a number of hosts nor a percentage"):
        parse_serial(value)


@pytest.mark.parametrize("value", ["101%", [1, "200%"]])
def test_serial_above_all_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="100% at most"):
        parse_serial(value)


@pytest.mark.parametrize(
    ("count", "serial", "sizes"),
    [
        (4, [1], [1, 1, 1, 1]),
        (4, ["50%"], [2, 2]),
        (5, ["50%"], [2, 2, 1]),
        (4, ["5%"], [1, 1, 1, 1]),
        (8, [1, "25%"], [1, 2, 2, 2, 1]),
        (3, [10], [3]),
        (0, [1], []),
        (100, ["29%"], [28, 28, 28, 16]),
    ],
)
def test_sizes_of_waves(count: int, serial: list[Any], sizes: list[int]) -> None:
    assert [len(wave) for wave in split_waves(names(count), serial)] == sizes


@pytest.mark.parametrize(
    ("serial", "count", "expected"),
    [([1], 4, [1]), (["25%"], 4, ["25%"]), (["50%"], 4, [1, "50%"]), ([2, 3], 9, [1, 2, 3]), ([1, 5], 9, [1, 5])],
)
def test_canary_comes_first(serial: list[Any], count: int, expected: list[Any]) -> None:
    assert with_canary(serial, count) == expected


@given(
    st.integers(0, 60),
    st.lists(st.one_of(st.integers(1, 70), st.integers(1, 100).map("{}%".format)), min_size=1, max_size=4),
)
def test_waves_are_all_hosts_in_order(count: int, serial: list[Any]) -> None:
    waves = split_waves(names(count), serial)
    assert [name for wave in waves for name in wave] == names(count)
    assert all(waves)


@given(st.integers(1, 20), st.integers(0, 25), st.booleans())
def test_largest_wave_is_what_the_minimum_leaves(count: int, least: int, canary: bool) -> None:
    largest = count - 1 if canary and count > 1 else count
    expected = min(count - least, largest) if least < count else None
    assert largest_wave(names(count), same_model(count), {FLEET: least}, canary=canary) == expected


def test_first_deployment_takes_nothing_away() -> None:
    new = Serving(frozenset(), frozenset(), frozenset({"opt"}))
    assert shortfalls([names(4)], dict.fromkeys(names(4), new), {FLEET: 3}) == []


def test_new_hosts_count_once_they_serve() -> None:
    new = Serving(frozenset(), frozenset(), frozenset({"opt"}))
    hosts = {**same_model(2), "h2": new}
    assert [found.wave for found in shortfalls([["h0"], ["h1"], ["h2"]], hosts, {FLEET: 2})] == [1, 2]
    assert shortfalls([["h2"], ["h0"], ["h1"]], hosts, {FLEET: 2}) == []


def test_minimum_of_a_model_looks_at_its_hosts_alone() -> None:
    qwen = frozenset({"qwen"})
    hosts = {**same_model(2), "q": Serving(qwen, qwen, qwen)}
    (found,) = shortfalls([["h0"], ["q"], ["h1"]], hosts, {"qwen": 1, "opt": 1})
    assert (found.wave, found.model, found.left, found.least) == (2, "qwen", 0, 1)


def test_model_that_is_replaced_is_missed_afterwards() -> None:
    old, new = frozenset({"opt"}), frozenset({"qwen"})
    hosts = dict.fromkeys(names(3), Serving(old, old, new))
    found = shortfalls([["h0"], ["h1"], ["h2"]], hosts, {"opt": 2})
    assert [(one.wave, one.left) for one in found] == [(2, 1), (3, 0)]


@pytest.mark.parametrize(
    ("moving", "serial", "sizes"),
    [
        ("..mm", [1], [3, 1]),
        ("..mm", ["50%"], [3, 1]),
        ("..mm", [2], [4]),
        ("m..m", [1], [1, 3]),
        ("mm..", [1], [1, 3]),
        ("m.m.m.m.", [1, "50%"], [1, 4, 3]),
        ("....", [1], [4]),
        ("", [1], [1]),
    ],
)
def test_batches_of_a_play_have_one_wave_each(moving: str, serial: list[Any], sizes: list[int]) -> None:
    assert batch_sizes([one == "m" for one in moving], serial) == sizes


@given(st.lists(st.booleans(), max_size=20), st.lists(st.integers(1, 5) | st.just("30%"), min_size=1, max_size=3))
def test_movers_of_the_batches_are_the_waves(moving: list[bool], serial: list[Any]) -> None:
    hosts = [f"{'m' if moves else '-'}{number}" for number, moves in enumerate(moving)]
    movers = [host for host in hosts if host[0] == "m"]
    batches = split_waves(hosts, batch_sizes(moving, serial))
    assert [host for batch in batches for host in batch] == hosts
    found = [[host for host in batch if host[0] == "m"] for batch in batches]
    assert [wave for wave in found if wave] == split_waves(movers, serial)
    assert all(found) or not movers
