# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test gone_run: see gone_run.yml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.plugin_utils._runs import is_gone


def gone_run(run: Any) -> bool:
    """Whether a run of this machine has ended."""
    return is_gone(str(run))


class TestModule:
    """Registers the test."""

    def tests(self) -> dict[str, Callable[..., bool]]:
        return {"gone_run": gone_run}
