# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The waves of a plan: the hosts that have something to move, with enough of the fleet left to serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import Findings, Host
from ansible_collections.modelshelf.fleet.plugins.module_utils._waves import (
    FLEET,
    Serial,
    Serving,
    Shortfall,
    largest_wave,
    shortfalls,
    split_waves,
    with_canary,
)


def plan_waves(
    fleet: Sequence[Host],
    serial: Serial,
    least: Mapping[str, int],
    canary: bool,
    findings: Findings,
    beside: Mapping[str, frozenset[str]],
) -> list[list[str]]:
    """The waves in the order of the inventory. Refuses, in `findings`, those that leave too few hosts serving.

    `beside` are hosts that are not planned, with the models that each goes on serving. Raises ValueError for a minimum
    for a model that nothing serves.
    """
    stay = {name: Serving(models, frozenset(), models) for name, models in beside.items()}
    serving = {**stay, **{host.name: _serving(host) for host in fleet}}
    models = {model for host in serving.values() for model in host.before | host.after}
    strange = sorted(model for model in least if model != FLEET and model not in models)
    if strange:
        raise ValueError(
            f"the minimum of serving hosts names {', '.join(strange)}, which no instance serves. They serve:"
            f" {', '.join(sorted(models)) or 'nothing'}"
        )
    moving = [host.name for host in fleet if host.moves]
    waves = split_waves(moving, with_canary(serial, len(moving)) if canary else serial)
    if refusals := too_few(waves, serving, least, canary=canary):
        findings.refusals += refusals
        return waves
    for found in shortfalls(waves, serving, dict.fromkeys(sorted(models), 1)):
        findings.notices.append(
            f"no host serves {found.model} while wave {found.wave} ({', '.join(waves[found.wave - 1])}) changes"
        )
    return waves


def too_few(
    waves: Sequence[Sequence[str]], fleet: Mapping[str, Serving], least: Mapping[str, int], *, canary: bool
) -> list[str]:
    """Why these waves leave too few hosts serving, with what to do; nothing when they do not."""
    short, moving = shortfalls(waves, fleet, least), [name for wave in waves for name in wave]
    if not short:
        return []
    advice = _advice(largest_wave(moving, fleet, least, canary=canary), moving, fleet, short[0])
    return [f"{_text(waves, found)}. {advice}" for found in _worst(short)]


def _serving(host: Host) -> Serving:
    before = {step.current.model for step in host.steps if step.current and step.serving}
    moving = {step.current.model for step in host.moves if step.current and step.serving}
    stays = {step.current.model for step in host.steps if step.current and step.serving and step not in host.moves}
    return Serving(frozenset(before), frozenset(moving), frozenset(stays | {step.wanted.model for step in host.moves}))


def _worst(short: Sequence[Shortfall]) -> list[Shortfall]:
    """For every minimum that is not kept, the wave that leaves the fewest."""
    models = dict.fromkeys(found.model for found in short)
    return [min((one for one in short if one.model == model), key=lambda one: one.left) for model in models]


def _text(waves: Sequence[Sequence[str]], found: Shortfall) -> str:
    wave = waves[found.wave - 1]
    what = "serve" if found.model == FLEET else f"serve {found.model}"
    return (
        f"wave {found.wave} changes {len(wave)} host{'s' * (len(wave) > 1)} ({', '.join(wave)}), and only {found.left}"
        f" would {what} meanwhile; the minimum is {found.least}"
    )


def _advice(largest: int | None, moving: Sequence[str], fleet: Mapping[str, Serving], short: Shortfall) -> str:
    if largest is not None:
        return f"The largest wave that works is {largest}: set serial to {largest} at most"
    now = sum(bool(host.before) if short.model == FLEET else short.model in host.before for host in fleet.values())
    return f"No wave size keeps it: {now} of {len(fleet)} hosts serve now. Lower the minimum or add hosts"
