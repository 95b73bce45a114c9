# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters rollout_plan and rollout_table: see rollout_plan.yml and rollout_table.yml."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _plan_table, _rollout_plan


def rollout_plan(
    hosts: Any,
    shelf: Any = None,
    serial: Any = 1,
    canary: Any = True,
    minimum: Any = None,
    store_bandwidth: Any = None,
    move_seconds: Any = None,
    only: Any = None,
    group: str = "the fleet",
    publish: Any = None,
    shelf_fault: str = "",
    failed: Any = None,
    outside: Any = None,
    refuse: bool = True,
) -> dict[str, Any]:
    """The plan of a rollout, or an error with every reason why it cannot work, unless they are to be in the plan."""
    try:
        return _rollout_plan.rollout_plan(
            hosts,
            shelf=shelf,
            serial=serial,
            canary=canary,
            minimum=minimum,
            store_bandwidth=store_bandwidth,
            move_seconds=move_seconds,
            only=only,
            group=group,
            publish=publish,
            shelf_fault=shelf_fault,
            failed=failed,
            outside=outside,
            refuse=refuse,
        )
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


def rollout_table(plan: Mapping[str, Any]) -> list[str]:
    """The plan as lines of text."""
    return _plan_table.plan_lines(plan)


class FilterModule:
    """Registers the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"rollout_plan": rollout_plan, "rollout_table": rollout_table}
