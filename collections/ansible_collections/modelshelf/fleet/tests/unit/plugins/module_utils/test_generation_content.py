# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_content import difference
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.generation_contents import (
    SECRET,
    UNIT,
    content,
)


@pytest.mark.parametrize(
    "change",
    [
        {"version": "v2"},
        {"manifest_digest": "sha256:2"},
        {"config": {"model": "/srv/w/tiny/v1", "port": 8001}},
        {"environment": {"VLLM_API_KEY": "other", "A": "1"}},
        {"engine": {"runtime": "venv", "version": "0.33.0", "path": "/opt/engines/vllm-0.33.0"}},
        {"unit": UNIT + "MemoryMax=1G\n"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_part_makes_another_content(change: dict[str, Any]) -> None:
    assert content(**change) != content()
    shown = difference(content(), content(**change))
    assert shown["before"] != shown["after"]
    assert SECRET not in json.dumps(shown)


def test_a_difference_shows_which_variables_changed() -> None:
    new = content(environment={"VLLM_API_KEY": "other", "B": "1", "A": "1"})
    assert difference(content(), new)["after"]["environment"] == ["A", "B", "VLLM_API_KEY (changed)"]
    assert difference(None, content())["before"] == {}
    assert difference(content(), content())["before"] == difference(content(), content())["after"]
