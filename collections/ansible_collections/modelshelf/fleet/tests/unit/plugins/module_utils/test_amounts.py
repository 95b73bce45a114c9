# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import (
    amount,
    flag,
    human_bytes,
    human_seconds,
    listed,
    mapping,
    whole,
)


@pytest.mark.parametrize(("given", "number"), [(3, 3), ("3", 3), (" 3 ", 3), ("0", 0)])
def test_whole_number(given: Any, number: int) -> None:
    assert whole("n", given) == number


@pytest.mark.parametrize("given", [-1, "-1", "1.5", 1.5, True, None, "", "x", [], "²"])
def test_what_is_no_whole_number_is_named(given: Any) -> None:
    with pytest.raises(ValueError, match=r"^the count is .*not a whole number from 0 on"):
        whole("the count", given)


@pytest.mark.parametrize(("given", "number"), [(None, None), ("", None), ("1.5", 1.5), (2, 2.0), ("1e9", 1e9)])
def test_amount(given: Any, number: float | None) -> None:
    assert amount("n", given) == number


@pytest.mark.parametrize("given", [0, -1, "inf", "nan", True, "fast", [1], {}])
def test_what_is_no_amount_is_named(given: Any) -> None:
    with pytest.raises(ValueError, match=r"^the rate is .*not a number above 0"):
        amount("the rate", given)


@pytest.mark.parametrize(
    ("given", "items"),
    [
        (None, []),
        ("", []),
        ("[]", []),
        ("a,b", ["a", "b"]),
        (" a , b ,", ["a", "b"]),
        ('[1, "50%"]', ["1", "50%"]),
        ("['a', 'b c']", ["a", "b c"]),
        (["a", 1], ["a", 1]),
        (7, [7]),
        (0, [0]),
    ],
)
def test_list_or_its_text(given: Any, items: list[Any]) -> None:
    assert listed("l", given) == items


@pytest.mark.parametrize("given", ["[1,", "a]", '["a",'])
def test_a33_half_a_list_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r"serial is .*, half a list: -e cuts a text at its blanks"):
        listed("serial", given)


@pytest.mark.parametrize(("given", "value"), [(True, True), ("false", False), ("no", False), ("1", True), (0, False)])
def test_flag(given: Any, value: bool) -> None:
    assert flag("f", given) is value


def test_no_flag_and_no_mapping() -> None:
    with pytest.raises(ValueError, match="canary is 'perhaps', neither"):
        flag("canary", "perhaps")
    assert mapping("m", None) == {}
    with pytest.raises(ValueError, match="shelf is not a mapping but list"):
        mapping("shelf", [])


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (15231000000, "14.2 GiB"),
        (2**40, "1.0 TiB"),
        (2**60, "1024.0 PiB"),
    ],
)
def test_human_bytes(size: int, text: str) -> None:
    assert human_bytes(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "unknown"), (0, "0 s"), (0.2, "1 s"), (59.5, "1 min 0 s"), (125, "2 min 5 s"), (3780, "1 h 3 min")],
)
def test_human_seconds(seconds: float | None, text: str) -> None:
    assert human_seconds(seconds) == text


@given(st.integers(min_value=0, max_value=2**70))
def test_human_bytes_is_close(size: int) -> None:
    number, unit = human_bytes(size).split()
    value = float(number) * 1024 ** ("B", "KiB", "MiB", "GiB", "TiB", "PiB").index(unit)
    assert abs(value - size) <= 0.06 * max(size, 1)
