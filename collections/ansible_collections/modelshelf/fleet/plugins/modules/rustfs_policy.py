#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the policies of a RustFS server to what they should be."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_policy
short_description: Manage policies of a RustFS server
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Writes and removes canned policies. Documents are validated by the rules of RustFS before anything is sent; its
    actions, condition keys and operators are closed lists.
  - What the server reads back differs in form from what was sent. Both are compared in one canonical form, so that
    only a difference of meaning is a change.
  - A list is reconciled with one or two listing requests, whatever its length.
extends_documentation_fragment:
  - modelshelf.fleet.announced
  - modelshelf.fleet.attributes
  - modelshelf.fleet.rustfs
attributes:
  check_mode:
    support: full
    details:
      - Validates as a real run does, and refuses what the server would refuse.
      - Objects of other kinds must be on the store, or be made by an earlier task of the same play.
      - A server that cannot be reached is taken for empty, with a warning.
  diff_mode:
    support: full
    details:
      - Secrets are shown as fixed words.
options:
  name:
    description: &name
      - The name of the policy, without blanks and commas.
    type: str
  policy:
    description: &policy
      - The document. Needed unless O(state=absent).
      - The filter P(modelshelf.fleet.readonly_prefix_policy#filter) makes the one of a reader.
    type: dict
  state:
    description: &state
      - Whether it is to be there.
      - In a list, without it, that of the task.
    type: str
    choices: [present, absent]
    default: present
  detach:
    description: &detach
      - With O(state=absent), take the policy from its users and groups first.
      - Without it, a policy in use is not removed, and the failure names who has it.
    type: bool
    default: false
  remove_others:
    description:
      - Also remove the policies that the list does not name; RV(others) tells which. Goes with the list form alone.
      - They are taken from their users and groups first. Built-in ones stay.
    type: bool
    default: false
  policies:
    description:
      - Several policies, each with the options above. Excludes O(name).
    type: list
    elements: dict
    suboptions:
      name:
        description: *name
        type: str
        required: true
      policy:
        description: *policy
        type: dict
      state:
        description: *state
        type: str
        choices: [present, absent]
      detach:
        description: *detach
        type: bool
seealso:
  - module: modelshelf.fleet.rustfs_policy_info
  - module: modelshelf.fleet.rustfs_user
  - module: modelshelf.fleet.rustfs_group
"""

EXAMPLES = r"""
- name: Let a key read one model
  modelshelf.fleet.rustfs_policy:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    name: opt-reader
    policy: "{{ 'models' | modelshelf.fleet.readonly_prefix_policy('opt-125m') }}"

- name: Remove two policies, from their users as well
  modelshelf.fleet.rustfs_policy:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    state: absent
    detach: true
    policies:
      - name: old-reader
      - name: older-reader
"""

RETURN = r"""
results:
  description: What happened to each object, or in check mode would, in the order of the task.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The object.
      type: str
    changed:
      description: Whether it was changed.
      type: bool
    actions:
      description: What was done, in order.
      type: list
      elements: str
  sample: [{"name": "opt-reader", "changed": true, "actions": ["create"]}]
calls:
  description: How many requests were sent, by method and path.
  returned: success
  type: dict
  sample: {"GET list-canned-policies": 1, "PUT add-canned-policy": 1}
others:
  description: Those that the server has and the list does not name, built-in ones left out.
  returned: when a list is given
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._policies import KIND
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_module


def main() -> None:
    """Plans all of it, then writes."""
    run_module(AnsibleModule, KIND)


if __name__ == "__main__":
    main()
