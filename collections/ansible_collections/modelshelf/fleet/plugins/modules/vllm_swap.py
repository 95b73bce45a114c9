#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves a vLLM instance to another generation, and back when that one does not serve."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vllm_swap
short_description: Move a vLLM instance to another generation
version_added: 0.1.0
description:
  - A move begins, is carried out, and ends; the play does in between what concerns other hosts, such as draining a
    gateway. Each state is a task of its own.
  - The host carries the move out by itself, in a unit of its own. It stops the server, flips C(current),
    writes the unit of that generation into C(/etc/systemd/system), starts the server and climbs the gate of
    M(modelshelf.fleet.vllm_ready). When a step fails, it does the same back to the generation before. A controller that
    dies leaves nothing half done.
  - Until it has ended, the move is in C(journal.json), and no other run can begin one. Then it is a line in
    C(history.jsonl).
author:
  - Modelshelf contributors (@modelshelf)
extends_documentation_fragment:
  - modelshelf.fleet.attributes
attributes:
  check_mode:
    support: partial
    details:
      - Refuses what a real run would refuse, and writes nothing. That a server would come up cannot be told.
  diff_mode:
    support: none
    details:
      - The generations are compared by M(modelshelf.fleet.vllm_generation).
options:
  instance:
    description:
      - The name of the instance.
    type: str
    required: true
  state:
    description:
      - V(begun) writes down that a move to O(to) begins.
      - V(drained) writes down that the host gets no new requests.
      - V(moved) has the host carry it out, and waits.
      - V(ended) writes the line of history. A rollback that serves leaves a hold on the version it came from.
      - V(taken_over) makes a move that another run did not end this run's own.
      - V(held) holds the instance back from O(version) of O(model), as a rollback does that leaves this version, where
        the instance does not serve it yet.
      - V(lifted) takes the hold away.
      - V(proved) changes nothing. It fails unless the generation O(to) is complete, its engine is there, the user of
        the servers can read its weights, and, unless it was O(named), its API key is that of the current generation.
    type: str
    required: true
    choices: [begun, drained, moved, ended, taken_over, held, lifted, proved]
  run:
    description:
      - Names the run of Ansible that the move belongs to. The controller fills it in.
    type: str
    default: ""
  to:
    description:
      - The generation that is to serve. Required with O(state=begun) and O(state=proved).
    type: int
  model:
    description:
      - The slug of the model whose O(version) the instance is held back from. Required with O(state=held).
    type: str
  version:
    description:
      - The version that the instance is held back from. Required with O(state=held).
    type: str
  action:
    description:
      - What kind of move begins.
    type: str
    choices: [swap, rollback]
    default: swap
  named:
    description:
      - Whether O(to) was chosen by the user. Otherwise a rollback after a rollback is refused, and one to another
        API key.
    type: bool
    default: false
  back:
    description:
      - Whether V(moved) goes to the generation before, even where the new one may serve.
    type: bool
    default: false
  who:
    description:
      - Who moves it, for the history.
    type: str
    default: ansible
  inventory_commit:
    description:
      - The commit of the inventory, for the history. The controller fills it in where the inventory is in git.
    type: str
    default: ""
  gate:
    description:
      - How the gate tries the server, and how long things may take, in seconds.
      - Required with O(state=begun) and O(state=proved).
    type: dict
    suboptions:
      user:
        description:
          - The user that the servers run as.
        type: str
        required: true
      prompt:
        description:
          - What the server has to complete. Empty leaves the completion out.
        type: str
        default: the quick brown
      max_tokens:
        description:
          - How many tokens are asked for.
        type: int
        default: 8
      timeout:
        description:
          - How long the server may take until it answers.
        type: float
        default: 1800.0
      completion_timeout:
        description:
          - How long one completion may take.
        type: float
        default: 60.0
      stop_timeout:
        description:
          - How long the server, and each unit of O(gate.restart) to start, may take.
        type: float
        default: 150.0
      free_timeout:
        description:
          - How long its port and its GPUs may stay taken after that.
        type: float
        default: 60.0
      restart:
        description:
          - Units that are restarted while the server is stopped, such as a mount with other settings.
        type: list
        elements: str
        default: []
  root:
    description:
      - The directory of all instances.
    type: path
    default: /var/lib/modelshelf/instances
  library:
    description:
      - Where the host has the Python library of this collection.
    type: path
    default: /usr/local/lib/modelshelf.zip
seealso:
  - module: modelshelf.fleet.vllm_generation
  - module: modelshelf.fleet.vllm_ready
"""

EXAMPLES = r"""
- name: Begin the move
  modelshelf.fleet.vllm_swap:
    instance: main
    state: begun
    to: 4
    gate:
      user: modelshelf

- name: Move
  modelshelf.fleet.vllm_swap:
    instance: main
    state: moved

