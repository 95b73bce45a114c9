# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that the gateway does not drain: by a user's own tasks, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.swap import HOSTS, is_drained, serve, served

NEW = {"v1": "v2", "v2": "v1"}
DRAIN = "Drain the instance on every gateway"


@pytest.fixture(autouse=True)
def published(fleet: None) -> None:
    run = serve("v2", "--tags=publish")
    assert run.status == 0, run.output[-3000:]


def tasks(folder: Path, name: str) -> Path:
    """A file of tasks that writes down, on the controller, which instance of which host it was called for."""
    command = f"echo {name} {{{{ inventory_hostname }}}} {{{{ rollout_instance }}}} >> {folder}/calls"
    task = {"name": f"My own {name}", "ansible.builtin.shell": command, "delegate_to": "localhost"}
    path = folder / f"{name}.yml"
    path.write_text(yaml.safe_dump([task]))
    return path


def test_users_own_tasks_drain_and_undrain_each_instance(tmp_path: Path) -> None:
    new = NEW[served()["gpu1"]]
    drain, undrain = tasks(tmp_path, "drain"), tasks(tmp_path, "undrain")
    files = {"rollout_drain_tasks": str(drain), "rollout_undrain_tasks": str(undrain)}
    run = serve(new, "--tags=swap", rollout_drain="tasks", **files)
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, new)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == [f"{name} {host} main" for host in HOSTS for name in ("drain", "undrain")]
    assert DRAIN not in run.output


def test_swap_without_any_drain_leaves_the_gateway_alone() -> None:
    new = NEW[served()["gpu1"]]
    run = serve(new, "--tags=swap", rollout_drain="none")
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, new)
    assert DRAIN not in run.output
    assert not any(map(is_drained, HOSTS))
