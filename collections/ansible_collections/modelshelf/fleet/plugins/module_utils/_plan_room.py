# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host has to fetch before its instances move, and whether old and new fit on it together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import human_bytes
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import (
    MOVE,
    Findings,
    Host,
    Step,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_shelf import Shelf, Version


@dataclass(frozen=True)
class Staging:
    """Versions with their bytes: to fetch, to keep (old and new together), and to remove first to make room."""

    fetch: dict[Version, int]
    keep: dict[Version, int]
    remove: dict[Version, int]

    @property
    def fetch_bytes(self) -> int:
        return sum(self.fetch.values())

    @property
    def keep_bytes(self) -> int:
        return sum(self.keep.values())


def plan_staging(host: Host, shelf: Shelf, findings: Findings) -> Staging:
    """What the host fetches, keeps and removes. Adds to `findings` what is missing on the shelf and what does not fit.

    A version that two instances want is fetched once, and of a version that is there in part only the rest.
    """
    kept_moves = [step for step in host.moves if step.kept]
    fetch: dict[Version, int] = {}
    for version in dict.fromkeys(step.wanted for step in kept_moves):
        there = host.present.get(version, 0)
        size = _size(host, shelf, version)
        if size is not None and size > there:
            fetch[version] = size - there
    for step in host.moves:
        if step.instance.get("source") != "nfs":
            _check_shelf(host, shelf, step, findings)
    keep: dict[Version, int] = {}
    for version in _kept_versions(host):
        size = _size(host, shelf, version)
        if size is not None:
            keep[version] = size
        elif kept_moves and version not in [step.wanted for step in kept_moves]:
            findings.notices.append(
                f"{host.name}: the size of {version} is not known, neither from the shelf nor from the host;"
                " it is counted as nothing"
            )
    unused = {version: size for version, size in host.present.items() if version not in _kept_versions(host) and size}
    fetched = sum(fetch.values())
    crowded = host.free is not None and fetched > host.free
    staging = Staging(fetch, keep, unused if crowded else {})
    if kept_moves:
        _check_room(host, staging, findings)
        _check_mounts(host, staging, findings)
    for step in host.moves:
        if step.instance.get("source") == "stream":
            findings.notices.append(f"{host.name}: {step.name} streams {step.wanted} from the store when it starts")
    return staging


def as_list(versions: dict[Version, int]) -> list[dict[str, Any]]:
    """Versions as plain data."""
    return [{"model": item.model, "version": item.version, "bytes": size} for item, size in versions.items()]


def _size(host: Host, shelf: Shelf, version: Version) -> int | None:
    """The size of a version: what the shelf says, otherwise what the host has of it."""
    return shelf.sizes.get(version, host.present.get(version))


def _kept_versions(host: Host) -> list[Version]:
    """What must be on the host at the same time: old and new of what moves, and of the rest what it can go back to."""
    return list(dict.fromkeys([*_of_steps(host), *host.strangers.values()]))


def _of_steps(host: Host) -> Iterable[Version]:
    for step in host.steps:
        if not step.kept:
            continue
        if step.current is not None:
            yield step.current
        if step.fate == MOVE:
            yield step.wanted
        elif step.previous is not None and step.previous in host.present:
            yield step.previous


def _check_shelf(host: Host, shelf: Shelf, step: Step, findings: Findings) -> None:
    coming = shelf.coming.get(step.wanted)
    if coming and not coming.fault:
        size, unless = human_bytes(shelf.sizes[step.wanted]), "" if shelf.known else ", unless it is on the shelf"
        findings.notices.append(
            f"version {step.wanted.version} of {step.display_name} is not {'on the shelf' if shelf.known else 'known'}"
            f" yet: {size} would be published first, from {coming.directory}{unless}"
        )
    if step.wanted in shelf.sizes:
        return
    if step.wanted in host.present:
        if shelf.known:
            findings.notices.append(f"{host.name}: {step.wanted} is not on the shelf any more; the host has it")
        return
    where = f"{host.name}: {step.name} wants version {step.wanted.version} of {step.display_name}"
    there = ", ".join(shelf.versions(step.wanted.model))
    if coming:
        advice = f"which cannot be published: {coming.fault}"
    elif not shelf.known:
        why = f"does not say what it has: {shelf.fault}" if shelf.fault else "was not asked"
        advice = f"which is not on the host, and the store {why}. Bring the store up and plan again"
    elif there:
        advice = f"which is not on the shelf: it has no manifest. Publish it, or choose one of: {there}"
    else:
        advice = "which is not on the shelf: no version of this model is. Publish it"
    findings.refusals.append(f"{where}, {advice}")


def _check_room(host: Host, staging: Staging, findings: Findings) -> None:
    what = " + ".join(f"{version} {human_bytes(size)}" for version, size in staging.keep.items())
    if host.budget is not None and staging.keep_bytes > host.budget:
        findings.refusals.append(
            f"{host.name}: old and new together need {human_bytes(staging.keep_bytes)} ({what}), the budget of the"
            f" cache is {human_bytes(host.budget)}. Raise the budget to {staging.keep_bytes} bytes at least"
        )
    if not staging.fetch:
        return
    if not host.cached:
        return
    if host.free is None:
        findings.notices.append(
            f"{host.name}: the free room for {human_bytes(staging.fetch_bytes)} is not known and was not checked"
        )
        return
    removable = sum(staging.remove.values())
    short = staging.fetch_bytes - host.free - removable
    if short > 0:
        total = f" of {human_bytes(host.total)}" if host.total is not None else ""
        unused = f", and {human_bytes(removable)} in versions that no instance uses" if removable else ""
        findings.refusals.append(
            f"{host.name}: {human_bytes(staging.fetch_bytes)} are to be fetched beside what is there, but"
            f" {human_bytes(host.free)}{total} are free{unused}: {human_bytes(short)} too little for old and new"
            f" together ({what}). Make room on the file system of the cache"
        )
    elif staging.remove:
        names = ", ".join(map(str, staging.remove))
        findings.notices.append(f"{host.name}: {names} must leave the cache first, to make room for what is fetched")


def _check_mounts(host: Host, staging: Staging, findings: Findings) -> None:
    """Whether the cache of each mount may hold what is served beside what is to be, as staging asks of it."""
    limit = host.mount_budget
    if limit is None:
        return
    moved = [step.wanted for step in host.moves if step.kept]
    served = {step.current for step in host.steps if step.kept} | set(host.strangers.values())
    for model in dict.fromkeys(version.model for version in moved):
        together = [item for item in staging.keep if item.model == model and (item in moved or item in served)]
        needed = sum(staging.keep[item] for item in together)
        if needed > limit:
            what = " + ".join(f"{item.version} {human_bytes(staging.keep[item])}" for item in together)
            findings.refusals.append(
                f"{host.name}: the cache of {model} may take {human_bytes(limit)}, and what the host serves and is to"
                f" serve needs {human_bytes(needed)} ({what}). Raise weights_cache_max_size to {needed} bytes at least"
            )
    mounts = len({step.wanted.model for step in host.steps if step.kept})
    if host.total is not None and mounts * limit > host.total:
        findings.notices.append(
            f"{host.name}: its {mounts} cache{'s' * (mounts > 1)} may grow to {human_bytes(mounts * limit)} by"
            f" weights_cache_max_size, the file system has {human_bytes(host.total)}: it can fill up before they are"
            " emptied of what nobody uses"
        )
