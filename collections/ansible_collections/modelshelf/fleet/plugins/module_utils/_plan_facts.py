# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found on a host, brought into the shape that a plan is made from. Runs on the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import flag
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_shelf import read_version

HEALTHY = 200
_NOT_STOPPED = ("begun", "drained")
"""Steps of a move at which nothing was stopped yet."""


def moving_instances(found: Mapping[str, Any]) -> list[str]:
    """The instances that this run stops or starts. `found` is what moving_instances.yml documents."""
    described = {str(item["instance"]): item for item in found["generations"]}
    moving = []
    for instance in found["instances"]:
        state, wanted = described.get(instance["name"], {}), _of(found["wanted"], instance["name"])
        if wanted is None:
            continue
        new = bool(wanted["restart_needed"]) and not _hold(instance, state, found)
        if new or _restarts(instance, state, found):
            moving.append(str(instance["name"]))
    return moving


def planned_host(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """A host for rollout_plan. `found` is what rollout_host.yml documents."""
    described = {str(item["instance"]): item for item in found["generations"]}
    state = {other: _links(item) for other, item in described.items()}
    engines = []
    for number, instance in enumerate(found["instances"]):
        there = described.get(instance["name"], {})
        links = state.setdefault(instance["name"], {"current": None, "previous": None})
        wanted, hold = _of(found["wanted"], instance["name"]), _hold(instance, there, found)
        if wanted is not None:
            engines.append(str(wanted["diff"]["after"]["release"]["engine"]["version"]))
        restarts = _restarts(instance, there, found) if links["current"] else []
        links["reasons"] = [*(_changes(links["current"], wanted) if links["current"] and wanted else []), *restarts]
        links["serving"] = found["health"][number].get("status") == HEALTHY
        links["left"] = there.get("move")
        if hold:
            links.update(held=hold, restarts=restarts)
    seen, limit = found["seen"], found.get("cache_max_size")
    bounds = {} if limit is None else {"mount_budget": limit}
    return {
        "name": name,
        "instances": [_shown(instance) for instance in found["instances"]],
        "state": state,
        "devices": _given(found.get("devices"), seen["devices"]),
        "cpu": True if engines and all("+cpu" in version for version in engines) else None,
        "versions": seen["versions"],
        "cache": {**seen["cache"], **bounds} if found["cached"] else None,
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


def _of(results: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    """The result of an instance, None for one that modelshelf_only leaves out."""
    return next((item for item in results if item["item"] == name), None)


def _hold(instance: Mapping[str, Any], there: Mapping[str, Any], found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The hold that keeps an instance where it is, None when there is none, it is lifted, or for another version."""
    hold: Mapping[str, Any] | None = there.get("hold")
    if not hold or flag("rollout_lift_hold", found.get("lift_hold", False)):
        return None
    return hold if read_version(hold) == (instance["model"], str(instance["version"])) else None


def _restarts(instance: Mapping[str, Any], there: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Why an instance would be stopped or started whatever it is to serve, also where it is held."""
    reasons = ["mount"] if instance["weights_unit"] in found["stale_mounts"] else []
    unit = next(item for item in found["units"] if item["item"] == instance["name"])
    active = str(unit["stdout"]).strip()
    if active != "active":
        reasons.append(active or "unknown")
    if there.get("move") and there["move"]["step"] not in _NOT_STOPPED:
        reasons.append("unfinished")
    # It was left drained; that it runs by now, since somebody mended it, does not give it requests.
    if _last_result(there) == "failed" and "failed" not in reasons:
        reasons.append("failed")
    return reasons


def _last_result(there: Mapping[str, Any]) -> str:
    """What came of the last move of an instance, empty before the first."""
    results = [str(line["result"]) for line in there.get("history") or [] if line["action"] != "hold"]
    return results[-1] if results else ""


def _changes(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What of an instance would be other than in its generation, beside the version."""
    before, after = wanted["diff"]["before"], wanted["diff"]["after"]
    reasons = _differences(before, after) if before else []
    if not reasons and wanted["restart_needed"] and read_version(current) == read_version(after["release"]):
        return ["generation"]
    return reasons


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    old, new = before["release"], after["release"]
    same_version = (old.get("model"), old.get("version")) == (new["model"], new["version"])
    found = {
        "argument": _arguments(before) != _arguments(after),
        "port": _port(before) != _port(after),
        "engine": old.get("engine") != new["engine"],
        "environment": before["environment"] != after["environment"],
        "unit": before["unit"] != after["unit"],
        "path": same_version and old.get("weights_path") != new["weights_path"],
        "files": "note" in after,
    }
    return [reason for reason, differs in found.items() if differs]


def _arguments(shown: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the engine, without the path, which names the version, and the port."""
    return {option: value for option, value in shown["vllm.yaml"].items() if option not in ("model", "port")}


def _port(shown: Mapping[str, Any]) -> Any:
    return shown["vllm.yaml"].get("port")
