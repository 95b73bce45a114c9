# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter model_slug: see model_slug.yml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _names


def model_slug(name: Any) -> str:
    """The slug of a model's name."""
    try:
        return _names.model_slug(name)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"model_slug": model_slug}
