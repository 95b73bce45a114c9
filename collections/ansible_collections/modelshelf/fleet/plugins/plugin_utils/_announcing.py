# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tasks of a dry run tell each other, so that check mode fails exactly where a real run would.

A user refers to a policy that an earlier task of the same play makes. In check mode that task makes nothing, and the
store alone cannot tell such a policy from one that is misspelt. So each task leaves the names that it would make in a
fact of the host, and later ones take them for there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase

FACT = "modelshelf_dry_run"


class AnnouncingAction(ActionBase):
    """Runs the module of the same name. `makes` is the kind of object that it makes, where others refer to it."""

    makes = ""
    refers = True

    def run(self, tmp: str | None = None, task_vars: Mapping[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        self._supports_async = True
        arguments, known = dict(self._task.args), self._known(task_vars or {})
        if self._task.check_mode and self.refers:
            arguments.setdefault("announced", known)
        result: dict[str, Any] = self._execute_module(
            module_args=arguments, task_vars=task_vars, wrap_async=self._task.async_val
        )
        if self._task.check_mode and self.makes and not result.get("failed"):
            made = [item["name"] for item in result.get("results", ()) if "create" in item["actions"]]
            names = {**known, self.makes: sorted({*known.get(self.makes, ()), *made})}
            result["ansible_facts"] = {FACT: {"run": os.getppid(), "names": names}}
        return result

    def _known(self, task_vars: Mapping[str, Any]) -> dict[str, list[str]]:
        """What earlier tasks of this run announced: facts may be cached, and outlive the run that they are about."""
        fact = (task_vars.get("ansible_facts") or {}).get(FACT) or {}
        return dict(fact["names"]) if fact.get("run") == os.getppid() else {}
