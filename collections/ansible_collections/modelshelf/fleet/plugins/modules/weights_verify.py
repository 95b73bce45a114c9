#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proves that a version is mounted as it should be."""

from __future__ import annotations

DOCUMENTATION = r"""
module: weights_verify
short_description: Prove that a version of a model is mounted, whole, readable by its user and writable by nobody
version_added: 0.1.0
description:
  - Proves that the mount point carries a file system of the expected type.
  - Reads the manifest of the version and every file that it names, as the user that will serve the model, and compares
    sizes or hashes. Files that the manifest does not name are faults too.
  - Proves that neither that user nor root can create a file there.
  - Never hangs in a mount whose store is gone. Every access happens in a child process with a deadline.
author:
  - Modelshelf contributors (@modelshelf)
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
options:
  path:
    description:
      - The directory of the version, directly below O(mountpoint).
    type: path
    required: true
  mountpoint:
    description:
      - The directory where the versions of the model are mounted.
    type: path
    required: true
  user:
    description:
      - The user that serves the model. The module runs as root and takes on this user by itself.
    type: str
    required: true
  check:
    description:
      - V(sizes) opens every file, reads its first and its last byte and compares its size.
      - V(hashes) reads everything and compares the SHA-256. On a mount without a cache that moves every byte.
    type: str
    choices: [sizes, hashes]
    default: sizes
  timeout:
    description:
      - How many seconds to wait for the manifest, and for any single answer of the mount.
    type: int
    default: 60
  unit:
    description:
      - The unit of the mount. It is reloaded once when the manifest is not there at first, which drops the cached
        listing of an rclone mount. Empty means that nothing is reloaded.
    type: str
    default: ""
  rc:
    description:
      - The socket at which the rclone of the mount listens to its remote control. Where there is one, the mount lists
        everything anew before anything is read, and O(unit) is not reloaded. Empty means that there is none.
      - It is a failure when rclone cannot list anew; the old listing is kept then.
    type: str
    default: ""
  fstype:
    description:
      - The type of file system expected at O(mountpoint). Empty means that none is expected.
    type: str
    default: fuse.rclone
  cache_seconds:
    description:
      - For how many seconds the mount is configured to keep a listing, for the message. V(0) leaves it out.
    type: int
    default: 0
  may_be_absent:
    description:
      - Whether a version that the mount does not show is no failure in check mode, since the same run would publish it.
    type: bool
    default: false
  started:
    description:
      - The file that the unit touches when it starts the mount. Without it RV(stale) is O(stale).
    type: path
  settings:
    description:
      - The files that the mount reads when it starts. It is stale when one of them is newer than O(started).
    type: list
    elements: path
  stale:
    description:
      - Whether it is known already that the mount has older settings than it should have, as in check mode.
    type: bool
    default: false
  may_be_refused:
    description:
      - Whether a stale mount that does not answer is no failure, because a later task restarts it. Its key may be one
        that the store refuses by now. It is warned of, and RV(refused) says so.
      - What a stale mount answers is verified as ever.
    type: bool
    default: false
notes:
  - In check mode a mount that is not there yet is no failure; RV(skipped_reason) says so.
seealso:
  - module: modelshelf.fleet.model_version
  - module: modelshelf.fleet.vllm_ready
"""

EXAMPLES = r"""
- name: The version that will be served is whole and readable
  modelshelf.fleet.weights_verify:
    path: /srv/modelshelf/weights/qwen2-7b/v3
    mountpoint: /srv/modelshelf/weights/qwen2-7b
    user: modelshelf
    unit: modelshelf-weights-qwen2-7b.service
    cache_seconds: 300

- name: Every byte of it is as it was published
  modelshelf.fleet.weights_verify:
    path: /srv/modelshelf/weights/qwen2-7b/v3
    mountpoint: /srv/modelshelf/weights/qwen2-7b
    user: modelshelf
    check: hashes
"""

