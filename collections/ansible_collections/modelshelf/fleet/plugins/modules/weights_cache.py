#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the cache of a mount to what its host serves and is to serve."""

from __future__ import annotations

DOCUMENTATION = r"""
module: weights_cache
short_description: Read a version into the cache of its mount, and remove the versions that nobody uses
version_added: 0.1.0
description:
  - Reads what the cache of an rclone mount does not have of a version once through the mount, as the user that will
    serve it, so that a server which starts with it reads nothing from the store. It is there as long as the version is
    in use, and outlives restarts of the mount.
  - Removes cached files of versions that no instance of the host serves, has served before or could start with, and
    that are not O(path). Nothing outside O(cache) is touched. The store keeps them.
  - How far it is goes to the log of the host every ten seconds.
author:
  - Modelshelf contributors (@modelshelf)
extends_documentation_fragment:
  - modelshelf.fleet.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
options:
  path:
    description:
      - The directory of the version, directly below O(mountpoint).
    type: path
    required: true
  mountpoint:
    description:
      - The directory where the versions of the model are mounted. Its name is the slug of the model.
    type: path
    required: true
  user:
    description:
      - The user that serves the model.
    type: str
    required: true
  rc:
    description:
      - The socket at which the rclone of the mount listens to its remote control.
      - A mount without it was started without a cache. Nothing is read into it then; RV(skipped_reason) says so.
    type: str
    required: true
  cache:
    description:
      - The directory of the cache of this mount. A mount that has its cache elsewhere is refused.
    type: path
    required: true
  instances:
    description:
      - The directory of all instances, which say what they use.
    type: path
    default: /var/lib/modelshelf/instances
  fill:
    description:
      - Whether the version is read. When it is, versions that nobody uses are removed only when something is missing.
      - When it is not, they are removed, and nothing is read.
    type: bool
    default: true
  check:
    description:
      - V(sizes) reads what is missing in the cache. V(hashes) reads everything, and compares the SHA-256 on the way.
    type: str
    choices: [sizes, hashes]
    default: sizes
  bandwidth:
    description:
      - How much to read from the store, in bytes per second. Without it there is no bound.
    type: float
  max_size:
    description:
      - How much the cache may take, in bytes or with a unit such as C(100G). It is refused when it does not hold
        O(path) beside what is served now.
    type: bytes
  timeout:
    description:
      - How many seconds to wait for any single answer of the mount.
    type: int
    default: 60
seealso:
  - module: modelshelf.fleet.weights_verify
  - module: modelshelf.fleet.serving_host_info
"""

EXAMPLES = r"""
- name: Have the next version on the host before a server is stopped
  modelshelf.fleet.weights_cache:
    path: /srv/modelshelf/weights/qwen2-7b/v3
    mountpoint: /srv/modelshelf/weights/qwen2-7b
    user: modelshelf
    rc: /run/modelshelf-weights-qwen2-7b/rc.sock
    cache: /var/cache/modelshelf/rclone/qwen2-7b
    bandwidth: 200000000
    max_size: 100G
"""

RETURN = r"""
manifest_digest:
  description: The digest of the whole version, as its manifest has it.
  returned: when the cache has the version
  type: str
  sample: sha256:9f2c...
read:
  description: What the cache did not have of the version, and has now.
  returned: when there is a cache
  type: dict
  contains:
    files:
      description: Number of files.
      type: int
    bytes:
      description: What was missing of them.
      type: int
removed:
  description: The versions that were removed.
  returned: when there is a cache
  type: list
  elements: dict
  contains:
    version:
      description: The version.
      type: str
    bytes:
      description: What it had on disk.
      type: int
    paths:
      description: The directories that were removed.
      type: list
      elements: path
  sample: [{"version": "v1", "bytes": 15231000000, "paths": ["/var/cache/modelshelf/rclone/qwen2-7b/vfs/..."]}]
skipped_reason:
  description: Why nothing was done.
  returned: when the mount is not there yet, or keeps no cache
  type: str
"""

from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import JournalError
from ansible_collections.modelshelf.fleet.plugins.module_utils._rclone import RcloneError
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import ABSENT, NOT_MOUNTED, WeightsFault
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_cache import CacheFault, Wanted, bring


def run(module: AnsibleModule) -> None:
    """Do it, unless in check mode there is nothing to look at yet."""
    asked = module.params
    wanted = Wanted(**{name: value for name, value in asked.items() if name != "rc"}, rc=Path(asked["rc"]))
    try:
        result = bring(wanted, check_mode=module.check_mode, say=module.log)
    except WeightsFault as fault:
        if module.check_mode and fault.kind in (ABSENT, NOT_MOUNTED):
            told = (
                f"{wanted.path} would be read into {wanted.cache} once it is there: {fault}"
                if wanted.fill
                else str(fault)
            )
            module.exit_json(changed=wanted.fill, skipped_reason=f"{told}{fault}")
        module.fail_json(msg=str(fault))
    except (CacheFault, GenerationError, JournalError, OSError, RcloneError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


def main() -> None:
    """Check the parameters, then do it."""
    specification: dict[str, Any] = {
        "path": {"type": "path", "required": True},
        "mountpoint": {"type": "path", "required": True},
        "user": {"type": "str", "required": True},
        "rc": {"type": "str", "required": True},
        "cache": {"type": "path", "required": True},
        "instances": {"type": "path", "default": "/var/lib/modelshelf/instances"},
        "fill": {"type": "bool", "default": True},
        "check": {"type": "str", "choices": ["sizes", "hashes"], "default": "sizes"},
        "bandwidth": {"type": "float"},
        "max_size": {"type": "bytes"},
        "timeout": {"type": "int", "default": 60},
    }
    run(AnsibleModule(argument_spec=specification, supports_check_mode=True))


if __name__ == "__main__":
    main()
