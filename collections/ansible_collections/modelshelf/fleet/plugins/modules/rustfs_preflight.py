#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether a host can run a RustFS server as it is described."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_preflight
short_description: Check whether a host can run a RustFS server, before anything is touched
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - RustFS formats an empty folder without a word, shares its port with a server that listens there already, and stays
    ready on a full disk. This module looks for all of that, and for what the server refuses at its start.
  - Everything that is wrong is in one message. Nothing is changed.
extends_documentation_fragment:
  - modelshelf.fleet.attributes.info
options:
  volumes:
    description:
      - The volumes as the server gets them, such as V(/data/rustfs{0...3}) or V(http://store{1...4}:9000/data/rustfs{0...3}).
    type: list
    elements: str
    required: true
  user:
    description:
      - The user that the server runs as, by name or number. The name need not be there yet.
    type: str
    required: true
  unit:
    description:
      - The unit of the server. What it listens on is its own.
    type: str
    required: true
  port:
    description:
      - The port of the S3 API.
    type: int
    required: true
  console_port:
    description:
      - The port of the console; V(0) for none.
    type: int
    default: 0
  address:
    description:
      - The address that the server listens on; empty for all of the host.
    type: str
    default: ""
  hosts:
    description:
      - How many hosts the store has. V(0) leaves the number unchecked.
    type: int
    default: 0
  set_drive_count:
    description:
      - The number of drives of an erasure set; V(0) for the server's own choice.
    type: int
    default: 0
  mount_points:
    description:
      - Paths that have to be mount points. When there are any, every volume has to lie on one of them.
    type: list
    elements: path
    default: []
  new_volumes:
    description:
      - Volumes of a store that was there before which may be empty, because their disk was replaced.
    type: list
    elements: path
    default: []
  minimum_free:
    description:
      - How many percent of each file system have to be free.
    type: int
    default: 0
  allow_shared_device:
    description:
      - Whether several volumes may lie on one disk.
    type: bool
    default: false
  record:
    description:
      - The file that says which store this host had before.
    type: path
    required: true
  container:
    description:
      - The name of the server's container. What runs in it now, in either engine, is the server and no stranger.
    type: str
    default: ""
seealso:
  - module: modelshelf.fleet.rustfs_ready
"""

EXAMPLES = r"""
- name: See whether this host can run the store
  modelshelf.fleet.rustfs_preflight:
    volumes: ["/data/rustfs{0...3}"]
    user: rustfs
    unit: modelshelf-rustfs.service
    port: 9000
    mount_points: [/data/rustfs0, /data/rustfs1, /data/rustfs2, /data/rustfs3]
    minimum_free: 5
    record: /var/lib/modelshelf/store.json
"""

RETURN = r"""
paths:
  description: The folders of this host that are volumes.
  returned: success
  type: list
  elements: str
  sample: [/data/rustfs0, /data/rustfs1]
formatted:
  description: Those of RV(paths) that a server has formatted already.
  returned: success
  type: list
  elements: str
  sample: [/data/rustfs0, /data/rustfs1]
drives:
  description: The number of drives of the whole store.
  returned: success
  type: int
sets:
  description: The number of erasure sets.
  returned: success
  type: int
hosts:
  description: The hosts that the volumes name; empty for a store of one host.
  returned: success
  type: list
  elements: str
deployment_id:
  description: The store that this host had before; empty when it had none.
  returned: success
  type: str
problems:
  description: All that is wrong.
  returned: failure
  type: list
  elements: str
"""

from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_host import (
    FORMAT_FILE,
    Recorded,
    Rules,
    local_drives,
    read_record,
    volume_problems,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_layout import (
    Drive,
    Layout,
    LayoutError,
    parse_layout,
    topology_problems,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_ports import (
    ENGINES,
    control_groups,
    port_problems,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, SystemdError, through


def run(module: AnsibleModule) -> None:
    """Looks at everything, then says all that is wrong at once."""
    params = module.params
    try:
        layout = parse_layout(params["volumes"], params["set_drive_count"])
        recorded = read_record(params["record"])
        drives = local_drives(layout)
        problems = [
            *topology_problems(layout, drives, params["hosts"], params["port"]),
            *volume_problems(drives, _rules(params), recorded),
            *_port_problems(module),
        ]
    except LayoutError as error:
        module.fail_json(msg=f"rustfs_volumes: {error}. Nothing was touched", problems=[str(error)])
    except (ValueError, SystemdError) as error:
        module.fail_json(msg=str(error), problems=[str(error)])
    if problems:
        module.fail_json(msg="; ".join(problems) + ". Nothing was touched", problems=problems)
    module.exit_json(changed=False, **_answer(layout, drives, recorded))


def _rules(params: dict[str, Any]) -> Rules:
    return Rules(
        params["user"],
        tuple(params["mount_points"]),
        tuple(params["new_volumes"]),
        params["minimum_free"],
        params["allow_shared_device"],
        params["record"],
    )


def _answer(layout: Layout, drives: list[Drive], recorded: Recorded) -> dict[str, Any]:
    return {
        "paths": [drive.path for drive in drives],
        "formatted": [drive.path for drive in drives if Path(drive.path, FORMAT_FILE).exists()],
        "drives": len(layout.drives),
        "sets": sum(pool.sets for pool in layout.pools),
        "hosts": list(layout.hosts),
        "deployment_id": recorded.deployment_id,
    }


def _port_problems(module: AnsibleModule) -> list[str]:
    params = module.params
    state = Systemd(through(module.run_command)).state(params["unit"])
    groups = control_groups(state, ENGINES, params["container"], module.run_command)
    ports = {"the S3 API": params["port"], "the console": params["console_port"]}
    return port_problems(params["address"], ports, params["unit"], groups)


def main() -> None:
    """Check the parameters, then look."""
    run(
        AnsibleModule(
            argument_spec={
                "volumes": {"type": "list", "elements": "str", "required": True},
                "user": {"type": "str", "required": True},
                "unit": {"type": "str", "required": True},
                "port": {"type": "int", "required": True},
                "console_port": {"type": "int", "default": 0},
                "address": {"type": "str", "default": ""},
                "hosts": {"type": "int", "default": 0},
                "set_drive_count": {"type": "int", "default": 0},
                "mount_points": {"type": "list", "elements": "path", "default": []},
                "new_volumes": {"type": "list", "elements": "path", "default": []},
                "minimum_free": {"type": "int", "default": 0},
                "allow_shared_device": {"type": "bool", "default": False},
                "record": {"type": "path", "required": True},
                "container": {"type": "str", "default": ""},
            },
            supports_check_mode=True,
        )
    )


if __name__ == "__main__":
    main()
