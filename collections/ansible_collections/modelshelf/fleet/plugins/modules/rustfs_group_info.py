#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says which groups a RustFS server has."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_group_info
short_description: List the groups of a RustFS server
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Tells the groups with their members and policies. That one is not there is no failure.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
  - modelshelf.fleet.rustfs
options:
  name:
    description:
      - Tell about this group only.
    type: str
"""

EXAMPLES = r"""
- name: See who is in a group
  modelshelf.fleet.rustfs_group_info:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    name: auditors
  register: found
"""

RETURN = r"""
groups:
  description: The groups, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name.
      type: str
    status:
      description: V(enabled) or V(disabled).
      type: str
    members:
      description: The users in it.
      type: list
      elements: str
    policies:
      description: The policies that it has.
      type: list
      elements: str
calls:
  description: How many requests were sent, by method and path.
  returned: success
  type: dict
"""

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._groups import describe
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_info

OPTIONS = {"name": {"type": "str"}}


def read(client: Client, params: Mapping[str, Any]) -> dict[str, Any]:
    """What the server has."""
    return {"groups": describe(client, params["name"])}


def main() -> None:
    """Reads."""
    run_info(AnsibleModule, OPTIONS, read)


if __name__ == "__main__":
    main()
