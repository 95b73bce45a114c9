#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes generations of a vLLM instance, flips `current` to one, and removes old ones."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vllm_generation
short_description: Write a generation of a vLLM instance, make one the current generation, or remove old ones
version_added: 0.1.0
description:
  - A generation is a complete, startable description of an instance. It is numbered and kept on the host.
  - With O(state=present), what is wanted is compared with the generations that are there, the current one first, then
    the newest. When all differ, the next one is written, complete or not at all. Nothing is started, stopped or
    flipped.
  - With O(state=current), the link C(current) is made to name O(generation), and C(previous) what it named before.
  - With O(state=pruned), generations are removed. The newest O(keep) stay, and those that C(current), C(previous), the
    hold of a rollback or a move under way names. One that cannot be removed is a warning.
author:
  - Modelshelf contributors (@modelshelf)
extends_documentation_fragment:
  - modelshelf.fleet.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Of the environment the difference has only names, and which variables have another value.
options:
  instance:
    description:
      - The name of the instance.
    type: str
    required: true
  state:
    description:
      - V(present) makes a generation be there that is what the other options describe.
      - V(current) makes O(generation) the one that is started.
      - V(pruned) removes the generations that nothing names, except for the newest.
    type: str
    choices: [present, current, pruned]
    default: present
  generation:
    description:
      - The generation that becomes current. Required with O(state=current).
    type: int
  keep:
    description:
      - How many of the newest generations stay, 2 at least. Required with O(state=pruned).
    type: int
  root:
    description:
      - The directory of all instances.
    type: path
    default: /var/lib/modelshelf/instances
  model:
    description:
      - The slug of the model. Required with O(state=present).
    type: str
  version:
    description:
      - The version of the model. Required with O(state=present).
    type: str
  weights_path:
    description:
      - The directory of the version on this host. The digest in its manifest becomes part of the generation.
      - Required with O(state=present).
    type: path
  manifest_digest:
    description:
      - The digest of the version, where it is known although O(weights_path) cannot be read now, such as through a
        mount with a key that the store refuses by now. Empty means that it is read from the manifest.
    type: str
    default: ""
  config:
    description:
      - The options of C(vllm serve), without dashes in front. They become C(vllm.yaml), each value exactly as given.
      - The file can be read by everybody, so C(api-key) and C(hf-token) are refused. Put them into O(environment).
      - Required with O(state=present).
    type: dict
  environment:
    description:
      - Environment variables of the server, strings. They become C(env), which root alone can read and which systemd
        reads as an C(EnvironmentFile), each value exactly as given.
    type: dict
    default: {}
  engine:
    description:
      - What runs the generation. Required with O(state=present).
    type: dict
    suboptions:
      runtime:
        description:
          - The kind of engine.
        type: str
        choices: [venv]
        default: venv
      version:
        description:
          - The version of vLLM in it.
        type: str
        required: true
      path:
        description:
          - The virtual environment, with C(bin/vllm) in it. The link C(engine) of the generation names it.
        type: path
        required: true
  unit:
    description:
      - The text of the unit that starts the instance. It becomes C(unit.service), which M(modelshelf.fleet.vllm_swap)
        puts in its place before it starts the generation. Everybody can read it.
      - Required with O(state=present).
    type: str
  created_by:
    description:
      - Who wrote the generation, for its C(release.json).
    type: str
    default: ansible
seealso:
  - module: modelshelf.fleet.vllm_engines
  - module: modelshelf.fleet.vllm_generation_info
  - module: modelshelf.fleet.vllm_ready
