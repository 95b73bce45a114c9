#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says which generations the instances of a host have."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vllm_generation_info
short_description: List the generations of vLLM instances on a host
version_added: 0.1.0
description:
  - Reads which generations there are, what each would serve, and which of them C(current) and C(previous) name.
  - Reads what M(modelshelf.fleet.vllm_swap) has written down of each instance.
  - That a host has no instance is an answer, no failure.
author:
  - Modelshelf contributors (@modelshelf)
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
options:
  instance:
    description:
      - List this instance only.
    type: str
  root:
    description:
      - The directory of all instances.
    type: path
    default: /var/lib/modelshelf/instances
seealso:
  - module: modelshelf.fleet.vllm_generation
  - module: modelshelf.fleet.vllm_swap
"""

EXAMPLES = r"""
- name: See what this host serves
  modelshelf.fleet.vllm_generation_info:
  register: host

- name: See whether there is a way back
  modelshelf.fleet.vllm_generation_info:
    instance: main
  register: main
  failed_when: main.instances | selectattr('previous') | length != 1
"""

RETURN = r"""
instances:
  description: The instances, by name.
  returned: success
  type: list
  elements: dict
  contains:
    instance:
      description: The name.
      type: str
    current:
      description: The generation that is started, none before the first was made current.
      type: int
    previous:
      description: The generation that was current before, none when there was none.
      type: int
    staged:
      description: The generation that was staged last, to become current with the next move; none before the first.
      type: int
    generations:
      description:
        - What C(release.json) says for each generation, oldest first, and C(address), C(port) and C(served_names) from
          its C(vllm.yaml).
        - For one that cannot be read, its number as C(generation) and the reason as C(fault).
      type: list
      elements: dict
    move:
      description: The move that is under way, as RV(modelshelf.fleet.vllm_swap#module:move); none when there is none.
      type: dict
    hold:
      description:
        - What the last rollback left, as C(model), C(version) and C(generation), with C(who) and C(time).
        - None when nothing is held back.
      type: dict
    history:
      description: The last twenty moves that ended, oldest first, as RV(modelshelf.fleet.vllm_swap#module:line).
      type: list
      elements: dict
  sample:
    - instance: main
      current: 4
      previous: 3
      staged: 4
      generations:
        - {"generation": 3, "model": "qwen2-7b", "version": "v2", "created": "2026-11-29T20:00:00Z"}
        - {"generation": 4, "model": "qwen2-7b", "version": "v3", "created": "2026-11-30T08:15:00Z"}
      move: null
      hold: null
      history: []
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import (
    GenerationError,
    Instance,
    instances,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, JournalError


def main() -> None:
    """Check the parameters, then read."""
    module = AnsibleModule(
        argument_spec={
            "instance": {"type": "str"},
            "root": {"type": "path", "default": "/var/lib/modelshelf/instances"},
        },
        supports_check_mode=True,
    )
    root, name = module.params["root"], module.params["instance"]
    try:
        found = instances(root) if name is None else [item for item in [Instance(root, name)] if item.numbers()]
        result = [{**item.summary(), **Journal(item.path).summary()} for item in found]
    except (GenerationError, JournalError, OSError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, instances=result)


if __name__ == "__main__":
    main()
