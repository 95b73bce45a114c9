# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.limited_to import FilterModule
from ansible_collections.modelshelf.fleet.plugins.module_utils._models import resolve_models
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import MODELS, QWEN, instances

limited_to = FilterModule().filters()["limited_to"]


@pytest.mark.parametrize("only", ["", None, []])
def test_without_a_limit_there_are_all(only: Any) -> None:
    assert len(limited_to(resolve_models(MODELS), only)) == len(MODELS)


@pytest.mark.parametrize("only", ["opt,Qwen/Qwen2-7B", f" {QWEN} , opt", ["opt", "Qwen/Qwen2-7B"]])
def test_models_and_instances_are_named_by_names_and_slugs(only: Any) -> None:
    assert [model["slug"] for model in limited_to(resolve_models(MODELS), only)] == [QWEN, "opt"]
    found = instances({}, {"name": "small", "model": "opt"}, {"name": "nas", "model": "on-nas"})
    assert [instance["name"] for instance in limited_to(found, only)] == ["main", "small"]


def test_half_a_list_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match="modelshelf_only is '\\[opt,', half a list"):
        limited_to([], "[opt,")
