# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator should know of a plan that can work: its notices. Added to the findings that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import HELD, Findings, Host, Step, digest_of
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_room import Staging
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_shelf import Shelf


def note_shelf(fleet: Sequence[Host], staging: Mapping[str, Staging], shelf: Shelf, findings: Findings) -> None:
    """Say that the store did not answer, and which hosts read from it only while their servers start."""
    if shelf.fault and any(host.moves for host in fleet):
        findings.notices.append(f"the store does not say what it has: {shelf.fault}")
    reading = [host.name for host in fleet if staging[host.name].fetch and not host.cached]
    if reading:
        findings.notices.append(
            f"the mounts of {', '.join(reading)} keep no copy: their bytes are read from the store while servers start,"
            " not before"
        )


def note_outside(hosts: Mapping[str, frozenset[str]], findings: Findings) -> None:
    """Say which hosts of the fleet are not planned, and which of them are not counted either."""
    serving, busy = ([name for name in hosts if bool(hosts[name]) == serves] for serves in (True, False))
    if serving:
        findings.notices.append(
            f"outside of the limit, not planned, and taken to serve what the inventory says: {', '.join(serving)}"
        )
    if busy:
        findings.notices.append(
            "outside of the limit, and not counted, since they do not answer or another run moves them:"
            f" {', '.join(busy)}"
        )


def note_steps(host: Host, findings: Findings) -> None:
    """Say what of an instance the table has no room for: digests, holds, moves that have not ended, strangers."""
    for step in host.steps:
        ours, theirs = digest_of(step.current_release), step.wanted_digest
        if step.current == step.wanted and ours and theirs and ours != theirs:
            findings.notices.append(
                f"{host.name}: {step.name} serves {step.wanted} with digest {ours}, the shelf has {theirs}: a version"
                " should never change"
            )
        if step.fate == HELD and step.reasons:
            findings.notices.append(
                f"{host.name}: {step.name} is held at {step.current or 'nothing'} and stays as it is"
                f" ({_not_applied(step)}); name another version, or lift the hold with rollout_lift_hold"
            )
        if step.left:
            findings.notices.append(
                f"{host.name}: {step.left['who']} began to move {step.name} to generation {step.left['to']}, and came"
                f" to the step {step.left['step']}. When that run is gone, the next one ends this first and undrains it"
            )
    for name, version in host.strangers.items():
        findings.notices.append(
            f"{host.name}: {name} runs {version} and is not in the inventory; it is left alone, and may hold a port"
            " and GPUs"
        )


def _not_applied(step: Step) -> str:
    if step.current == step.wanted:
        return f"the inventory's {', '.join(step.reasons)} is not applied"
    return f"{step.wanted} is wanted"
