# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters wave_sizes and wave_batches: see wave_sizes.yml and wave_batches.yml."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import flag
from ansible_collections.modelshelf.fleet.plugins.module_utils._waves import (
    batch_sizes,
    parse_serial,
    with_canary,
)


def wave_sizes(count: int, serial: Any = 1, canary: Any = True) -> list[int | str]:
    """The sizes of the waves as a play's serial has them, or an error that says what is wrong."""
    try:
        wished = parse_serial(serial)
        return with_canary(wished, count) if flag("canary", canary) else wished
    except ValueError as error:
        raise AnsibleFilterError(f"rollout_{error}") from error


def wave_batches(moving: Iterable[Any], serial: Any = 1, canary: Any = True) -> list[int]:
    """The sizes of the batches of all hosts, each with one wave of those that move, or an error as of wave_sizes."""
    moves = [bool(one) for one in moving]
    return batch_sizes(moves, wave_sizes(sum(moves), serial, canary))


class FilterModule:
    """Registers the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"wave_sizes": wave_sizes, "wave_batches": wave_batches}
