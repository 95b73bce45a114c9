#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proves that a unit serves one version of a model."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vllm_ready
short_description: Prove that a vLLM unit serves exactly one version of a model
version_added: 0.1.0
description:
  - Climbs a ladder, and fails at the first rung that does not hold, with a message of its own.
  - The unit is active and not restarting; its port is open; every listener on the port is a process of the unit;
    C(/health) answers 200; C(/v1/models) has exactly the served names, loaded from O(root); one completion is answered
    in time; the weights can be read inside the service.
  - What may come by waiting is waited for. A crash, a restart, a refused API key or another model on the port ends the
    wait at once, with the cause from the log of this run and its last lines.
author:
  - Modelshelf contributors (@modelshelf)
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
options:
  unit:
    description:
      - The unit of the instance.
    type: str
    required: true
  address:
    description:
      - The address that the instance binds to. It is asked there; an unspecified one is asked through the loopback.
    type: str
    required: true
  port:
    description:
      - The port of the instance.
    type: int
    required: true
  served_names:
    description:
      - The names under which the model is served, exactly.
      - The names of adapters of the model do not count.
    type: list
    elements: str
    required: true
  root:
    description:
      - What the model is loaded from, as given to vLLM. It tells versions apart that are served under the same name.
    type: str
    required: true
  api_key:
    description:
      - The API key of the server, when it has one.
    type: str
    default: ""
  prompt:
    description:
      - The prompt to be completed. Empty leaves the completion out, for a model that completes nothing.
    type: str
    default: the quick brown
  max_tokens:
    description:
      - How many tokens to ask for.
    type: int
    default: 8
  timeout:
    description:
      - For how many seconds to wait altogether. The start budget of the unit.
    type: int
    default: 1800
  completion_timeout:
    description:
      - How many seconds the completion may take.
    type: int
    default: 60
  interval:
    description:
      - How many seconds to wait between two looks.
    type: float
    default: 1.0
  user:
    description:
      - Read the weights as this user. Empty means the user that the service runs as.
    type: str
    default: ""
notes:
  - In check mode there is no completion, and nothing is checked of a unit that is not active.
seealso:
  - module: modelshelf.fleet.vllm_generation
  - module: modelshelf.fleet.weights_verify
"""

EXAMPLES = r"""
- name: The instance serves this version
  modelshelf.fleet.vllm_ready:
    unit: modelshelf-vllm@main.service
    address: 10.0.0.21
    port: 8000
    served_names: [qwen2-7b]
    root: /srv/modelshelf/weights/qwen2-7b/v3
    api_key: "{{ modelshelf_vllm_api_key }}"
  register: gate

- name: See what it answered
  ansible.builtin.debug:
    var: gate.completion
"""

RETURN = r"""
completion:
  description: The text of the completion; empty when there was none.
  returned: when the gate was passed
  type: str
  sample: " brown brown brown"
model:
  description: The served name that was asked for it.
  returned: when the gate was passed
  type: str
  sample: qwen2-7b
root:
  description: What the model is loaded from.
  returned: when the gate was passed
  type: str
  sample: /srv/modelshelf/weights/qwen2-7b/v3
seconds:
  description: How long it took.
  returned: when the gate was passed
  type: float
  sample: 41.3
rungs:
  description: The rungs that held, in order.
  returned: when the gate was passed
  type: list
  elements: str
  sample: [unit, port, listener, health, models, completion, weights]
rung:
  description: The rung that did not hold.
  returned: on failure
  type: str
  sample: models
log:
  description: The last lines that the unit wrote, without secrets.
  returned: on failure
  type: list
  elements: str
skipped_reason:
  description: Why nothing was checked.
  returned: in check mode, when the unit is not active
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._ready import Gate, GateFailure, Ladder
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, SystemdError, through


def run(module: AnsibleModule, systemd: Systemd) -> None:
    """Climb, unless in check mode there is nothing to climb yet."""
    gate = Gate(**{**module.params, "served_names": tuple(module.params["served_names"])})
    try:
        if module.check_mode and not (state := systemd.state(gate.unit)).is_active:
            module.exit_json(changed=False, skipped_reason=f"not checked in check mode: {gate.unit} is {state}")
        served = Ladder(gate, systemd).climb(complete=not module.check_mode)
    except GateFailure as failure:
        module.fail_json(msg=str(failure), rung=failure.rung, log=failure.log)
    except SystemdError as error:
        module.fail_json(msg=str(error), rung="unit", log=[])
    module.exit_json(
        changed=False,
        completion=served.completion,
        model=served.model,
        root=served.root,
        seconds=served.seconds,
        rungs=list(served.rungs),
    )


def main() -> None:
    """Check the parameters, then climb."""
    module = AnsibleModule(
        argument_spec={
            "unit": {"type": "str", "required": True},
            "address": {"type": "str", "required": True},
            "port": {"type": "int", "required": True},
            "served_names": {"type": "list", "elements": "str", "required": True},
            "root": {"type": "str", "required": True},
            "api_key": {"type": "str", "default": "", "no_log": True},
            "prompt": {"type": "str", "default": "the quick brown"},
            "max_tokens": {"type": "int", "default": 8, "no_log": False},
            "timeout": {"type": "int", "default": 1800},
            "completion_timeout": {"type": "int", "default": 60},
            "interval": {"type": "float", "default": 1.0},
            "user": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    if not module.params["served_names"]:
        module.fail_json(msg="served_names is empty: a server always has a name")
    run(module, Systemd(through(module.run_command)))


if __name__ == "__main__":
    main()
