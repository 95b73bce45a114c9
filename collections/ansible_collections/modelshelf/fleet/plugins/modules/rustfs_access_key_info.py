#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says which access keys the users of a RustFS server have."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_access_key_info
short_description: List the access keys of users of a RustFS server
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Tells the access keys beneath users. Secrets are never told. That one is not there is no failure.
  - Sends one request for each user, and one for each key with a policy of its own, since the listing of all keys
    tells neither status nor policy.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
  - modelshelf.fleet.rustfs
options:
  key:
    description:
      - Tell about this access key only.
    type: str
  user:
    description:
      - Tell about the access keys of this user only.
    type: str
  expires_within_days:
    description:
      - Also tell which of them expire within this number of days, as RV(expiring).
    type: int
"""

EXAMPLES = r"""
- name: See which keys end within a month
  modelshelf.fleet.rustfs_access_key_info:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    expires_within_days: 30
  register: found
"""

RETURN = r"""
access_keys:
  description: The access keys, sorted.
  returned: success
  type: list
  elements: dict
  contains:
    key:
      description: The access key.
      type: str
    user:
      description: The user that it belongs to.
      type: str
    name:
      description: The name to recognise it by.
      type: str
    description:
      description: The description.
      type: str
    status:
      description: V(enabled) or V(disabled).
      type: str
    expiration:
      description: When it ends, in UTC. Null when it does not.
      type: str
    policy:
      description: The policy of its own, or the word V(inherited).
      type: raw
expiring:
  description: The keys that expire within O(expires_within_days), or have expired.
  returned: success
  type: list
  elements: dict
  contains:
    key:
      description: The access key.
      type: str
    expiration:
      description: When it ends, in UTC.
      type: str
    days:
      description: The whole days that are left.
      type: int
calls:
  description: How many requests were sent, by method and path.
  returned: success
  type: dict
"""

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_keys import describe
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_info

OPTIONS = {
    "key": {"type": "str", "no_log": False},
    "user": {"type": "str"},
    "expires_within_days": {"type": "int"},
}


def read(client: Client, params: Mapping[str, Any]) -> dict[str, Any]:
    """What the server has."""
    return describe(client, params["key"], params["user"], params["expires_within_days"])


def main() -> None:
    """Reads."""
    run_info(AnsibleModule, OPTIONS, read)


if __name__ == "__main__":
    main()
