# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side of vllm_swap."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.modelshelf.fleet.plugins.plugin_utils._runs import commit, this_run


class ActionModule(ActionBase):
    """Tells the host which run of Ansible it is, whose, and with what inventory."""

    def run(self, tmp: str | None = None, task_vars: Mapping[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        arguments.setdefault("run", this_run())
        arguments.setdefault("who", f"{getpass.getuser()}@{socket.gethostname()}")
        if arguments.get("state") in ("begun", "held"):
            arguments.setdefault("inventory_commit", commit((task_vars or {}).get("inventory_dir")))
        result: dict[str, Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        return result
