# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a rollout: what every host fetches and moves, in which waves, and how long it takes.

Pure calculation on the controller, from what was found before. A plan that cannot work is refused here, with every
reason at once, while the old version serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import amount, flag, listed
from ansible_collections.modelshelf.fleet.plugins.module_utils._models import entries
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_devices import check_devices
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import (
    DONE,
    HELD,
    UNSELECTED,
    Findings,
    Host,
    Step,
    digest_of,
    read_host,
    read_only,
    read_outside,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_notes import note_outside, note_shelf, note_steps
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_ports import check_ports
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_room import Staging, as_list, plan_staging
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_shelf import read_shelf
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_times import note_unknown, predict, total_seconds
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_waves import plan_waves
from ansible_collections.modelshelf.fleet.plugins.module_utils._waves import parse_serial, read_minimum

_Read = TypeVar("_Read")


class PlanError(ValueError):
    """A plan that cannot work; `reasons` has every reason."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = list(dict.fromkeys(reasons))
        lines = "".join(f"\n- {reason}" for reason in self.reasons)
        super().__init__(f"this plan cannot work, and nothing was stopped:{lines}")


def rollout_plan(
    hosts: Any,
    *,
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
    """The plan for `hosts`, in the order of the inventory. Bytes, bytes per second and seconds throughout.

    rollout_plan.yml documents input and result. Raises PlanError, unless `refuse` is False.
    """
    findings = Findings()

    def read(reader: Callable[[], _Read], otherwise: _Read) -> _Read:
        try:
            return reader()
        except ValueError as error:
            findings.refusals.append(str(error))
            return otherwise

    wished: list[int | str] = read(lambda: parse_serial(serial), [1])
    careful = read(lambda: flag("canary", canary), True)
    least: dict[str, int] = read(lambda: read_minimum(minimum), {})
    pace = read(lambda: amount("the bandwidth of the store", store_bandwidth), None)
    move_time = read(lambda: amount("the time of one move", move_seconds), None)
    usable = len(findings.refusals)
    given: list[Mapping[str, Any]] = read(lambda: _hosts(hosts, group), [])
    stock = read(lambda: read_shelf(shelf, publish, shelf_fault), read_shelf(None))
    beside: dict[str, frozenset[str]] = read(lambda: read_outside(outside), {})
    silent = [str(name) for name in listed("the failed hosts", failed)]
    selected = read(lambda: read_only(only, given), None)
    found = [read(partial(read_host, entry, stock, selected), None) for entry in given]
    fleet = [host for host in found if host is not None]
    if len(findings.refusals) > usable:
        # A plan for a part of the fleet would only add reasons that are none.
        fleet = []
    staging = {host.name: plan_staging(host, stock, findings) for host in fleet}
    for host in fleet:
        check_devices(host, findings)
        check_ports(host, findings)
        note_steps(host, findings)
        _check_mounts(host, findings)
    staying = {**dict.fromkeys(silent, frozenset[str]()), **beside}
    waves: list[list[str]] = []
    if fleet:
        waves = read(lambda: plan_waves(fleet, wished, least, careful, findings, staying), [])
        note_shelf(fleet, staging, stock, findings)
        note_outside(beside, findings)
    predictions = [predict([host for host in fleet if host.name in wave], staging, pace, move_time) for wave in waves]
    note_unknown(fleet, staging, pace, move_time, findings)
    reasons = list(dict.fromkeys(findings.refusals))
    if reasons and refuse:
        raise PlanError(reasons)
    return {
        "hosts": [_host(host, staging[host.name]) for host in fleet],
        "failed": silent,
        "waves": waves,
        "serial": [len(wave) for wave in waves],
        "predictions": predictions,
        "totals": {
            "hosts": len(fleet),
            "moves": sum(len(host.moves) for host in fleet),
            "held": sum(step.fate == HELD for host in fleet for step in host.steps),
            "fetch_bytes": sum(host_staging.fetch_bytes for host_staging in staging.values()),
            "stage_seconds": total_seconds([one["stage_seconds"] for one in predictions]),
            "swap_seconds": total_seconds([one["swap_seconds"] for one in predictions]),
            "seconds": total_seconds([one[key] for one in predictions for key in ("stage_seconds", "swap_seconds")]),
        },
        "notices": list(dict.fromkeys(findings.notices)),
        "refusals": reasons,
    }


def _hosts(value: Any, group: str) -> list[Mapping[str, Any]]:
    found = entries("the hosts of a plan", value)
    names = [str(host.get("name") or "") for host in found]
    if "" in names:
        raise ValueError("a host of the plan has no name")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"hosts are there twice: {', '.join(twice)}")
    if not any(host.get("instances") for host in found):
        raise ValueError(
            f"{group} has {len(found) or 'no'} host{'s' * (len(found) != 1)}"
            f"{', none of them with instances' if found else ''}: nothing can be planned. Check the group and --limit,"
            " and that the hosts have modelshelf_instances"
        )
    return found


def _check_mounts(host: Host, findings: Findings) -> None:
    """Refuse to restart a mount with an instance on it that the run leaves out, and would stop without a drain."""
    restarted = {step.wanted.model for step in host.moves if "mount" in step.reasons}
    for step in host.steps:
        if step.fate == UNSELECTED and step.current and step.current.model in restarted:
            findings.refusals.append(
                f"{host.name}: the mount of {step.current.model} has to be restarted, and {step.name}, which"
                f" modelshelf_only leaves out, still reads from it. Add {step.display_name}, which the inventory gives"
                f" {step.name}, or leave modelshelf_only out"
            )


def _host(host: Host, staging: Staging) -> dict[str, Any]:
    return {
        "name": host.name,
        "fetch": as_list(staging.fetch),
        "fetch_bytes": staging.fetch_bytes,
        "room": {
            "keep": as_list(staging.keep),
            "keep_bytes": staging.keep_bytes,
            "remove": as_list(staging.remove),
            "free_bytes": host.free,
            "total_bytes": host.total,
            "budget_bytes": host.budget,
        },
        "moves": [_move(step) for step in host.moves],
        "held": [{**_place(step), "hold": step.hold} for step in host.steps if step.fate == HELD],
        "skipped": [{**_place(step), "why": step.fate} for step in host.steps if step.fate in (DONE, UNSELECTED)],
    }


def _place(step: Step) -> dict[str, Any]:
    there = step.current
    release = step.current_release
    return {
        "instance": step.name,
        "model": step.display_name,
        "from": None
        if there is None
        else {
            "generation": release.get("generation"),
            "model": there.model,
            "version": there.version,
            "digest": digest_of(release),
        },
        "to": {"model": step.wanted.model, "version": step.wanted.version, "digest": step.wanted_digest},
    }


def _move(step: Step) -> dict[str, Any]:
    return {**_place(step), "reasons": list(step.reasons), "serving": step.serving}
