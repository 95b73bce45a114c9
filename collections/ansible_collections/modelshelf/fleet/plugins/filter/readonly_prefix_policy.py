# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter readonly_prefix_policy: see readonly_prefix_policy.yml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _policy_document
from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import flag


def readonly_prefix_policy(bucket: Any, prefixes: Any, versioned: Any = False) -> dict[str, Any]:
    """The policy of a key that may list and read some prefixes of a bucket and nothing else."""
    try:
        return _policy_document.readonly_prefix_policy(bucket, prefixes, flag("versioned", versioned))
    except ValueError as error:
        raise AnsibleFilterError(f"readonly_prefix_policy: {error}") from error


class FilterModule:
    """Registers the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"readonly_prefix_policy": readonly_prefix_policy}
