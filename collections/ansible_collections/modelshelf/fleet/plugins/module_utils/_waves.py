# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waves: which hosts change at the same time, and how many still serve meanwhile."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import listed, whole
from ansible_collections.modelshelf.fleet.plugins.module_utils._names import model_slug

FLEET = ""
"""The key of a minimum that is for the fleet; other keys are the slugs of models."""

Serial = Sequence[Union[int, str]]


def parse_serial(value: Any) -> list[int | str]:
    """Ansible's `serial` as a list of counts and percentages: `2`, `25%`, `[1, 50%]`, each also as text, as from `-e`.

    Raises ValueError for what Ansible would take as all hosts at once (nothing, 0, a negative number), for more than
    100 % and for what is not a whole number.
    """
    items = listed("serial", value)
    if not items:
        raise ValueError("serial is empty, which would change all hosts at once. Say 1, 25% or a list such as [1, 50%]")
    return [_item(item) for item in items]


def read_minimum(value: Any) -> dict[str, int]:
    """How many hosts have to serve: a number for the fleet, or one for each model by its name. Raises ValueError."""
    if value is None or value == "":
        return {}
    if isinstance(value, Mapping):
        what = "the minimum of serving hosts for"
        return {model_slug(model): whole(f"{what} {model}", count) for model, count in value.items()}
    return {FLEET: whole("the minimum of serving hosts", value)}


def split_waves(hosts: Sequence[str], serial: Serial) -> list[list[str]]:
    """The hosts in batches, exactly as Ansible makes them: the last item of `serial` goes on for the rest.

    A percentage is of all `hosts`, rounded down, but 1 at least. `serial` is as parse_serial() gives it.
    """
    waves: list[list[str]] = []
    done = 0
    while done < len(hosts):
        size = _size(serial[min(len(waves), len(serial) - 1)], len(hosts))
        waves.append(list(hosts[done : done + size]))
        done += size
    return waves


def batch_sizes(moving: Sequence[bool], serial: Serial) -> list[int]:
    """How many hosts each batch of a play has, for its hosts in their order, of which some move.

    Each batch has one wave of split_waves(), of those that move, and the hosts that stay before its last one; the last
    batch has all the rest. When nothing moves there is one batch.
    """
    movers = [str(place) for place, moves in enumerate(moving, 1) if moves]
    ends = [int(wave[-1]) for wave in split_waves(movers, serial)]
    ends[-1:] = [max(len(moving), 1)]
    return [end - begin for begin, end in zip([0, *ends], ends)]


def with_canary(serial: Serial, count: int) -> list[int | str]:
    """`serial` with a first wave of one host, for a fleet of `count`."""
    return list(serial) if _size(serial[0], count) == 1 else [1, *serial]


@dataclass(frozen=True)
class Serving:
    """What a host serves: models by slug. `moving` are those that its own wave interrupts."""

    before: frozenset[str]
    moving: frozenset[str]
    after: frozenset[str]


@dataclass(frozen=True)
class Shortfall:
    """A wave (from 1) that would leave `left` hosts serving. `model` is FLEET, or the model that is meant."""

    wave: int
    model: str
    left: int
    least: int


def shortfalls(
    waves: Sequence[Sequence[str]], fleet: Mapping[str, Serving], least: Mapping[str, int]
) -> list[Shortfall]:
    """The waves during which fewer hosts serve than `least` (by model, or FLEET) says.

    A wave that interrupts nothing, such as a first deployment, never falls short.
    """
    serves = {name: host.before for name, host in fleet.items()}
    found = []
    for number, wave in enumerate(waves, 1):
        for model, count in least.items():
            out = {name for name in wave if _touches(fleet[name].moving, model)}
            left = sum(_touches(models, model) for name, models in serves.items() if name not in out)
            if out and left < count:
                found.append(Shortfall(number, model, left, count))
        serves.update({name: fleet[name].after for name in wave})
    return found


def largest_wave(
    hosts: Sequence[str], fleet: Mapping[str, Serving], least: Mapping[str, int], *, canary: bool
) -> int | None:
    """The largest `serial` that never falls short, None when not even 1 does."""
    # After the canary all but one host are left.
    for size in range(max(len(hosts) - canary, 1), 0, -1):
        serial = with_canary([size], len(hosts)) if canary else [size]
        if not shortfalls(split_waves(hosts, serial), fleet, least):
            return size
    return None


def _touches(models: frozenset[str], model: str) -> bool:
    return bool(models) if model == FLEET else model in models


def _item(item: Any) -> int | str:
    text = str(item).strip()
    found = None if isinstance(item, bool) else re.fullmatch(r"([+-]?[0-9]{1,9})\s*(%?)", text)
    if not found:
        raise ValueError(f"serial has {item!r}, which is neither a number of hosts nor a percentage such as 25%")
    number, percent = int(found[1]), found[2]
    if number < 1:
        raise ValueError(f"serial has {text}: a wave has at least one host. Say 1, 25% or a list such as [1, 50%]")
    if percent and number > 100:
        raise ValueError(f"serial has {text}, more than all hosts: say 100% at most")
    return f"{number}%" if percent else number


def _size(item: int | str, count: int) -> int:
    """Ansible's pct_to_int(), floating point included: 29% of 100 hosts are 28."""
    if isinstance(item, str):
        return int((int(item[:-1]) / 100.0) * count) or 1
    return item
