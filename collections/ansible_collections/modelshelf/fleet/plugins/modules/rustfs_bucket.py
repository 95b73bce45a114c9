#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes buckets and what they are told what it is wanted to be."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_bucket
short_description: Manage buckets of RustFS
version_added: 0.2.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Creates buckets, sets their versioning, quota, tags and bucket policy, and removes empty ones.
  - Settings that are not given are left alone.
  - Everything is checked, and compared with what the server has, before the first write. The first write that fails
    ends the task, and the message says what was done before it.
extends_documentation_fragment:
  - modelshelf.fleet.attributes
  - modelshelf.fleet.rustfs
attributes:
  check_mode:
    support: full
    details:
      - A server that cannot be reached is taken for empty, with a warning, since the same play may be about to start
        it.
  diff_mode:
    support: full
options:
  name:
    description:
      - The name of the bucket. It has 3 to 63 of the characters C(a-z 0-9 . -), and is not V(rustfs).
    type: str
  versioning:
    description:
      - Whether the bucket keeps old versions of objects. It can never be taken away again, only be suspended.
    type: str
    choices:
      - enabled
      - suspended
  quota:
    description:
      - How much the bucket takes, in bytes or with a unit, such as V(500GiB) or V(2TB). V(0) takes the quota away.
      - A server refuses to set one for about a minute after its start. The task waits for that, for two minutes at
        most.
    type: str
  object_lock:
    description:
      - Whether the bucket is created with object lock, which switches versioning on for good.
      - It can be had only at creation. A bucket that is there without it is refused; V(false) leaves it alone.
    type: bool
    default: false
  tags:
    description:
      - The tags of the bucket, exactly these. An empty mapping removes all.
    type: dict
  policy:
    description:
      - The bucket policy. Its statements have a C(Principal). An empty mapping removes it.
      - The right way to let a reader in is a policy of its user, see M(modelshelf.fleet.rustfs_policy).
    type: dict
  state:
    description:
      - Whether the bucket is there. A bucket that is not empty is not removed.
    type: str
    choices:
      - present
      - absent
    default: present
  buckets:
    description:
      - Several buckets in place of O(name), each with the same options. What is not given in an entry and has a default
        is taken from the task.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - As O(name).
        type: str
        required: true
      versioning:
        description:
          - As O(versioning).
        type: str
        choices:
          - enabled
          - suspended
      quota:
        description:
          - As O(quota).
        type: str
      object_lock:
        description:
          - As O(object_lock).
        type: bool
      tags:
        description:
          - As O(tags).
        type: dict
      policy:
        description:
          - As O(policy).
        type: dict
      state:
        description:
          - As O(state).
        type: str
        choices:
          - present
          - absent
"""

EXAMPLES = r"""
- name: Make the shelf
  modelshelf.fleet.rustfs_bucket:
    endpoint: http://store1:9000
    access_key: "{{ modelshelf_store_access_key }}"
    secret_key: "{{ modelshelf_store_secret_key }}"
    name: models
    quota: 20TiB
    tags:
      team: inference
  delegate_to: localhost

- name: Make several
  modelshelf.fleet.rustfs_bucket:
    buckets:
      - name: models
      - name: adapters
        versioning: enabled
      - name: scratch
        state: absent
"""

RETURN = r"""
results:
  description: What happened to each bucket, in the order of the task.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the bucket.
      type: str
    changed:
      description: Whether it was changed, or in check mode would be.
      type: bool
    actions:
      description: What was done.
      type: list
      elements: str
  sample:
    - name: models
      changed: true
      actions: [create, set quota to 21990232555520 bytes]
others:
  description: The buckets of the server that the list does not name. They are left alone.
  returned: when O(buckets) is given
  type: list
  elements: str
versioned:
  description: The buckets of the list that keep versions, though their entries leave O(versioning) out.
  returned: when O(buckets) is given
  type: list
  elements: str
calls:
  description: How many requests of each kind were sent.
  returned: success
  type: dict
  sample: {"S3 ListBuckets": 1, "GET get-bucket-quota": 1}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._buckets import KIND
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_module


def main() -> None:
    """Reconciles the buckets of the task."""
    run_module(AnsibleModule, KIND)


if __name__ == "__main__":
    main()
