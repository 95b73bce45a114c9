#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the access keys of users of a RustFS server to what they should be."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_access_key
short_description: Manage access keys of users of a RustFS server
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Creates, changes and removes access keys beneath a user, which RustFS also calls service accounts. A user can have
    several; to replace one, add a second, move its clients, and remove the first.
  - O(access_key) and O(secret_key) are the administrator's; the managed pair is O(key) and O(secret).
  - A key has the policies of its user. A policy of its own can only take rights away.
  - A list is reconciled with one listing request, one request to prove each secret, and one for each policy of a
    key's own.
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
  key:
    description: &key
      - The access key, 3 to 128 bytes of ASCII without blanks, commas and equals signs.
    type: str
  secret:
    description: &secret
      - The secret of O(key), 8 to 40 bytes. Needed to make the key. It is proved by signing a request with it.
      - A secret that does not sign fails the task, unless O(rotate_secret) is set.
    type: str
  user:
    description: &user
      - The user that the key belongs to. Needed to make the key. It cannot be changed later.
    type: str
  policy:
    description: &policy
      - A policy of the key's own, at most 4096 bytes. When it is empty, the key has all rights of its user, as a new
        key has without it. Without it, that of a key which is there stays as it is.
    type: dict
  name:
    description: &name
      - A name to recognise the key by, at most 32 letters, digits, C(_) and C(-). Empty removes it. Without it, it
        stays as it is.
    type: str
  description:
    description: &description
      - A description, at most 256 bytes. Empty removes it. Without it, it stays as it is.
    type: str
  expiration:
    description: &expiration
      - When the key ends, such as V(2027-01-31T00:00:00Z). RustFS can change it, but not remove it again. Without it,
        it stays as it is.
    type: str
  status:
    description: &status
      - Whether the key may sign requests. Without it, a new key may, and others stay as they are.
    type: str
    choices: [enabled, disabled]
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
      - Also remove the access keys that the list does not name; RV(others) tells which. Goes with the list form
        alone.
      - The one that signs stays.
    type: bool
    default: false
  of_users:
    description:
      - With the list form, only access keys of these users count as others.
    type: list
    elements: str
  expires_within_days:
    description:
      - Report those of the wanted keys that expire within this number of days, as RV(expiring) and with a warning.
      - A wanted key that has expired already is warned about in any case.
    type: int
  access_keys:
    description:
      - Several access keys, each with the options above. Excludes O(key).
    type: list
    elements: dict
    suboptions:
      key:
        description: *key
        type: str
        required: true
      secret:
        description: *secret
        type: str
      user:
        description: *user
        type: str
      policy:
        description: *policy
        type: dict
      name:
        description: *name
        type: str
      description:
        description: *description
        type: str
      expiration:
        description: *expiration
        type: str
      status:
        description: *status
        type: str
        choices: [enabled, disabled]
      rotate_secret:
        description: *rotate_secret
        type: bool
      state:
        description: *state
        type: str
        choices: [present, absent]
seealso:
  - module: modelshelf.fleet.rustfs_access_key_info
  - module: modelshelf.fleet.rustfs_user
"""

EXAMPLES = r"""
- name: The key that the hosts read with
  modelshelf.fleet.rustfs_access_key:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    key: opt-hosts-2
    secret: "{{ reader_secret }}"
    user: opt-reader
    expires_within_days: 30

- name: The old key goes
  modelshelf.fleet.rustfs_access_key:
    endpoint: http://store1:9000
    access_key: "{{ store_admin_access_key }}"
    secret_key: "{{ store_admin_secret_key }}"
    key: opt-hosts-1
    state: absent
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
  sample: [{"name": "opt-hosts-2", "changed": true, "actions": ["create"]}]
calls:
  description: How many requests were sent, by method and path.
  returned: success
  type: dict
  sample: {"GET list-access-keys-bulk": 1, "PUT add-service-account": 1}
others:
  description: Those that the server has and the list does not name.
  returned: when a list is given
  type: list
  elements: str
expiring:
  description: The keys that expire soon, or have expired.
  returned: when O(expires_within_days) is given
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
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_keys import KIND
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import run_module


def main() -> None:
    """Plans all of it, then writes."""
    run_module(AnsibleModule, KIND)


if __name__ == "__main__":
    main()
