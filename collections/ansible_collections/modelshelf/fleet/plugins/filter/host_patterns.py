# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter host_patterns: see host_patterns.yml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.inventory.manager import split_host_pattern


def host_patterns(limit: str) -> list[str]:
    """The patterns of a limit, without the marks of exclusion and intersection; files of hosts are left out."""
    patterns = [pattern.lstrip("!&") for pattern in split_host_pattern(limit)]
    return [pattern for pattern in patterns if pattern and not pattern.startswith("@")]


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"host_patterns": host_patterns}
