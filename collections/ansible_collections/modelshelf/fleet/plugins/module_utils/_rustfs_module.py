# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules for RustFS have in common: one object or a list, a plan of all of it, then the writes.

A plan validates everything, asks the server what it has and says what would change. Nothing is written before the whole
plan stands, so that check mode refuses what a real run would refuse, and the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible.module_utils.basic import missing_required_lib

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    ModelshelfError,
    Refused,
    StoreError,
    Unavailable,
    Unreachable,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_empty import EmptyStore
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import (
    BOTO3,
    BOTOCORE_ERROR,
    admin_from,
    connection_options,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import Change, Step, Task, Warn

__all__ = ["Change", "EmptyStore", "Kind", "Step", "Task", "reconcile", "run_info", "run_module"]

Plan = Callable[[Task, Sequence[Mapping[str, Any]]], Sequence[Change]]


@dataclass(frozen=True)
class Kind:
    """A kind of object that a module manages: the name of its list, the options of one object, and its plan.

    `key` is the option that names an object, `extra` has options of the task that are about no single object.
    """

    plural: str
    options: Mapping[str, Mapping[str, Any]]
    plan: Plan
    key: str = "name"
    extra: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def argument_spec(self) -> dict[str, Any]:
        """The connection, one object's options, and the list of such objects.

        In the list, what has a default takes the value of the task.
        """
        listed = {
            name: {what: value for what, value in spec.items() if what != "default"}
            for name, spec in self.options.items()
        }
        listed[self.key] = {**listed[self.key], "required": True}
        single = {name: dict(spec) for name, spec in (*self.options.items(), *self.extra.items())}
        # The secrets within are hidden one by one; nothing else is.
        entries = {"type": "list", "elements": "dict", "options": listed, "no_log": False}
        return {**connection_options(), **single, self.plural: entries}

    def entries(self, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The wanted objects: the one of the task, or those of its list. Refuses a name that is there twice."""
        if params[self.plural] is None:
            if params.get("remove_others"):
                raise Refused(f"remove_others is set without a list: give {self.plural}, so that others can be told")
            return [{name: params[name] for name in self.options}]
        loose = {name: params[name] for name, spec in self.options.items() if "default" not in spec}
        stray = [name for name, value in loose.items() if value is not None]
        if stray:
            raise Refused(
                f"{', '.join(stray)} and {self.plural} exclude each other: put it into the entries of the list"
            )
        found = [
            {name: params[name] if item.get(name) is None else item[name] for name in self.options}
            for item in params[self.plural]
        ]
        names = [item[self.key] for item in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise Refused(f"{self.plural}: {', '.join(twice)} is there more than once")
        return found


def run_module(make: Callable[..., Any], kind: Kind) -> None:
    """Runs a module; `make` is AnsibleModule. Ends the process with a result or a failure."""
    module = make(
        argument_spec=kind.argument_spec(),
        mutually_exclusive=[(kind.key, kind.plural)],
        required_one_of=[(kind.key, kind.plural)],
        supports_check_mode=True,
    )
    _run(module, lambda: reconcile(kind, module.params, module.check_mode, module.warn))


def run_info(
    make: Callable[..., Any],
    options: Mapping[str, Any],
    work: Callable[[Client, Mapping[str, Any]], Mapping[str, Any]],
) -> None:
    """Runs a module that only reads: `work` gets a client and the parameters, and returns the result.

    In check mode a store that does not answer is taken for empty: a bare fleet has none yet.
    """
    module = make(argument_spec={**connection_options(), **options}, supports_check_mode=True)

    def read() -> dict[str, Any]:
        client = open_client(module.params, module.check_mode)
        try:
            result = work(client, module.params)
        except Unreachable as error:
            if not module.check_mode or isinstance(error, Unavailable):
                raise
            module.warn(f"{error}. The store was taken for empty")
            result = work(EmptyStore(client), module.params)
        return {"changed": False, **result, "calls": dict(client.calls)}

    _run(module, read)


def reconcile(kind: Kind, params: Mapping[str, Any], check_mode: bool, warn: Warn) -> dict[str, Any]:
    """Brings objects to what `params` say, or in check mode tells what that would do. Raises ModelshelfError."""
    client = open_client(params, check_mode)
    wanted = kind.entries(params)
    listed = params[kind.plural] is not None
    task = Task(client, check_mode, warn, listed, {name: params[name] for name in kind.extra})
    try:
        changes = kind.plan(task, wanted)
    except Unreachable as error:
        if not check_mode or isinstance(error, Unavailable):
            raise
        warn(f"{error}. The store was taken for empty")
        settings = {**task.settings, "announced": None}
        task = replace(task, client=EmptyStore(client), warn=lambda text: None, settings=settings, report={})
        changes = kind.plan(task, wanted)
    if not check_mode:
        _carry_out(changes)
    return {**_result(changes), **task.report, "calls": dict(client.calls)}


def open_client(params: Mapping[str, Any], check_mode: bool) -> Client:
    """A client for a module's connection options. Raises StoreError.

    In check mode it does not wait for a server that does not answer: a dry run on a bare fleet comes before the store.
    """
    return Client(admin_from(params), hasty=check_mode)


def _run(module: Any, work: Callable[[], Mapping[str, Any]]) -> None:
    if BOTOCORE_ERROR:
        module.fail_json(msg=missing_required_lib(BOTO3), exception=BOTOCORE_ERROR)
    try:
        result = work()
    except ModelshelfError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


def _carry_out(changes: Sequence[Change]) -> None:
    """Writes, in order. An error says what was done before it."""
    done: list[str] = []
    for change in changes:
        for step in change.steps:
            try:
                step.do()
            except StoreError as error:
                before = f". Done before that: {'; '.join(done)}" if done else ". Nothing was changed before that"
                raise type(error)(f"{error}{before}") from error
            done.append(f"{', '.join(step.actions)} {change.name}")


def _result(changes: Sequence[Change]) -> dict[str, Any]:
    results = [{"name": item.name, "changed": bool(item.steps), "actions": item.actions} for item in changes]
    changed = [item for item in changes if item.steps]
    before, after = (
        "".join(_shown(item.name, getattr(item, side)) for item in changed) for side in ("before", "after")
    )
    return {"changed": bool(changed), "results": results, "diff": {"before": before, "after": after}}


def _shown(name: str, state: Mapping[str, Any]) -> str:
    return f"{name}: {json.dumps(state, indent=2, sort_keys=True, ensure_ascii=False) if state else 'absent'}\n"
