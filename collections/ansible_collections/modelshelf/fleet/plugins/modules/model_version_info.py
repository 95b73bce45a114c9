#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says which versions of which models are on the shelf."""

from __future__ import annotations

DOCUMENTATION = r"""
module: model_version_info
short_description: List the versions of models that are on the shelf
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Reads the manifests in the bucket. What has no manifest is no version and is not listed.
  - That a version is not there is an answer, no failure.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
  - modelshelf.fleet.connection
options:
  model:
    description:
      - List the versions of this model only.
    type: str
  version:
    description:
      - List this version only. Needs O(model).
    type: str
"""

EXAMPLES = r"""
- name: See what is on the shelf
  modelshelf.fleet.model_version_info:
    endpoint: http://store1:9000
    bucket: models
    access_key: "{{ modelshelf_reader_access_key }}"
    secret_key: "{{ modelshelf_reader_secret_key }}"
  delegate_to: localhost
  register: shelf

- name: See whether a version is there
  modelshelf.fleet.model_version_info:
    endpoint: http://store1:9000
    bucket: models
    model: qwen2-7b
    version: v3
  register: qwen
  failed_when: not qwen.exists
"""

RETURN = r"""
versions:
  description: The versions, sorted by model and version.
  returned: success
  type: list
  elements: dict
  contains:
    model:
      description: The slug of the model.
      type: str
    display_name:
      description: The name under which it was published.
      type: str
    version:
      description: The version.
      type: str
    kind:
      description: The layout of the files, one of V(hf), V(mistral), V(gguf), V(tensorizer), V(lora).
      type: str
    bytes:
      description: The sum of the sizes of the files.
      type: int
    files:
      description: The number of files.
      type: int
    digest:
      description: The digest of all files.
      type: str
    created:
      description: When it was published, in UTC.
      type: str
  sample:
    - {"model": "qwen2-7b", "display_name": "Qwen/Qwen2-7B", "version": "v3", "kind": "hf", "bytes": 15231000000}
exists:
  description: Whether the version is on the shelf.
  returned: when O(version) is given, unless in check mode the store was taken for empty
  type: bool
available:
  description: The versions of the model that are on the shelf.
  returned: when O(model) is given
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ModelshelfError
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_version import list_versions
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import BOTO3
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import (
    BOTO3_ERROR,
    connection_arguments,
)


def main() -> None:
    """Checks the parameters, then reads."""
    module = AnsibleModule(
        argument_spec={**connection_arguments(), "model": {"type": "str"}, "version": {"type": "str"}},
        required_together=[("access_key", "secret_key")],
        required_by={"version": "model"},
        supports_check_mode=True,
    )
    if BOTO3_ERROR:
        module.fail_json(msg=missing_required_lib(BOTO3), exception=BOTO3_ERROR)
    try:
        result = list_versions(module.params, check_mode=module.check_mode, warn=module.warn)
    except ModelshelfError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
