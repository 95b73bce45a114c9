# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter rustfs_nodes: see rustfs_nodes.yml."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_layout import LayoutError, parse_layout


def rustfs_nodes(volumes: Sequence[str]) -> list[str]:
    """The URL of each server that the volumes name, in their order; none for volumes of one host."""
    try:
        return list(parse_layout(volumes).nodes)
    except LayoutError as error:
        raise AnsibleFilterError(f"rustfs_nodes: {error}") from error


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"rustfs_nodes": rustfs_nodes}
