#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what a RustFS server is, how full it is, and whether its clock and this machine's agree."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_info
short_description: Read version, identity, drives and clock of a RustFS server
version_added: 0.2.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Asks a server about itself.
  - First compares the clock of the server with that of the machine on which the module runs. A difference of more than
    5 minutes is a warning, one of more than 14 a failure, since no signature is accepted from 15 on.
  - In check mode, a server that cannot be reached is described by empty values, with a warning.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
  - modelshelf.fleet.rustfs
"""

EXAMPLES = r"""
- name: See which store this is
  modelshelf.fleet.rustfs_info:
    endpoint: http://store1:9000
    access_key: "{{ modelshelf_store_access_key }}"
    secret_key: "{{ modelshelf_store_secret_key }}"
  delegate_to: localhost
  register: store
"""

RETURN = r"""
version:
  description: The version of the server.
  returned: success
  type: str
  sample: 1.0.0-rc.3
mode:
  description: The state of the server, such as V(online).
  returned: success
  type: str
deployment_id:
  description: The identity of the store. It changes when its drives are formatted anew.
  returned: success
  type: str
region:
  description: The region of the server; empty when it does not tell.
  returned: success
  type: str
backend:
  description: How objects are kept.
  returned: success
  type: dict
  contains:
    type:
      description: The kind of the backend.
      type: str
    drives_online:
      description: Number of drives.
      type: int
    drives_offline:
      description: Number of drives that do not answer.
      type: int
    parity:
      description: The number of drives of a set that may be lost.
      type: int
servers:
  description: The servers of the store, each with its C(endpoint), C(state), C(version), C(uptime) in seconds and
    C(drives), and each drive with C(path), C(state) and its space in bytes.
  returned: success
  type: list
  elements: dict
space:
  description: The sums over all drives, in bytes.
  returned: success
  type: dict
  contains:
    total:
      description: The size of the drives.
      type: int
    used:
      description: What is used of it.
      type: int
    available:
      description: What is left.
      type: int
buckets:
  description: Number of buckets, as the server last counted them.
  returned: success
  type: int
objects:
  description: Number of objects, as the server last counted them.
  returned: success
  type: int
object_bytes:
  description: The sum of the sizes of objects, as the server last counted them.
  returned: success
  type: int
clock_difference_seconds:
  description: By how many seconds this machine's clock is ahead of the server's, negative when it is behind. Null when
    the server does not tell its time.
  returned: success
  type: int
calls:
  description: How many requests of each kind were sent.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_info
from ansible_collections.modelshelf.fleet.plugins.module_utils._server_info import describe_server


def main() -> None:
    """Asks the server."""
    run_info(AnsibleModule, {}, lambda client, params: describe_server(client))


if __name__ == "__main__":
    main()
