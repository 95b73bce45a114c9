# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan works with, and what it consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client

REMOVE_OTHERS: dict[str, dict[str, Any]] = {"remove_others": {"type": "bool", "default": False}}
"""The option that Task.others() reads."""

ANNOUNCED: dict[str, dict[str, Any]] = {"announced": {"type": "dict"}}
"""The option with which Task knows of earlier tasks of a dry run. The action plugins fill it in."""

Warn = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """One write: what it does, in the words of the result, and the call."""

    actions: tuple[str, ...]
    do: Callable[[], object]


@dataclass(frozen=True)
class Change:
    """What happens to one object. `before` and `after` are what the diff shows, empty where the object is absent."""

    name: str
    steps: tuple[Step, ...]
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def actions(self) -> list[str]:
        """All actions, in order."""
        return [action for step in self.steps for action in step.actions]


@dataclass(frozen=True)
class Task:
    """What a plan works with. `warn` tells the operator what is odd but no failure.

    `settings` are the options of the task that are about no single object; `report` is more for the module's result.
    `listed` tells that a list was given.
    """

    client: Client
    check_mode: bool
    warn: Warn
    listed: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)

    def missing(self, kind: str, names: Iterable[str], text: Callable[[str], str]) -> None:
        """Objects of another kind that the server must have are not there; `text` makes the message from their names.

        Raises NotFound. In check mode what earlier tasks announced counts as there: they would have made it. Where
        nothing is known of earlier tasks, it is only warned about, since a play may make the objects first.
        """
        left = sorted(set(names) - set(self._announced.get(kind, ())))
        if left and self.check_mode and self.settings.get("announced") is None:
            self.warn(f"{text(', '.join(left))}. Taken for something that the same play makes first")
        elif left:
            raise NotFound(text(", ".join(left)))

    def staying(self, kind: str, names: Iterable[str]) -> frozenset[str]:
        """`names` of objects without those that earlier tasks would have removed, were this no dry run."""
        return frozenset(names) - set(self._announced.get("gone", {}).get(kind, ()))

    def holding(self, kind: str, names: Iterable[str], policy: str) -> frozenset[str]:
        """`names` of those who have a policy, users or groups, after what earlier tasks would have done."""
        moved = self._announced.get("moved", {}).get(kind, {})
        have = {name for name in names if moved.get(name, {}).get(policy, True)}
        return self.staying(kind, have | {name for name, policies in moved.items() if policies.get(policy)})

    @property
    def _announced(self) -> Mapping[str, Any]:
        return (self.settings.get("announced") or {}) if self.check_mode else {}

    def others(self, found: Iterable[str], named: Iterable[str]) -> list[str]:
        """Those of `found` that are to be removed. Reports all that the list does not name."""
        if not self.listed:
            return []
        self.report["others"] = sorted(set(found) - set(named))
        return list(self.report["others"]) if self.settings["remove_others"] else []
