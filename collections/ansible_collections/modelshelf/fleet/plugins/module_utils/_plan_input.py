# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan is made from, read into values: hosts with their instances.

The filter's documentation, rollout_plan.yml, has the shapes. Raises ValueError that names the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import amount, listed, mapping, whole
from ansible_collections.modelshelf.fleet.plugins.module_utils._models import entries
from ansible_collections.modelshelf.fleet.plugins.module_utils._names import model_slug
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_shelf import Shelf, Version, read_version

KEPT_SOURCES = ("rclone", "local")
"""Sources whose bytes are kept on the host, in a cache or as a copy, so that they can be there before a stop."""

MOVE, HELD, DONE, UNSELECTED = "move", "held", "done", "not selected"


@dataclass(frozen=True)
class Step:
    """One instance of a host: where it is, where the inventory wants it, and which of MOVE, HELD, DONE, UNSELECTED."""

    name: str
    display_name: str
    fate: str
    instance: Mapping[str, Any]
    current: Version | None
    previous: Version | None
    wanted: Version
    current_release: Mapping[str, Any]
    wanted_digest: str | None
    reasons: tuple[str, ...]
    hold: str
    serving: bool
    left: Mapping[str, Any]

    @property
    def kept(self) -> bool:
        """Whether the bytes of its version lie on the host."""
        return self.instance.get("source", KEPT_SOURCES[0]) in KEPT_SOURCES


@dataclass(frozen=True)
class Host:
    """What was found on a host. Sizes in bytes, `bandwidth` in bytes a second; None is unknown."""

    name: str
    steps: tuple[Step, ...]
    strangers: Mapping[str, Version]
    devices: tuple[str, ...] | None
    cpu: bool | None
    present: Mapping[Version, int]
    cached: bool
    free: int | None
    total: int | None
    budget: int | None
    mount_budget: int | None
    bandwidth: float | None

    @property
    def moves(self) -> list[Step]:
        return [step for step in self.steps if step.fate == MOVE]


@dataclass
class Findings:
    """What is wrong with a plan, and what an operator should know of it."""

    refusals: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def read_outside(value: Any) -> dict[str, frozenset[str]]:
    """Hosts that are not planned, with the slugs of the models that their instances in the inventory have."""
    return {
        str(name): frozenset(model_slug(str(item.get("model"))) for item in entries(f"{name}: instances", instances))
        for name, instances in mapping("the hosts outside of the plan", value).items()
    }


def read_only(value: Any, hosts: Sequence[Mapping[str, Any]]) -> frozenset[str] | None:
    """The slugs of the models that `modelshelf_only` names, None for all. Refuses a model that no host serves."""
    asked = listed("modelshelf_only", value)
    if not asked:
        return None
    served: dict[str, str] = {}
    for host in hosts:
        for instance in _instances(host):
            served.setdefault(str(instance["model"]), str(instance.get("display_name") or instance["model"]))
    unknown = [str(name) for name in asked if model_slug(str(name)) not in served]
    if unknown:
        raise ValueError(
            f"modelshelf_only names {', '.join(unknown)}, which no instance of these hosts serves. They serve:"
            f" {', '.join(sorted(served.values())) or 'nothing'}"
        )
    return frozenset(model_slug(str(name)) for name in asked)


def read_host(value: Mapping[str, Any], shelf: Shelf, only: frozenset[str] | None) -> Host:
    """One host as values."""
    name = str(value["name"])
    states = mapping(f"{name}: state", value.get("state"))
    instances = _instances(value)
    cache = mapping(f"{name}: cache", value.get("cache"))
    names = [str(instance["name"]) for instance in instances]
    releases = {other: mapping(f"{name}: {other}", state).get("current") for other, state in states.items()}
    return Host(
        name=name,
        steps=tuple(
            _step(instance, mapping(f"{name}: {instance['name']}", states.get(instance["name"])), shelf, only)
            for instance in instances
        ),
        strangers={other: read_version(found) for other, found in releases.items() if found and other not in names},
        devices=_devices(f"{name}: devices", value.get("devices")),
        cpu=None if value.get("cpu") is None else bool(value["cpu"]),
        present={
            Version(model_slug(model), str(version)): whole(f"{name}: the size of {model} {version}", size)
            for model, versions in mapping(f"{name}: versions", value.get("versions")).items()
            for version, size in mapping(f"{name}: versions: {model}", versions).items()
        },
        cached=value.get("cache") is not None,
        free=_optional(f"{name}: cache: free", cache.get("free")),
        total=_optional(f"{name}: cache: total", cache.get("total")),
        budget=_optional(f"{name}: cache: budget", cache.get("budget")),
        mount_budget=_optional(f"{name}: cache: mount_budget", cache.get("mount_budget")),
        bandwidth=amount(f"{name}: bandwidth", value.get("bandwidth")),
    )


