# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: model_directories
short_description: What the directories of models on the controller hold
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Checks the directory of every model that has one, as M(modelshelf.fleet.model_version) does before it publishes,
    without reading the weights.
options:
  _terms:
    description: Models, as P(modelshelf.fleet.resolve_models#filter) gives them; those without a directory are skipped.
    type: list
    elements: dict
    required: true
seealso:
  - plugin: modelshelf.fleet.rollout_plan
    plugin_type: filter
"""

EXAMPLES = r"""
- name: See how large the models are
  ansible.builtin.debug:
    msg: "{{ query('modelshelf.fleet.model_directories', *(modelshelf_models | modelshelf.fleet.resolve_models)) }}"
"""

RETURN = r"""
_raw:
  description:
    - For each, C(model), C(version), C(directory), C(bytes) of the files that would be published, and C(fault), empty
      unless the directory cannot be published; then C(bytes) is V(0).
  type: list
  elements: dict
"""

from collections.abc import Mapping
from typing import Any

from ansible.plugins.lookup import LookupBase

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ModelshelfError
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_dir import check_directory
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_version import DEFAULT_EXCLUDE


class LookupModule(LookupBase):
    """Answers with the size or the fault of every directory."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        return [_look(model) for model in terms if model["directory"]]


def _look(model: Mapping[str, Any]) -> dict[str, Any]:
    size, fault = 0, ""
    try:
        found = check_directory(
            str(model["directory"]), exclude=DEFAULT_EXCLUDE, allow_missing=list(model["allow_missing"])
        )
        size = sum(file.size for file in found.files)
    except (ModelshelfError, OSError) as error:
        fault = str(error)
    return {
        "model": model["slug"],
        "version": model["version"],
        "directory": model["directory"],
        "bytes": size,
        "fault": fault,
    }
