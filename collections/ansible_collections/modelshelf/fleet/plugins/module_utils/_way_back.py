# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollback: which instances go back, to which generation, which ones stay, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_waves import too_few
from ansible_collections.modelshelf.fleet.plugins.module_utils._waves import (
    Serving,
    parse_serial,
    read_minimum,
    split_waves,
    with_canary,
)

NOTHING = "no generation before: there is nothing to go back to"


@dataclass(frozen=True)
class Instance:
    """An instance that is asked to go back. `wanted` is what the inventory names, as in `qwen2-7b v2`.

    `versions` are those of its generations by number, `staged` the generation that was staged last, `held_from` is what
    an earlier rollback left. `came_back` says that its last move was one to what was staged, which did not serve.
    `to` is the generation that it goes back to, None when it stays. `held` says that it is to be held back from what
    was staged.
    """

    host: str
    name: str
    model: str
    wanted: str
    versions: Mapping[int, str]
    current: int | None
    previous: int | None
    staged: int | None
    serving: bool
    held_from: str
    came_back: bool
    to: int | None = None
    held: bool = False

    def __str__(self) -> str:
        return f"{self.name} on {self.host}"

    @property
    def version(self) -> str:
        """What it serves now; empty before the first generation."""
        return self.versions.get(self.current, "") if self.current is not None else ""

    @property
    def before(self) -> str:
        """What it served before; empty where there is no generation before."""
        return self.versions.get(self.previous, "") if self.previous is not None else ""

    @property
    def coming(self) -> str:
        """What it was to serve after the last staging."""
        return self.versions.get(self.staged, "") if self.staged is not None else ""

    @property
    def came(self) -> bool:
        """Whether it serves what was staged last. Two generations can have one version, as with another engine."""
        return self.current is not None and self.current == self.staged

    @property
    def end(self) -> str:
        """What it serves after the rollback."""
        return self.version if self.to is None else self.versions.get(self.to, "")


def way_back(
    hosts: Sequence[Mapping[str, Any]],
    *,
    to: int | None,
    serial: Any,
    canary: bool,
    minimum: Any,
    outside: Mapping[str, frozenset[str]],
) -> dict[str, Any]:
    """What becomes of the chosen instances of `hosts`, and every reason against it, in `refusals`.

    way_back.yml documents input and result. Raises ValueError for a serial or a minimum that is none.
    """
    found = [_read(host, str(name)) for host in hosts for name in host["wanted"]]
    refusals: list[str] = []
    decided = _to_named(found, to, refusals) if to is not None else _to_before(found, refusals)
    if not refusals:
        refusals += _mixed(decided, named=to is not None)
        refusals += _short(hosts, decided, serial, canary, minimum, outside)
    names = [str(host["name"]) for host in hosts]
    return {
        "back": {name: {one.name: one.to for one in decided if one.host == name and one.to} for name in names},
        "held": {str(host["name"]): _held(host, decided) for host in hosts},
        "refusals": refusals,
    }


def _read(host: Mapping[str, Any], name: str) -> Instance:
    there: Mapping[str, Any] = next((item for item in host["generations"] if item["instance"] == name), {})
    model = str(host["models"][name])
    staged = there.get("staged")
    moves = [line for line in there.get("history") or [] if line["action"] != "hold"]
    return Instance(
        host=str(host["name"]),
        name=name,
        model=model,
        wanted=_served({"model": model, "version": host["wanted"][name]}),
        versions={item["generation"]: _served(item) for item in there.get("generations", [])},
        current=there.get("current"),
        previous=there.get("previous"),
        staged=staged,
        serving=name in host["active"],
        held_from=_served(there.get("hold") or {}),
        came_back=bool(moves) and moves[-1]["result"] != "served" and moves[-1]["to"] == staged != there.get("current"),
    )


def _served(release: Mapping[str, Any]) -> str:
    """Model and version; empty for a generation that cannot be read."""
    return f"{release['model']} {release['version']}" if "version" in release else ""


def _held(host: Mapping[str, Any], decided: Sequence[Instance]) -> dict[str, Any]:
    """The instances that are to be held back, with the model and the version that the inventory has for each."""
    names = [one.name for one in decided if one.host == host["name"] and one.held]
    return {name: {"model": host["models"][name], "version": host["wanted"][name]} for name in names}


