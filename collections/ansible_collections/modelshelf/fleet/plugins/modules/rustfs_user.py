#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the users of a RustFS server to what they should be."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_user
short_description: Manage users of a RustFS server
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Creates, changes and removes users. O(access_key) and O(secret_key) are the administrator's; the user's own are
    O(name) and O(secret).
  - Changing a secret touches neither policies nor groups.
  - Removing a user removes its access keys; the diff names them.
  - A list is reconciled with one listing request, and one request to prove each given secret.
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
      - The name of the user, which is its access key too. At least 3 bytes, without blanks, commas and equals signs.
      - With a O(secret), it must be ASCII, since a signature carries nothing else.
    type: str
  secret:
    description: &secret
      - The secret, at least 8 bytes. It is proved by signing a request with it, since the server never tells one.
      - Without it, a new user gets a random one that nobody knows; such a user acts through access keys alone.
      - A secret that does not sign fails the task, unless O(rotate_secret) is set.
    type: str
  status:
    description: &status
      - Whether the user may sign requests. Without it, a new user may, and others stay as they are.
    type: str
    choices: [enabled, disabled]
  policies:
    description: &policies
      - The policies that the user has itself; those of its groups come on top. Without it, they stay as they are.
    type: list
    elements: str
  purge_policies:
    description: &purge_policies
      - Whether other policies than O(policies) are taken from the user.
    type: bool
    default: true
  rotate_secret:
    description: &rotate_secret
      - Make O(secret) the secret where it is not yet. Where it signs already, nothing changes.
    type: bool
    default: false
  state:
    description: &state
      - Whether it is to be there.
      - In a list, without it, that of the task.
    type: str
    choices: [present, absent]
    default: present
  remove_others:
    description:
      - Also remove the users that the list does not name; RV(others) tells which. Goes with the list form alone.
      - The one that signs stays.
    type: bool
    default: false
  users:
    description:
      - Several users, each with the options above. Excludes O(name).
    type: list
    elements: dict
    suboptions:
      name:
        description: *name
        type: str
        required: true
      secret:
        description: *secret
        type: str
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
      rotate_secret:
        description: *rotate_secret
        type: bool
      state:
        description: *state
        type: str
        choices: [present, absent]
seealso:
  - module: modelshelf.fleet.rustfs_user_info
  - module: modelshelf.fleet.rustfs_policy
  - module: modelshelf.fleet.rustfs_access_key
"""

EXAMPLES = r"""
- name: A reader that acts through access keys alone
  modelshelf.fleet.rustfs_user:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    name: opt-reader
    policies:
      - opt-reader

- name: Give a user a new secret
  modelshelf.fleet.rustfs_user:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    name: publisher
    secret: "{{ publisher_secret }}"
    rotate_secret: true
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
  sample: [{"name": "opt-reader", "changed": true, "actions": ["create", "attach opt-reader"]}]
calls:
  description: How many requests were sent, by method and path.
  returned: success
  type: dict
  sample: {"GET list-users": 1}
others:
  description: Those that the server has and the list does not name.
  returned: when a list is given
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_module
from ansible_collections.modelshelf.fleet.plugins.module_utils._users import KIND


def main() -> None:
    """Plans all of it, then writes."""
    run_module(AnsibleModule, KIND)


if __name__ == "__main__":
    main()