"""

EXAMPLES = r"""
- name: Describe what the instance should serve
  modelshelf.fleet.vllm_generation:
    instance: main
    model: qwen2-7b
    version: v3
    weights_path: /srv/modelshelf/weights/qwen2-7b/v3
    config:
      model: /srv/modelshelf/weights/qwen2-7b/v3
      served-model-name: [qwen2-7b]
      host: 10.0.0.21
      port: 8000
      max-model-len: 4096
    environment:
      VLLM_ENGINE_READY_TIMEOUT_S: "1800"
      VLLM_API_KEY: "{{ modelshelf_vllm_api_key }}"
    engine:
      version: 0.32.0
      path: /opt/modelshelf/engines/vllm-0.32.0
    unit: "{{ lookup('ansible.builtin.template', 'vllm.service.j2') }}"
  register: described

- name: Make it the one that is started next
  modelshelf.fleet.vllm_generation:
    instance: main
    state: current
    generation: "{{ described.generation }}"

- name: Remove old ones
  modelshelf.fleet.vllm_generation:
    instance: main
    state: pruned
    keep: 10
"""

RETURN = r"""
generation:
  description: The generation that is what was described, or with O(state=current) the one that was asked for.
  returned: with O(state=present) and O(state=current)
  type: int
  sample: 4
current:
  description: The generation that C(current) names after the module ran; none when there is no such link yet.
  returned: success
  type: int
  sample: 3
previous:
  description: The generation that C(previous) names after the module ran; none when there is no such link.
  returned: success
  type: int
  sample: 2
path:
  description: The directory of RV(generation).
  returned: with O(state=present) and O(state=current)
  type: str
  sample: /var/lib/modelshelf/instances/main/generations/4
restart_needed:
  description: Whether RV(generation) is not the one that C(current) names.
  returned: with O(state=present) and O(state=current)
  type: bool
removed:
  description: The generations that were removed, oldest first.
  returned: with O(state=pruned)
  type: list
  elements: int
  sample: [1, 2]
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_files import secret_values
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_states import (
    DESCRIPTION,
    current,
    present,
    pruned,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import JournalError
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import WeightsFault


def take_environment(module: AnsibleModule) -> dict[str, Any]:
    """The environment, taken out of the parameters.

    It is declared no_log so that nothing shows it while parameters are checked. But Ansible would then blank out its
    values, such as `1`, wherever they occur in the result: from here on only what may be a secret is blanked out.
    """
    environment = dict(module.params["environment"])
    module.params["environment"] = sorted(environment)
    module.no_log_values = secret_values(environment)
    return environment


def main() -> None:
    """Check the parameters, then do it."""
    engine = {
        "runtime": {"type": "str", "choices": ["venv"], "default": "venv"},
        "version": {"type": "str", "required": True},
        "path": {"type": "path", "required": True},
    }
    module = AnsibleModule(
        argument_spec={
            "instance": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["present", "current", "pruned"], "default": "present"},
            "generation": {"type": "int"},
            "keep": {"type": "int"},
            "root": {"type": "path", "default": "/var/lib/modelshelf/instances"},
            "model": {"type": "str"},
            "version": {"type": "str"},
            "weights_path": {"type": "path"},
            "manifest_digest": {"type": "str", "default": ""},
            "config": {"type": "dict"},
            "environment": {"type": "dict", "default": {}, "no_log": True},
            "engine": {"type": "dict", "options": engine},
            "unit": {"type": "str"},
            "created_by": {"type": "str", "default": "ansible"},
        },
        required_if=[
            ("state", "present", DESCRIPTION),
            ("state", "current", ("generation",)),
            ("state", "pruned", ("keep",)),
        ],
        supports_check_mode=True,
    )
    environment = take_environment(module)
    try:
        instance = Instance(module.params["root"], module.params["instance"])
        if module.params["state"] == "present":
            result = present(instance, module.params, environment, check_mode=module.check_mode)
        elif module.params["state"] == "current":
            result = current(instance, module.params["generation"], check_mode=module.check_mode)
        else:
            result = pruned(instance, module.params["keep"], check_mode=module.check_mode, warn=module.warn)
    except (GenerationError, JournalError, WeightsFault, OSError, ValueError) as error:
        module.fail_json(msg=f"instance {module.params['instance']}: {error}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
