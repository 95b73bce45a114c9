#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the identities of a store in a file."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_iam_export
short_description: Export users, groups, policies and access keys of a RustFS store to a file
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Writes the archive that the server makes of its identities, which M(modelshelf.fleet.rustfs_iam_import) puts back.
  - The archive holds B(all secrets in plain text). The file is readable by its owner alone; give
    O(vault_password_file) to have it encrypted before it reaches the disk.
  - A file that holds the same identities already is left as it is.
  - A file is refused, in check mode too, when the export would be worth less. That is a file with identities, when
    the store has no users, groups and access keys, and an encrypted file, without O(vault_password_file). Name another
    file, or remove that one first.
extends_documentation_fragment:
  - modelshelf.fleet.attributes
  - modelshelf.fleet.rustfs
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details:
      - The content is secret.
options:
  dest:
    description:
      - The file to write, on the machine that runs the module. Its directory must exist.
    type: path
    required: true
  vault_password_file:
    description:
      - A file with the password that C(ansible-vault) encrypts the archive with.
    type: path
"""

EXAMPLES = r"""
- name: Keep the identities of the store
  modelshelf.fleet.rustfs_iam_export:
    endpoint: http://store1:9000
    access_key: "{{ modelshelf_root_access_key }}"
    secret_key: "{{ modelshelf_root_secret_key }}"
    dest: /var/backups/store-identities.zip.vault
    vault_password_file: /root/.store-vault-password
  delegate_to: localhost
"""

RETURN = r"""
dest:
  description: The file.
  returned: success
  type: str
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ModelshelfError
from ansible_collections.modelshelf.fleet.plugins.module_utils._iam_archive import Vault, export_identities
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import (
    BOTO3,
    BOTOCORE_ERROR,
    admin_from,
    connection_options,
)


def main() -> None:
    """Checks the parameters, then exports."""
    module = AnsibleModule(
        argument_spec={
            **connection_options(),
            "dest": {"type": "path", "required": True},
            "vault_password_file": {"type": "path", "no_log": False},
        },
        supports_check_mode=True,
    )
    if BOTOCORE_ERROR:
        module.fail_json(msg=missing_required_lib(BOTO3), exception=BOTOCORE_ERROR)
    dest = module.params["dest"]
    vault = Vault(module.params["vault_password_file"] or "", module.run_command)
    try:
        client = Client(admin_from(module.params))
        changed = export_identities(client, Path(dest), vault, check_mode=module.check_mode)
    except ModelshelfError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=changed, dest=dest)


if __name__ == "__main__":
    main()
