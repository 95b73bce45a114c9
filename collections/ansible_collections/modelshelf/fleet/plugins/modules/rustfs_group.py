#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the groups of a RustFS server to what they should be."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_group
short_description: Manage groups of a RustFS server
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Creates, changes and removes groups with their members and policies.
  - Removing a group takes its members and policies from it first, since RustFS removes no group that has members.
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
      - The name of the group, without blanks, commas and equals signs.
    type: str
  members:
    description: &members
      - The users in the group. Without it, they stay as they are.
    type: list
    elements: str
  purge_members:
    description: &purge_members
      - Whether other users than O(members) are taken from the group.
    type: bool
    default: true
  status:
    description: &status
      - V(disabled) takes all rights from the members of the group, those from their own policies and from other groups
        too. RustFS does it so.
      - Without it, a new group is enabled, and others stay as they are.
    type: str
    choices: [enabled, disabled]
  policies:
    description: &policies
      - The policies of the group. Without it, they stay as they are.
    type: list
    elements: str
  purge_policies:
    description: &purge_policies
      - Whether other policies than O(policies) are taken from the group.
    type: bool
    default: true
  state:
    description: &state
      - Whether it is to be there.
      - In a list, without it, that of the task.
    type: str
    choices: [present, absent]
    default: present
  remove_others:
    description:
      - Also remove the groups that the list does not name; RV(others) tells which. Goes with the list form alone.
    type: bool
    default: false
  groups:
    description:
      - Several groups, each with the options above. Excludes O(name).
    type: list
    elements: dict
    suboptions:
      name:
        description: *name
        type: str
        required: true
      members:
        description: *members
        type: list
        elements: str
      purge_members:
        description: *purge_members
        type: bool
      status:
        description: *status
        type: str
        choices: [enabled, disabled]
      policies:
        description: *policies
        type: list
        elements: str
      purge_policies:
        description: *purge_policies
        type: bool
      state:
        description: *state
        type: str
        choices: [present, absent]
seealso:
  - module: modelshelf.fleet.rustfs_group_info
  - module: modelshelf.fleet.rustfs_user
  - module: modelshelf.fleet.rustfs_policy
"""

EXAMPLES = r"""
- name: Two users that may read everything
  modelshelf.fleet.rustfs_group:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    name: auditors
    members:
      - alice
      - bob
    policies:
      - readonly
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
  sample: [{"name": "auditors", "changed": true, "actions": ["create", "add member alice", "attach readonly"]}]
calls:
  description: How many requests were sent, by method and path.
  returned: success
  type: dict
  sample: {"GET group": 1, "GET list-users": 1}
others:
  description: Those that the server has and the list does not name.
  returned: when a list is given
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._groups import KIND
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_module


def main() -> None:
    """Plans all of it, then writes."""
    run_module(AnsibleModule, KIND)


if __name__ == "__main__":
    main()
