# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found on a host, brought into the shape that a plan is made from. Runs on the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEALTHY = 200


def planned_host(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """A host for rollout_plan. `found` is what rollout_host.yml documents."""
    described = {str(item["instance"]): item for item in found["generations"]}
    state = {other: _links(item) for other, item in described.items()}
    engines = []
    for number, instance in enumerate(found["instances"]):
        links = state.setdefault(instance["name"], {"current": None, "previous": None})
        wanted = _of(found["wanted"], instance["name"])
        engines.append(str(wanted["diff"]["after"]["release"]["engine"]["version"]))
        active = str(_of(found["units"], instance["name"])["stdout"]).strip()
        links["reasons"] = [] if links["current"] is None else _reasons(instance, wanted, active, found)
        links["serving"] = found["health"][number].get("status") == HEALTHY
    seen = found["seen"]
    return {
        "name": name,
        "instances": [_shown(instance) for instance in found["instances"]],
        "state": state,
        "devices": _given(found.get("devices"), seen["devices"]),
        "cpu": True if engines and all("+cpu" in version for version in engines) else None,
        "versions": seen["versions"],
        "cache": seen["cache"] if found["cached"] else None,
        "bandwidth": _given(found.get("bandwidth"), seen["bandwidth"]),
    }


def _shown(instance: Mapping[str, Any]) -> dict[str, Any]:
    """An instance without its environment, which may have secrets; but the GPUs that are named there count."""
    environment = {name: value for name, value in instance["environment"].items() if name == "CUDA_VISIBLE_DEVICES"}
    return {**instance, "environment": environment}


def _given(value: Any, measured: Any) -> Any:
    """What the inventory says, where it says something."""
    return measured if value is None or value == "" else value


def _links(instance: Mapping[str, Any]) -> dict[str, Any]:
    """The releases that `current` and `previous` name, None for one that cannot be read."""
    releases = {item["generation"]: item for item in instance["generations"] if item.get("model")}
    return {link: releases.get(instance[link]) for link in ("current", "previous")}


def _of(results: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next(item for item in results if item["item"] == name)


def _reasons(
    instance: Mapping[str, Any], wanted: Mapping[str, Any], active: str, found: Mapping[str, Any]
) -> list[str]:
    """Why an instance that has a generation would be moved by site.yml, beside another version."""
    before, after = wanted["diff"]["before"], wanted["diff"]["after"]
    reasons = _differences(before, after) if before else []
    if instance["weights_unit"] in found["stale_mounts"]:
        reasons.append("mount")
    if active != "active":
        reasons.append(active or "unknown")
    return reasons


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    old, new = before["release"], after["release"]
    same_version = (old.get("model"), old.get("version")) == (new["model"], new["version"])
    found = {
        "argument": _arguments(before) != _arguments(after),
        "engine": old.get("engine") != new["engine"],
        "environment": before["environment"] != after["environment"],
        "unit": before["unit"] != after["unit"],
        "path": same_version and old.get("weights_path") != new["weights_path"],
        "files": "note" in after,
    }
    return [reason for reason, differs in found.items() if differs]


def _arguments(shown: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the engine, without the path, which names the version."""
    return {option: value for option, value in shown["vllm.yaml"].items() if option != "model"}
