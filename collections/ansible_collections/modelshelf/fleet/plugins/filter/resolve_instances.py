# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter resolve_instances: see resolve_instances.yml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _instances, _models


def resolve_instances(
    instances: Any,
    models: Any,
    address: str,
    weights_root: str | None = None,
    arguments: Any = None,
) -> list[dict[str, Any]]:
    """The instances of a host with all names filled in."""
    try:
        return _instances.resolve_instances(
            instances, models, address=address, weights_root=weights_root or _models.WEIGHTS_ROOT, arguments=arguments
        )
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"resolve_instances": resolve_instances}
