#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what a serving host has: versions in its cache, room, GPUs, network."""

from __future__ import annotations

DOCUMENTATION = r"""
module: serving_host_info
short_description: See what a serving host has for the versions of models
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Reads what P(modelshelf.fleet.rollout_plan#filter) wants to know of a host. Nothing need be there.
  - What cannot be found out is null.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
options:
  cache:
    description:
      - The directory that has the cache of each mount.
    type: path
    default: /var/cache/modelshelf/rclone
  bucket:
    description:
      - The bucket that the mounts read.
    type: str
    required: true
  store:
    description:
      - The name or the address of the store, to find the network interface that leads there.
    type: str
    required: true
seealso:
  - module: modelshelf.fleet.vllm_generation_info
  - plugin: modelshelf.fleet.rollout_plan
    plugin_type: filter
"""

EXAMPLES = r"""
- name: See what this host has
  modelshelf.fleet.serving_host_info:
    bucket: models
    store: store1
  register: host
"""

RETURN = r"""
versions:
  description: The bytes that the cache has of each version, by model and version.
  returned: success
  type: dict
  sample: {"qwen2-7b": {"v1": 15231000000}}
cache:
  description: C(free) and C(total) bytes of the file system of the cache.
  returned: success
  type: dict
  sample: {"free": 90000000000, "total": 200000000000}
devices:
  description: The UUIDs of the GPUs; null where there is no C(nvidia-smi), or it fails.
  returned: success
  type: list
  elements: str
bandwidth:
  description: What the network interface towards the store can take, in bytes per second.
  returned: success
  type: float
  sample: 3125000000.0
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._serving_host import (
    bandwidth,
    cached_versions,
    gpus,
    room,
)


def main() -> None:
    """Check the parameters, then look."""
    module = AnsibleModule(
        argument_spec={
            "cache": {"type": "path", "default": "/var/cache/modelshelf/rclone"},
            "bucket": {"type": "str", "required": True},
            "store": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    cache = module.params["cache"]
    devices, fault = gpus(module.run_command, module.get_bin_path("nvidia-smi"))
    if fault:
        module.warn(f"the GPUs are not known: {fault}")
    module.exit_json(
        changed=False,
        versions=cached_versions(cache, module.params["bucket"]),
        cache=room(cache),
        devices=devices,
        bandwidth=bandwidth(module.run_command, module.get_bin_path("ip"), module.params["store"]),
    )


if __name__ == "__main__":
    main()