def _to_named(found: Iterable[Instance], to: int, refusals: list[str]) -> list[Instance]:
    """All to the generation that the user has named. What is there already does not go forward either."""
    decided = []
    for one in found:
        if to not in one.versions:
            refusals.append(f"{one} has no generation {to}. {_there(one)}")
        held = one.version != one.wanted or not one.came
        decided.append(replace(one, held=held) if one.current == to else replace(one, to=to))
    return decided


def _to_before(found: Sequence[Instance], refusals: list[str]) -> list[Instance]:
    """Each to the generation before. Those that a swap which failed half-way has not moved are there already."""
    left = {(one.wanted, one.before) for one in found if _moved(one)}
    half_way = {one.model for one in found if one.version != one.wanted and (one.wanted, one.version) in left}
    arrived = {one.coming for one in found if one.came}
    decided = []
    for one in found:
        if one.held_from == one.wanted:
            decided.append(one)
        elif one.came_back and one.model not in half_way and one.coming not in arrived:
            refusals.append(
                f"{one} came back by itself from generation {one.staged} ({one.coming}), which no instance of this run"
                " serves: there is nothing to go back from. Leave it out with --limit or modelshelf_only; to go further"
                " back, name a generation as rollback_to"
            )
            decided.append(one)
        elif (one.wanted, one.version) in left and (one.version != one.wanted or not one.came):
            decided.append(replace(one, held=True))
        elif one.held_from:
            decided.append(one)
        elif one.previous is None:
            refusals.append(f"{one} has {NOTHING}. {_there(one)}")
        else:
            decided.append(replace(one, to=one.previous))
    return decided


def _moved(one: Instance) -> bool:
    """Whether an instance has come to what is wanted. Where the version does not tell, what was staged last does."""
    return (
        one.version == one.wanted != one.held_from
        and one.previous is not None
        and (one.before != one.version or one.came)
    )


def _there(one: Instance) -> str:
    there = ", ".join(f"{number} ({version or 'damaged'})" for number, version in sorted(one.versions.items()))
    return (
        f"Its generations are {there or 'none'}; name one as rollback_to, or leave it out by modelshelf_only, or its"
        f" host by --limit 'all:!{one.host}'"
    )


def _mixed(decided: Sequence[Instance], *, named: bool) -> list[str]:
    """Models of which one version is wanted, and of which more than one would be served."""
    found = []
    for model in dict.fromkeys(one.model for one in decided):
        those = [one for one in decided if one.model == model]
        ends: dict[str, list[str]] = {}
        for one in those:
            ends.setdefault(one.end, []).append(str(one))
        if len(ends) > 1 and len({one.wanted for one in those}) == 1:
            text = "; ".join(f"{version} by {', '.join(names)}" for version, names in ends.items())
            advice = "go back host by host with --limit" if named else "name a generation as rollback_to, with --limit"
            found.append(f"different versions of {model} would be served: {text}. To choose, {advice}")
    return found


def _short(
    hosts: Sequence[Mapping[str, Any]],
    decided: Sequence[Instance],
    serial: Any,
    canary: bool,
    minimum: Any,
    outside: Mapping[str, frozenset[str]],
) -> list[str]:
    """The waves that would leave fewer hosts serving than the minimum says."""
    fleet = {name: Serving(models, frozenset(), models) for name, models in outside.items()}
    for host in hosts:
        mine = [one for one in decided if one.host == host["name"]]
        beside = [name for name in host["models"] if name in host["active"] and name not in host["wanted"]]
        others = {str(host["models"][name]) for name in beside}
        stay = {one.model for one in mine if one.serving and one.to is None} | others
        moving = {one.model for one in mine if one.serving and one.to is not None}
        after = stay | {one.model for one in mine if one.to is not None}
        fleet[str(host["name"])] = Serving(frozenset(stay | moving), frozenset(moving), frozenset(after))
    movers = [str(host["name"]) for host in hosts if any(one.to for one in decided if one.host == host["name"])]
    sizes = parse_serial(serial)
    waves = split_waves(movers, with_canary(sizes, len(movers)) if canary and movers else sizes)
    return too_few(waves, fleet, read_minimum(minimum), canary=canary)
