# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts and shelves to plan with. Sizes are whole gibibytes, so that they can be read."""

from __future__ import annotations

from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._instances import resolve_instances
from ansible_collections.modelshelf.fleet.plugins.module_utils._rollout_plan import PlanError, rollout_plan

GIB = 2**30
MODELS = [
    {"name": "Qwen/Qwen2-7B", "version": "v2"},
    {"name": "opt", "version": "v1"},
    {"name": "on-nas", "version": "v2", "source": "nfs"},
    {"name": "streamed", "version": "v2", "source": "stream"},
]
QWEN = "qwen-qwen2-7b"
SHELF = {
    QWEN: {"v1": {"bytes": 10 * GIB, "digest": "sha256:1"}, "v2": {"bytes": 12 * GIB, "digest": "sha256:2"}},
    "opt": {"v1": {"bytes": GIB}},
    "streamed": {"v2": {"bytes": 3 * GIB}},
}
OLD = {"model": QWEN, "version": "v1", "manifest_digest": "sha256:1", "generation": 4}
NEW = {"model": QWEN, "version": "v2", "manifest_digest": "sha256:2", "generation": 5}


def instances(*given: dict[str, Any]) -> list[dict[str, Any]]:
    entries = [
        {"name": "main", "model": "Qwen/Qwen2-7B", "port": 8000 + number, **entry}
        for number, entry in enumerate(given or ({},))
    ]
    return resolve_instances(entries, MODELS, address="10.0.0.21")


def host(name: str = "gpu-01", *given: dict[str, Any], **facts: Any) -> dict[str, Any]:
    """A host with one GPU, v1 in service and in the cache, and plenty of room."""
    return {
        "name": name,
        "instances": instances(*given),
        "state": {"main": {"current": OLD}},
        "devices": 1,
        "versions": {QWEN: {"v1": 10 * GIB}},
        "cache": {"free": 100 * GIB, "total": 200 * GIB, "budget": 50 * GIB},
        "bandwidth": GIB,
        **facts,
    }


def fleet(count: int, **facts: Any) -> list[dict[str, Any]]:
    return [host(f"gpu-{number:02}", **facts) for number in range(1, count + 1)]


def plan(*hosts: dict[str, Any], **options: Any) -> dict[str, Any]:
    return rollout_plan(list(hosts), **{"shelf": SHELF, "store_bandwidth": 2 * GIB, "move_seconds": 60, **options})


def refusals(*hosts: dict[str, Any], **options: Any) -> list[str]:
    """The reasons why a plan is refused; none when it is not."""
    try:
        plan(*hosts, **options)
    except PlanError as error:
        return error.reasons
    return []
