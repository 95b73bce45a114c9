# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter resolve_models: see resolve_models.yml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _models


def resolve_models(models: Any, weights_root: str = _models.WEIGHTS_ROOT) -> list[dict[str, Any]]:
    """The models of the inventory with all names filled in."""
    try:
        return _models.resolve_models(models, weights_root)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"resolve_models": resolve_models}