RETURN = r"""
manifest_digest:
  description: The digest of the whole version, as its manifest has it.
  returned: when the version was verified
  type: str
  sample: sha256:9f2c...
files:
  description: How many files the version has.
  returned: when the version was verified
  type: int
  sample: 9
bytes:
  description: The sum of their sizes.
  returned: when the version was verified
  type: int
  sample: 15231000000
version:
  description: The version that was verified.
  returned: when the version was verified
  type: str
  sample: v3
versions:
  description: All versions that the mount shows.
  returned: when the version was verified
  type: list
  elements: str
  sample: [v1, v2, v3]
fault:
  description:
    - The kind of what is wrong.
    - One of C(absent), C(not mounted), C(dead endpoint), C(no answer), C(permission denied), C(damaged), C(writable).
  returned: on failure
  type: str
  sample: absent
stale:
  description: Whether the mount runs with older settings than it should have.
  returned: when there is a mount
  type: bool
refused:
  description: Whether nothing was verified, because the mount is stale and does not answer.
  returned: when there is a mount
  type: bool
skipped_reason:
  description: Why nothing was verified.
  returned: in check mode, when the mount is not there
  type: str
"""

import platform
from dataclasses import fields

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, through
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import (
    ABSENT,
    DENIED,
    NOT_MOUNTED,
    SILENT,
    WeightsFault,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_verify import (
    Wanted,
    check_mount,
    newer_than,
    verify,
)


def run(module: AnsibleModule) -> None:
    """Verify, unless in check mode there is nothing to verify yet."""
    asked = module.params
    wanted = Wanted(**{field.name: asked[field.name] for field in fields(Wanted)})
    if wanted.problem():
        module.fail_json(msg=wanted.problem())
    if module.check_mode:
        try:
            check_mount(wanted.mountpoint, wanted.fstype)
        except WeightsFault as fault:
            module.exit_json(changed=False, skipped_reason=f"not verified in check mode: {fault}")
    stale = asked["stale"] or bool(asked["started"] and newer_than(asked["started"], asked["settings"]))
    try:
        found = verify(wanted, Systemd(through(module.run_command)).reload)
    except WeightsFault as fault:
        if module.check_mode and fault.kind in (ABSENT, NOT_MOUNTED) and asked["may_be_absent"]:
            module.exit_json(changed=False, skipped_reason=f"not verified in check mode: {fault}")
        if stale and fault.kind in (SILENT, DENIED) and asked["may_be_refused"]:
            module.warn(
                f"{platform.node()}: {fault}. The mount still has older settings: a later task has to restart it"
                " (site.yml: tag serve)"
            )
            module.exit_json(changed=False, stale=True, refused=True)
        module.fail_json(msg=str(fault), fault=fault.kind)
    manifest = found.manifest
    module.exit_json(
        changed=False,
        manifest_digest=manifest.digest,
        files=len(manifest.files),
        bytes=manifest.bytes,
        version=manifest.version,
        versions=list(found.versions),
        stale=stale,
        refused=False,
    )


def main() -> None:
    """Check the parameters, then verify."""
    run(
        AnsibleModule(
            argument_spec={
                "path": {"type": "path", "required": True},
                "mountpoint": {"type": "path", "required": True},
                "user": {"type": "str", "required": True},
                "check": {"type": "str", "choices": ["sizes", "hashes"], "default": "sizes"},
                "timeout": {"type": "int", "default": 60},
                "unit": {"type": "str", "default": ""},
                "rc": {"type": "str", "default": ""},
                "fstype": {"type": "str", "default": "fuse.rclone"},
                "cache_seconds": {"type": "int", "default": 0},
                "may_be_absent": {"type": "bool", "default": False},
                "started": {"type": "path"},
                "settings": {"type": "list", "elements": "path"},
                "stale": {"type": "bool", "default": False},
                "may_be_refused": {"type": "bool", "default": False},
            },
            required_together=[("started", "settings")],
            supports_check_mode=True,
        )
    )


if __name__ == "__main__":
    main()
