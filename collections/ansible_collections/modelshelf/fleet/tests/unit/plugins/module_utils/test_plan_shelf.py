# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_shelf import read_shelf
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import (
    GIB,
    QWEN,
    SHELF,
    host,
    plan,
    refusals,
)

COMING = {"model": QWEN, "version": "v2", "directory": "/data/qwen", "bytes": 9 * GIB, "fault": ""}
OLD_ONLY = {QWEN: {"v1": 10 * GIB}}


def test_list_of_versions_is_the_same_shelf() -> None:
    listed = [
        {"model": model, "version": name, **facts} for model, all_ in SHELF.items() for name, facts in all_.items()
    ]
    assert read_shelf(listed) == read_shelf(SHELF)
    assert read_shelf([]).known
    assert not read_shelf(None).known


def test_version_that_would_be_published_first() -> None:
    found = plan(host(), shelf=OLD_ONLY, publish=[COMING])
    assert found["totals"]["fetch_bytes"] == 9 * GIB
    assert (
        "version v2 of Qwen/Qwen2-7B is not on the shelf yet: 9.0 GiB would be published first, from /data/qwen"
        in found["notices"]
    )


def test_version_that_is_on_the_shelf_is_not_published() -> None:
    found = plan(host(), publish=[{**COMING, "fault": "the directory is gone"}])
    assert found["totals"]["fetch_bytes"] == 12 * GIB
    assert not [notice for notice in found["notices"] if "published" in notice]


def test_directory_that_cannot_be_published_is_a_reason() -> None:
    (reason,) = refusals(host(), shelf=OLD_ONLY, publish=[{**COMING, "fault": "/data/qwen: config.json is missing"}])
    assert reason.endswith("which cannot be published: /data/qwen: config.json is missing")


def test_store_that_does_not_answer() -> None:
    (reason,) = refusals(host(), shelf=None, shelf_fault="no answer from http://store1:9000")
    assert "the store does not say what it has: no answer from http://store1:9000. Bring the store up" in reason
    found = plan(host(), shelf=None, shelf_fault="no answer", publish=[COMING])
    assert "the store does not say what it has: no answer" in found["notices"]
    assert any(notice.endswith("from /data/qwen, unless it is on the shelf") for notice in found["notices"])


@pytest.mark.parametrize(
    ("shelf", "message"), [([{"model": "m"}], "has no model and version"), ({"m": {"v1": "big"}}, "the size of m v1")]
)
def test_shelf_that_cannot_be_read(shelf: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_shelf(shelf)
