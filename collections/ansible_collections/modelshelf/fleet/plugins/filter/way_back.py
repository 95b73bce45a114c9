# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter way_back: see way_back.yml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _way_back
from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import flag, whole
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import read_outside


def way_back(
    hosts: Sequence[Mapping[str, Any]],
    to: Any = None,
    serial: Any = 1,
    canary: Any = True,
    minimum: Any = None,
    outside: Any = None,
) -> dict[str, Any]:
    """Which instances of the hosts go back, and what speaks against it."""
    try:
        return _way_back.way_back(
            hosts,
            to=None if to is None or to == "" else whole("rollback_to", to, 1),
            serial=serial,
            canary=flag("canary", canary),
            minimum=minimum,
            outside=read_outside(outside),
        )
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"way_back": way_back}
