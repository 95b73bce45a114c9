# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters rollout_host and moving_instances: see rollout_host.yml and moving_instances.yml."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _plan_facts


def rollout_host(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A host of a plan, from what was found on it."""
    try:
        return _plan_facts.planned_host(name, found)
    except (LookupError, StopIteration) as error:
        raise AnsibleFilterError(f"{name}: what was found on the host is not complete: {error!r}") from error


def moving_instances(found: Mapping[str, Any]) -> list[str]:
    """The instances of a host that a run stops or starts."""
    try:
        return _plan_facts.moving_instances(found)
    except (LookupError, StopIteration) as error:
        raise AnsibleFilterError(f"what was found on the host is not complete: {error!r}") from error


class FilterModule:
    """Registers the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"rollout_host": rollout_host, "moving_instances": moving_instances}
