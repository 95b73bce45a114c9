# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for buckets: what is told of those that are there."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _buckets
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import Task
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.fake_client import FakeClient

FOUND = {"plain": "", "kept": "enabled", "ended": "suspended", "elsewhere": "enabled"}


class Store:
    """Buckets with their versioning."""

    def __init__(self, client: FakeClient) -> None:
        self.client = client

    def list_all(self) -> dict[str, str]:
        return FOUND

    def read(self, name: str, fields: tuple[str, ...]) -> dict[str, Any]:
        assert fields in (("versioning",), ())
        return {"versioning": FOUND[name]} if fields else {}


def entry(name: str, **given: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("versioning", "quota", "tags", "policy"))
    return {**nothing, "name": name, "state": "present", "object_lock": False, **given}


def plan(monkeypatch: pytest.MonkeyPatch, *entries: dict[str, Any]) -> dict[str, Any]:
    """What a list reports."""
    monkeypatch.setattr(_buckets, "Buckets", Store)
    task = Task(FakeClient(), check_mode=True, warn=pytest.fail, listed=True)
    assert not [change for change in _buckets.plan(task, entries) if change.steps and change.name in FOUND]
    return task.report


def test_versions_that_nobody_asked_for_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    report = plan(monkeypatch, entry("plain"), entry("kept"), entry("ended"), entry("new"))
    assert report == {"others": ["elsewhere"], "versioned": ["kept"]}


def test_versions_that_were_asked_for_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plan(monkeypatch, entry("kept", versioning="enabled"))["versioned"] == []