- name: End the move
  modelshelf.fleet.vllm_swap:
    instance: main
    state: ended
  register: ended
  failed_when: ended.result != 'served'
"""

RETURN = r"""
move:
  description: The move that is under way; none when there is none.
  returned: success, but for O(state=held), O(state=lifted) and O(state=proved)
  type: dict
  contains:
    run:
      description: The run that it belongs to.
      type: str
    who:
      description: Who began it.
      type: str
    action:
      description: V(swap) or V(rollback).
      type: str
    before:
      description: The generation that was current; none before the first.
      type: int
    to:
      description: The generation that is to serve.
      type: int
    step:
      description: The step that has begun. V(served), V(reverted) and V(failed) are ends.
      type: str
    cause:
      description: Why it did not serve.
      type: str
result:
  description: What came of the move, V(served), V(reverted), V(failed), or V(abandoned) when nothing had been stopped.
  returned: with O(state=ended)
  type: str
line:
  description: The line of history.
  returned: with O(state=ended), outside check mode
  type: dict
"""

import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils import _swap_states as states
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_proof import prove
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import JournalError, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import BEGUN, DRAINED
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap_server import Settings
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, SystemdError, through

GATE = {
    "user": {"type": "str", "required": True},
    "prompt": {"type": "str", "default": Settings.prompt},
    "max_tokens": {"type": "int", "default": Settings.max_tokens, "no_log": False},
    "timeout": {"type": "float", "default": Settings.timeout},
    "completion_timeout": {"type": "float", "default": Settings.completion_timeout},
    "stop_timeout": {"type": "float", "default": Settings.stop_timeout},
    "free_timeout": {"type": "float", "default": Settings.free_timeout},
    "restart": {"type": "list", "elements": "str", "default": list(Settings.restart)},
}


def a_move(instance: Instance, params: dict[str, Any]) -> Move:
    """The move that the parameters describe, from where the instance is now."""
    return Move(
        run=params["run"],
        who=params["who"],
        action=params["action"],
        before=instance.linked("current"),
        to=params["to"],
        previous=instance.linked("previous"),
        step=BEGUN,
        began=time.time(),
        inventory_commit=params["inventory_commit"],
        settings=params["gate"] or {},
    )


def bring_about(module: AnsibleModule, instance: Instance) -> dict[str, Any]:
    """The wanted state, and what it reports."""
    params, check_mode, run = module.params, module.check_mode, module.params["run"]
    if params["state"] == "begun":
        return states.begun(instance, a_move(instance, params), named=params["named"], check_mode=check_mode)
    if params["state"] == "taken_over":
        return states.taken_over(instance, run, params["who"], check_mode=check_mode)
    if params["state"] == "lifted":
        return states.lifted(instance, check_mode=check_mode)
    if params["state"] == "held":
        move = a_move(instance, params)
        return states.held(instance, move, params["model"], params["version"], check_mode=check_mode)
    if params["state"] == "proved":
        gate = params["gate"]
        prove(instance, params["to"], user=gate["user"], timeout=gate["completion_timeout"], other_key=params["named"])
        return {"changed": False}
    if check_mode:
        return {"changed": True, "move": None}
    if params["state"] == "drained":
        return states.reached(instance, run, DRAINED)
    if params["state"] == "ended":
        return states.ended(instance, run)
    return states.moved(
        instance,
        run,
        lambda command: module.run_command(command, check_rc=True),
        Systemd(through(module.run_command)),
        back=params["back"],
        library=params["library"],
    )


def main() -> None:
    """Check the parameters, then do it."""
    module = AnsibleModule(
        argument_spec={
            "instance": {"type": "str", "required": True},
            "state": {
                "type": "str",
                "required": True,
                "choices": ["begun", "drained", "moved", "ended", "taken_over", "held", "lifted", "proved"],
            },
            "run": {"type": "str", "default": ""},
            "to": {"type": "int"},
            "model": {"type": "str"},
            "version": {"type": "str"},
            "action": {"type": "str", "choices": ["swap", "rollback"], "default": "swap"},
            "named": {"type": "bool", "default": False},
            "back": {"type": "bool", "default": False},
            "who": {"type": "str", "default": "ansible"},
            "inventory_commit": {"type": "str", "default": ""},
            "gate": {"type": "dict", "options": GATE},
            "root": {"type": "path", "default": "/var/lib/modelshelf/instances"},
            "library": {"type": "path", "default": "/usr/local/lib/modelshelf.zip"},
        },
        required_if=[
            ("state", "begun", ("to", "gate")),
            ("state", "held", ("model", "version")),
            ("state", "proved", ("to", "gate")),
        ],
        supports_check_mode=True,
    )
    try:
        result = bring_about(module, Instance(module.params["root"], module.params["instance"]))
    except (GenerationError, JournalError, SystemdError, OSError) as error:
        module.fail_json(msg=f"instance {module.params['instance']}: {error}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
