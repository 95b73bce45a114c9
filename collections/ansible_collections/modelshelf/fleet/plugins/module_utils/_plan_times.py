# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the waves of a plan take. What is not known is not predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import human_bytes
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import Findings, Host
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_room import Staging


def predict(
    wave: Sequence[Host], staging: Mapping[str, Staging], store: float | None, move_time: float | None
) -> dict[str, Any]:
    """The seconds of one wave: hosts in parallel, the instances of a host one after the other.

    Staging takes as long as the store needs for all bytes of the wave, or the network of one host for its own.
    """
    loads = [(host.bandwidth, staging[host.name].fetch_bytes) for host in wave]
    total = sum(size for _bandwidth, size in loads)
    stage: float | None = 0.0
    limit = ""
    if total:
        hosts = [size / bandwidth if bandwidth else None for bandwidth, size in loads if size]
        known = [seconds for seconds in hosts if seconds is not None]
        if store is None or len(known) < len(hosts):
            stage = None
        else:
            stage = max(total / store, *known)
            limit = "store" if stage == total / store else "network"
    swap = None if move_time is None else move_time * max(len(host.moves) for host in wave)
    return {"fetch_bytes": total, "stage_seconds": stage, "limited_by": limit, "swap_seconds": swap}


def total_seconds(values: Sequence[float | None]) -> float | None:
    """The sum, None when a part of it is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def note_unknown(
    fleet: Sequence[Host],
    staging: Mapping[str, Staging],
    store: float | None,
    move_time: float | None,
    findings: Findings,
) -> None:
    """Say what is missing where nothing can be predicted."""
    fetching = [host for host in fleet if staging[host.name].fetch]
    slow = [host.name for host in fetching if host.bandwidth is None]
    unknown = ["the store"] if fetching and store is None else []
    unknown += [f"the network of {', '.join(slow)}"] if slow else []
    if unknown:
        total = human_bytes(sum(found.fetch_bytes for found in staging.values()))
        findings.notices.append(
            f"how long staging {total} takes is not predicted: the bandwidth of {' and of '.join(unknown)} is not known"
        )
    if move_time is None and any(host.moves for host in fleet):
        findings.notices.append("how long the swap takes is not predicted: the time of one move is not known")
