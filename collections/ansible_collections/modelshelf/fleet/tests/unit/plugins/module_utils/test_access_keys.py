# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module says about keys that end."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_keys import KIND
from ansible_collections.modelshelf.fleet.plugins.module_utils._key_state import shown_time
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_task import Task
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.fake_client import FakeClient


@pytest.mark.parametrize(
    ("hours", "within", "said"),
    [
        (-1, None, "access key 'key-1' has expired, at {}: make a new one"),
        (-1, 30, "access key 'key-1' has expired, at {}: make a new one"),
        (25, 30, "access key 'key-1' expires in 1 days, at {}: make a new one"),
        (25, None, ""),
    ],
)
def test_a_key_that_has_expired_is_warned_about_in_any_case(hours: int, within: int | None, said: str) -> None:
    end = shown_time(datetime.now(timezone.utc) + timedelta(hours=hours))
    key = {"accessKey": "key-1", "parentUser": "alice", "impliedPolicy": True, "expiration": end}
    client = FakeClient(
        list_access_keys_bulk={"alice": {"serviceAccounts": [key]}}, info_service_account={**key, "accountStatus": "on"}
    )
    warnings: list[str] = []
    settings = {name: option.get("default") for name, option in KIND.extra.items()} | {"expires_within_days": within}
    task = Task(client, True, warnings.append, settings=settings)
    entry = {name: option.get("default") for name, option in KIND.options.items()} | {"key": "key-1"}
    KIND.plan(task, [entry])
    assert warnings == ([said.format(end)] if said else [])
    assert ("expiring" in task.report) is (within is not None)
