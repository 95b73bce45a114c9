# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter import model_slug, resolve_instances, resolve_models

MODELS = [{"name": "opt", "version": "v1"}]


def filter_of(module: Any, name: str) -> Callable[..., Any]:
    return module.FilterModule().filters()[name]


def test_filters_answer_as_the_library_does() -> None:
    assert filter_of(model_slug, "model_slug")("A/b") == "a-b"
    (model,) = filter_of(resolve_models, "resolve_models")(MODELS, weights_root="/w")
    assert model["mountpoint"] == "/w/opt"
    resolve = filter_of(resolve_instances, "resolve_instances")
    instances = [{"name": "main", "model": "opt", "port": 8000}]
    (instance,) = resolve(instances, MODELS, address="a", weights_root="/w", arguments={"dtype": "auto"})
    assert (instance["weights_path"], instance["config"]["dtype"]) == ("/w/opt/v1", "auto")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: filter_of(model_slug, "model_slug")("//"), "no letter"),
        (lambda: filter_of(resolve_models, "resolve_models")([{"name": "a"}]), "version is missing"),
        (lambda: filter_of(resolve_instances, "resolve_instances")([{}], MODELS, address="a"), "name, model, port"),
    ],
)
def test_refusals_are_errors_of_the_template(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(AnsibleFilterError, match=message):
        call()
