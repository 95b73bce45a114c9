#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes the engines that no generation on a host uses."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vllm_engines
short_description: Remove the engines that no vLLM instance on a host uses
version_added: 0.1.0
description:
  - Removes the installed engines that no generation of any instance links, also of instances that are in no inventory.
  - An engine is a directory below O(root) with a name that begins with C(vllm-) and the file O(marker) in it. All else,
    such as an installation that was interrupted, is left alone.
  - One that cannot be removed is a warning. It has lost its name at once, so nothing can start from what is left of it.
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
  root:
    description:
      - The directory that holds the engines.
    type: path
    required: true
  marker:
    description:
      - The name of the file that an engine has when its installation is finished.
    type: str
    required: true
  wanted:
    description:
      - An engine that stays although no generation links it yet.
    type: path
    required: true
  instances:
    description:
      - The directory of all instances.
    type: path
    default: /var/lib/modelshelf/instances
  without:
    description:
      - Generations that do not count, lists of their numbers by the name of the instance. In check mode those are still
        there which M(modelshelf.fleet.vllm_generation) would have removed.
    type: dict
    default: {}
seealso:
  - module: modelshelf.fleet.vllm_generation
"""

EXAMPLES = r"""
- name: Remove the engines that nothing can start from any more
  modelshelf.fleet.vllm_engines:
    root: /opt/modelshelf/engines
    marker: .modelshelf-complete
    wanted: /opt/modelshelf/engines/vllm-0.32.0
"""

RETURN = r"""
removed:
  description: The names of the engines that were removed.
  returned: success
  type: list
  elements: str
  sample: [vllm-0.31.1]
"""

import os
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._retention import (
    installed_engines,
    remove,
    used_engines,
)


def main() -> None:
    """Check the parameters, then do it."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "required": True},
            "marker": {"type": "str", "required": True},
            "wanted": {"type": "path", "required": True},
            "instances": {"type": "path", "default": "/var/lib/modelshelf/instances"},
            "without": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    root = module.params["root"]
    try:
        installed = installed_engines(root, module.params["marker"])
        used = used_engines(module.params["instances"], module.params["without"])
        used.add(os.path.realpath(module.params["wanted"]))
        unused = [engine.name for engine in installed if os.path.realpath(engine) not in used]
        removed = remove(Path(root), unused, check_mode=module.check_mode, warn=module.warn)
    except OSError as error:
        module.fail_json(msg=f"the engines below {root}: {error}")
    before = sorted({*(engine.name for engine in installed), *removed})
    after = [name for name in before if name not in removed]
    module.exit_json(
        changed=bool(removed), removed=removed, diff={"before": {"engines": before}, "after": {"engines": after}}
    )


if __name__ == "__main__":
    main()
