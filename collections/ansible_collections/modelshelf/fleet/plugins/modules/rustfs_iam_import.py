#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts identities that were kept in a file onto a store."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_iam_import
short_description: Restore users, groups, policies and access keys of a RustFS store from a file
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Puts back what M(modelshelf.fleet.rustfs_iam_export) kept. Old keys sign again afterwards.
  - A store that has users, groups or access keys already is refused, unless O(overwrite) is set.
  - No identity is removed.
  - Changes nothing on a store that has the identities of the file.
extends_documentation_fragment:
  - modelshelf.fleet.attributes
  - modelshelf.fleet.rustfs
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Shows the names of all identities. Those that become what the file says are marked in C(before).
      - What they hold is not shown, since it is secret.
options:
  src:
    description:
      - The file, on the machine that runs the module.
    type: path
    required: true
  vault_password_file:
    description:
      - A file with the password, when C(ansible-vault) has encrypted the archive.
    type: path
  overwrite:
    description:
      - Whether identities that the store has already become those of the file where the names are the same, their
        secrets and policies too.
      - Members of groups stay in them, and a group that is disabled stays so.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Put the identities onto the new store
  modelshelf.fleet.rustfs_iam_import:
    endpoint: http://store1:9000
    access_key: "{{ modelshelf_root_access_key }}"
    secret_key: "{{ modelshelf_root_secret_key }}"
    src: /var/backups/store-identities.zip.vault
    vault_password_file: /root/.store-vault-password
  delegate_to: localhost
"""

RETURN = r"""
src:
  description: The file.
  returned: success
  type: str
results:
  description: What happened to each identity of the file, or in check mode would.
  returned: success
  type: list
  elements: dict
  contains:
    kind:
      description: V(users), V(groups), V(policies) or V(access keys).
      type: str
    name:
      description: The identity.
      type: str
    changed:
      description: Whether it was changed.
      type: bool
    actions:
      description: V(create) or V(update), or nothing.
      type: list
      elements: str
  sample: [{"kind": "users", "name": "modelshelf-reader", "changed": true, "actions": ["create"]}]
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ModelshelfError
from ansible_collections.modelshelf.fleet.plugins.module_utils._iam_archive import Vault, import_identities
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import (
    BOTO3,
    BOTOCORE_ERROR,
    admin_from,
    connection_options,
)


def main() -> None:
    """Checks the parameters, then restores."""
    module = AnsibleModule(
        argument_spec={
            **connection_options(),
            "src": {"type": "path", "required": True},
            "vault_password_file": {"type": "path", "no_log": False},
            "overwrite": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    if BOTOCORE_ERROR:
        module.fail_json(msg=missing_required_lib(BOTO3), exception=BOTOCORE_ERROR)
    source = module.params["src"]
    vault = Vault(module.params["vault_password_file"] or "", module.run_command)
    try:
        client = Client(admin_from(module.params))
        result = import_identities(
            client, Path(source), vault, module.params["overwrite"], check_mode=module.check_mode
        )
    except ModelshelfError as error:
        module.fail_json(msg=str(error))
    module.exit_json(src=source, **result)


if __name__ == "__main__":
    main()
