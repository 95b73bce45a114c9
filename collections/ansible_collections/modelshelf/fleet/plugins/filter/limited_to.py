# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter limited_to: see limited_to.yml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import listed
from ansible_collections.modelshelf.fleet.plugins.module_utils._names import model_slug


def limited_to(items: Iterable[Mapping[str, Any]], only: Any) -> list[Mapping[str, Any]]:
    """The resolved models or instances that are of these models; all when none is named."""
    try:
        slugs = [model_slug(str(name)) for name in listed("modelshelf_only", only)]
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error
    return [item for item in items if not slugs or (item["slug"] if "slug" in item else item["model"]) in slugs]


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"limited_to": limited_to}
