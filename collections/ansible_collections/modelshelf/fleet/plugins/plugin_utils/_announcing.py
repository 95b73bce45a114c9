# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tasks of a dry run tell each other, so that check mode fails exactly where a real run would.

A user refers to a policy that an earlier task of the same play makes. In check mode that task makes nothing, and the
store alone cannot tell such a policy from one that is misspelt. So each task leaves in a fact of the host what it would
make and remove, and which policies it would give to whom, and later ones take it for done.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.plugins.action import ActionBase

FACT = "modelshelf_dry_run"


class AnnouncingAction(ActionBase):
    """Runs the module of the same name. `makes` is the kind of object that it makes."""

    makes = ""

    def run(self, tmp: str | None = None, task_vars: Mapping[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        self._supports_async = True
        arguments, known = dict(self._task.args), self._known(task_vars or {})
        if self._task.check_mode:
            arguments.setdefault("announced", known)
        result: dict[str, Any] = self._execute_module(
            module_args=arguments, task_vars=task_vars, wrap_async=self._task.async_val
        )
        if self._task.check_mode and not result.get("failed"):
            result["ansible_facts"] = {
                FACT: {"run": os.getppid(), "names": self._added(known, result.get("results", ()))}
            }
        return result

    def _added(self, known: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What is known, with the results of this task. The modules read it by _rustfs_task.Task.

        Names by kind are those that are made; `gone` has those that are removed, `moved` the policies that users and
        groups get and lose.
        """
        actions = {item["name"]: item["actions"] for item in results}
        made = {name for name, found in actions.items() if "create" in found}
        gone = {name for name, found in actions.items() if "remove" in found}
        all_gone, moved = known.get("gone", {}), known.get("moved", {})
        added = {
            **known,
            self.makes: sorted({*known.get(self.makes, ()), *made} - gone),
            "gone": {**all_gone, self.makes: sorted({*all_gone.get(self.makes, ()), *gone} - made)},
        }
        if self.makes in ("users", "groups"):
            mine = moved.get(self.makes, {})
            old = {name: found for name, found in mine.items() if name not in made | gone}
            now = {name: {**old.get(name, {}), **_moved(found)} for name, found in actions.items()}
            added["moved"] = {**moved, self.makes: {**old, **{name: found for name, found in now.items() if found}}}
        return added

    def _known(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """What earlier tasks of this run announced: facts may be cached, and outlive the run that they are about."""
        fact = (task_vars.get("ansible_facts") or {}).get(FACT) or {}
        return dict(fact["names"]) if fact.get("run") == os.getppid() else {}


def _moved(actions: Sequence[str]) -> dict[str, bool]:
    """The policies that a user or a group gets (true) or loses."""
    words = [action.split(" ", 1) for action in actions]
    return {word[1]: word[0] == "attach" for word in words if word[0] in ("attach", "detach")}
