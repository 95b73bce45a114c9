# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.wave_sizes import FilterModule

wave_sizes = FilterModule().filters()["wave_sizes"]
wave_batches = FilterModule().filters()["wave_batches"]


@pytest.mark.parametrize(
    ("count", "serial", "canary", "sizes"),
    [
        (0, 1, True, [1]),
        (8, 2, True, [1, 2]),
        (8, "25%", "true", [1, "25%"]),
        (8, "2", "false", [2]),
        (3, "50%", True, ["50%"]),
        (8, [1, "50%"], True, [1, "50%"]),
        (8, "2,50%", False, [2, "50%"]),
    ],
)
def test_variables_and_texts_of_the_command_line_are_understood(
    count: int, serial: Any, canary: Any, sizes: list[Any]
) -> None:
    assert wave_sizes(count, serial, canary) == sizes


@pytest.mark.parametrize(("serial", "said"), [(0, "at least one host"), ("all", "neither a number"), ([], "empty")])
def test_what_ansible_would_take_as_all_hosts_is_refused(serial: Any, said: str) -> None:
    with pytest.raises(AnsibleFilterError, match=f"rollout_serial .*{said}"):
        wave_sizes(4, serial)


def test_canary_that_is_no_truth_value_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match="rollout_canary"):
        wave_sizes(4, 1, "perhaps")


def test_batches_have_the_canary_of_those_that_move() -> None:
    assert wave_batches([False, True, True, True], "100%", True) == [2, 2]
    assert wave_batches([False, True, True, True], "100%", "no") == [4]


def test_serial_of_batches_is_checked_also_when_nothing_moves() -> None:
    with pytest.raises(AnsibleFilterError, match=r"rollout_serial .*at least one host"):
        wave_batches([False], 0)
