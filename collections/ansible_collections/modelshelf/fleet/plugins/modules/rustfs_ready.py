#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until a RustFS server is ready, and proves that it is the one that answers."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_ready
short_description: Wait until a RustFS server is ready and alone on its port
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Climbs a ladder of proofs on the host of the server. The unit runs and does not crash again and again, its port is
    open, every listener on the port belongs to the unit, C(/health/ready) answers 200, and so does
    C(/minio/health/cluster) on every server of a cluster.
  - What cannot become right by waiting ends it at once. A failure tells the state of the unit and the end of its log.
  - Readiness is no proof that a write works. M(modelshelf.fleet.rustfs_canary) proves that.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
options:
  unit:
    description:
      - The unit of the server.
    type: str
    required: true
  port:
    description:
      - The port of the S3 API.
    type: int
    required: true
  address:
    description:
      - The address that the server listens on; empty for all of the host.
    type: str
    default: ""
  tls:
    description:
      - Whether the server speaks TLS. Its certificate is not checked here.
    type: bool
    default: false
  nodes:
    description:
      - The URLs of all servers of a cluster, each without a path. Empty leaves the cluster out.
    type: list
    elements: str
    default: []
  timeout:
    description:
      - How long to wait for all of it, in seconds. The server itself waits up to 180 seconds for its peers.
    type: int
    default: 240
  tries:
    description:
      - How often the server may end and be started again by systemd meanwhile.
    type: int
    default: 3
  engine:
    description:
      - The container engine that the server runs in; empty for none.
    type: str
    default: ""
    choices: ["", podman, docker]
  container:
    description:
      - The name of the server's container.
    type: str
    default: ""
notes:
  - In check mode a unit that is not there or does not run is no failure; RV(skipped_reason) says so.
seealso:
  - module: modelshelf.fleet.rustfs_preflight
  - module: modelshelf.fleet.rustfs_canary
"""

EXAMPLES = r"""
- name: Wait until the store is ready
  modelshelf.fleet.rustfs_ready:
    unit: modelshelf-rustfs.service
    port: 9000

- name: Wait until the store is ready on this host and whole on all
  modelshelf.fleet.rustfs_ready:
    unit: modelshelf-rustfs.service
    port: 9000
    nodes: [http://store1:9000, http://store2:9000, http://store3:9000, http://store4:9000]
"""

RETURN = r"""
rungs:
  description: What was proved, in order. On failure the last one did not hold.
  returned: always, unless in check mode nothing runs yet
  type: list
  elements: str
  sample: [unit, port, listener, ready, cluster]
log:
  description: The last lines that the unit wrote.
  returned: failure
  type: list
  elements: str
skipped_reason:
  description: Why nothing was proved.
  returned: in check mode, when the unit does not run
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_ports import control_groups
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_ready import Gate, Ladder, NotReady
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, SystemdError, UnitState, through


def run(module: AnsibleModule) -> None:
    """Climbs the ladder, unless in check mode there is nothing to climb yet."""
    params = dict(module.params)
    engine, container = params.pop("engine"), params.pop("container")
    gate = Gate(**{**params, "nodes": tuple(params["nodes"])})
    systemd = Systemd(through(module.run_command))

    def groups(state: UnitState) -> tuple[str, ...]:
        return control_groups(state, [engine] if engine else [], container, module.run_command)

    try:
        if module.check_mode and not systemd.state(gate.unit).is_active:
            module.exit_json(changed=False, skipped_reason=f"{gate.unit} does not run yet")
        rungs = Ladder(gate, systemd, groups).climb()
    except NotReady as fault:
        module.fail_json(msg=str(fault), rungs=[fault.rung], log=fault.log)
    except SystemdError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, rungs=rungs)


def main() -> None:
    """Check the parameters, then wait."""
    run(
        AnsibleModule(
            argument_spec={
                "unit": {"type": "str", "required": True},
                "port": {"type": "int", "required": True},
                "address": {"type": "str", "default": ""},
                "tls": {"type": "bool", "default": False},
                "nodes": {"type": "list", "elements": "str", "default": []},
                "timeout": {"type": "int", "default": 240},
                "tries": {"type": "int", "default": 3},
                "engine": {"type": "str", "default": "", "choices": ["", "podman", "docker"]},
                "container": {"type": "str", "default": ""},
            },
            supports_check_mode=True,
        )
    )


if __name__ == "__main__":
    main()
