#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says which buckets there are and what they are told."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_bucket_info
short_description: List buckets of RustFS with their settings
version_added: 0.2.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Reads the buckets that the key sees. That a bucket is not there is an answer, no failure.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
  - modelshelf.fleet.rustfs
options:
  name:
    description:
      - List this bucket only.
    type: str
"""

EXAMPLES = r"""
- name: See how full the shelf is
  modelshelf.fleet.rustfs_bucket_info:
    endpoint: http://store1:9000
    access_key: "{{ modelshelf_store_access_key }}"
    secret_key: "{{ modelshelf_store_secret_key }}"
    name: models
  delegate_to: localhost
  register: shelf
"""

RETURN = r"""
buckets:
  description: The buckets, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the bucket.
      type: str
    created:
      description: When it was made.
      type: str
    versioning:
      description: V(enabled), V(suspended), or empty when it was never set.
      type: str
    quota:
      description: The most bytes that it takes. V(0) is no limit.
      type: int
    used:
      description: The bytes in it; null for about a minute after the start of the server.
      type: int
    object_lock:
      description: Whether it was made with object lock.
      type: bool
    tags:
      description: Its tags.
      type: dict
    policy:
      description: Its bucket policy in canonical form; empty when there is none.
      type: dict
calls:
  description: How many requests of each kind were sent.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._buckets import describe
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_info


def main() -> None:
    """Reads the buckets."""
    run_info(
        AnsibleModule,
        {"name": {"type": "str"}},
        lambda client, params: {"buckets": describe(client, params["name"])},
    )


if __name__ == "__main__":
    main()
