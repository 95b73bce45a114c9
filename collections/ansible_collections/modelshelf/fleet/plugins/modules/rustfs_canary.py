#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proves that a RustFS server takes, keeps and gives back an object."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_canary
short_description: Prove that a store takes, keeps and gives back an object
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - RustFS says that it is ready with a full disk and with too few drives. This module writes a random object into a
    bucket of its own, V(modelshelf-canary), reads it back, compares, deletes it, and removes the bucket.
  - What fails is tried again until O(timeout), apart from refused keys, certificates and clocks.
  - Nothing is left behind, so nothing counts as changed.
extends_documentation_fragment:
  - modelshelf.fleet.rustfs
attributes:
  check_mode:
    description: Can run in check mode and return changed status prediction without modifying target.
    support: full
    details:
      - Writes nothing in check mode; RV(skipped_reason) says so.
  diff_mode:
    description: Will return details on what has changed (or possibly needs changing in check mode), when in diff mode.
    support: none
    details:
      - There is nothing to show.
seealso:
  - module: modelshelf.fleet.rustfs_ready
"""

EXAMPLES = r"""
- name: Prove that the store stores
  modelshelf.fleet.rustfs_canary:
    endpoint: http://store1:9000
    access_key: "{{ modelshelf_root_access_key }}"
    secret_key: "{{ modelshelf_root_secret_key }}"
  delegate_to: localhost
"""

RETURN = r"""
steps:
  description: What was proved, in order.
  returned: success, outside check mode
  type: list
  elements: str
  sample: [make bucket, put, get, delete]
skipped_reason:
  description: Why nothing was proved.
  returned: in check mode
  type: str
"""

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.modelshelf.fleet.plugins.module_utils._canary import BUCKET, prove_write
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ModelshelfError
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import BOTO3, connection_options
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import BOTO3_ERROR, connection_from


def main() -> None:
    """Checks the parameters, then writes."""
    module = AnsibleModule(
        argument_spec=connection_options(),
        supports_check_mode=True,
    )
    if BOTO3_ERROR:
        module.fail_json(msg=missing_required_lib(BOTO3), exception=BOTO3_ERROR)
    if module.check_mode:
        module.exit_json(changed=False, skipped_reason="check mode writes no object")
    try:
        steps = prove_write(connection_from({**module.params, "bucket": BUCKET}), module.params["timeout"])
    except ModelshelfError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, steps=steps)


if __name__ == "__main__":
    main()