def _step(instance: Mapping[str, Any], state: Mapping[str, Any], shelf: Shelf, only: frozenset[str] | None) -> Step:
    release = mapping(f"{instance['name']}: current", state.get("current"))
    wish = mapping(f"{instance['name']}: wanted", state.get("wanted"))
    wanted = Version(str(instance["model"]), str(wish.get("version") or instance["version"]))
    current = read_version(release) if release else None
    digest = wish.get("digest") or shelf.digests.get(wanted)
    reasons = [str(reason) for reason in listed(f"{instance['name']}: reasons", state.get("reasons"))]
    ours = digest_of(release)
    if current is None:
        reasons.insert(0, "new")
    elif "version" not in reasons and (current != wanted or (digest and ours and digest != ours)):
        reasons.insert(0, "version")
    restarts = [str(reason) for reason in listed(f"{instance['name']}: restarts", state.get("restarts"))]
    if only is not None and wanted.model not in only:
        fate = UNSELECTED
    elif _holds(state.get("held"), wanted) and current is not None and restarts:
        fate, wanted, digest, reasons = MOVE, current, ours, restarts
    elif _holds(state.get("held"), wanted):
        fate = HELD
    else:
        fate = MOVE if reasons else DONE
    return Step(
        name=str(instance["name"]),
        display_name=str(instance.get("display_name") or instance["model"]),
        fate=fate,
        instance=instance,
        current=current,
        previous=read_version(state["previous"]) if state.get("previous") else None,
        wanted=wanted,
        current_release=release,
        wanted_digest=str(digest) if digest else None,
        reasons=tuple(reasons),
        hold=_hold_text(state.get("held")),
        serving=current is not None and bool(state.get("serving", True)),
        left=mapping(f"{instance['name']}: left", state.get("left")),
    )


def _holds(held: Any, wanted: Version) -> bool:
    """Whether an instance stays where it is. A hold.json holds it back from the version that it names, and no other."""
    return read_version(held) == wanted if isinstance(held, Mapping) and held else bool(held)


def _hold_text(held: Any) -> str:
    if isinstance(held, Mapping) and held:
        told = [str(held[key]) for key in ("who", "time") if held.get(key)]
        return f"rolled back from {read_version(held)}" + (f" ({', '.join(told)})" if told else "")
    return str(held) if held and held is not True else ""


def digest_of(release: Mapping[str, Any]) -> str | None:
    """The digest of the manifest in a release.json, or under the shorter name that manifests use."""
    found = release.get("manifest_digest") or release.get("digest")
    return str(found) if found else None


def _instances(host: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = entries(f"{host['name']}: instances", host.get("instances"))
    for instance in found:
        absent = [key for key in ("name", "model", "version") if not instance.get(key)]
        if absent:
            raise ValueError(
                f"{host['name']}: an instance has no {', '.join(absent)}: give what resolve_instances gives"
            )
    return found


def _devices(where: str, value: Any) -> tuple[str, ...] | None:
    """Names of the devices: what nvidia-smi calls them, or their indexes when only a count or indexes are known."""
    if value is None or value == "":
        return None
    if isinstance(value, (str, int)):
        return tuple(str(index) for index in range(whole(where, value)))
    return tuple(str(item) for item in listed(where, value))


def _optional(where: str, value: Any) -> int | None:
    return None if value is None or value == "" else whole(where, value)
