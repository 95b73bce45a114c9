# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible.executor.playbook_executor import PlaybookExecutor
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.filter.rollout_plan import FilterModule
from ansible_collections.modelshelf.fleet.plugins.module_utils._waves import parse_serial, split_waves
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import SHELF, fleet, host

FILTERS = FilterModule().filters()


def batches_of_ansible(hosts: list[str], serial: list[Any]) -> list[list[str]]:
    """What Ansible itself makes of a play's serial."""
    inventory = SimpleNamespace(get_hosts=lambda _pattern, order: list(hosts))
    play = SimpleNamespace(hosts="all", order=None, serial=serial)
    batches: list[list[str]] = PlaybookExecutor._get_serialized_batches(SimpleNamespace(_inventory=inventory), play)
    return batches


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 10, 33, 100, 101, 257])
def test_every_percentage_is_ansibles(count: int) -> None:
    hosts = [f"h{number}" for number in range(count)]
    for percent in range(1, 101):
        assert split_waves(hosts, parse_serial(f"{percent}%")) == batches_of_ansible(hosts, [f"{percent}%"])


@given(
    st.integers(0, 300),
    st.lists(st.one_of(st.integers(1, 320), st.integers(1, 100).map("{}%".format)), min_size=1, max_size=5),
)
def test_waves_are_ansibles(count: int, serial: list[Any]) -> None:
    hosts = [f"h{number}" for number in range(count)]
    assert split_waves(hosts, parse_serial(serial)) == batches_of_ansible(hosts, serial)


def test_serial_of_a_plan_gives_the_same_waves_to_a_play() -> None:
    found = FILTERS["rollout_plan"](fleet(7), SHELF, serial='[1, "40%"]')
    hosts = [name for wave in found["waves"] for name in wave]
    assert batches_of_ansible(hosts, found["serial"]) == found["waves"]


def test_filters_answer_as_the_library_does() -> None:
    found = FILTERS["rollout_plan"]([host()], shelf=SHELF, store_bandwidth="1e9", move_seconds="90", canary="yes")
    assert found["totals"]["swap_seconds"] == 90.0
    assert FILTERS["rollout_table"](found)[1].startswith("gpu-01  1     main")


def test_refusal_is_an_error_of_the_template() -> None:
    with pytest.raises(AnsibleFilterError, match=r"the gpu group has no hosts: nothing can be planned"):
        FILTERS["rollout_plan"]([], group="the gpu group")
    with pytest.raises(AnsibleFilterError, match="canary is 'perhaps'"):
        FILTERS["rollout_plan"]([host()], shelf=SHELF, canary="perhaps")
