# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the ports of a host are free when its instances move to them, one after the other."""

from __future__ import annotations

from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import MOVE, Findings, Host, Step


def check_ports(host: Host, findings: Findings) -> None:
    """Refuse a port on which another instance still listens at that time."""
    ports = {step.name: int(step.current_release.get("port") or 0) for step in host.steps if not _is_down(step)}
    for step in host.steps:
        if step.fate != MOVE or not step.instance.get("port"):
            continue
        wanted = int(step.current_release["port"] if _restarts_as_it_is(step) else step.instance["port"])
        for other in (name for name, port in ports.items() if port == wanted and name != step.name):
            findings.refusals.append(
                f"{host.name}: {step.name} is to listen on port {wanted}, where {other} listens when {step.name} moves."
                f" Name {other} before {step.name} in modelshelf_instances; to exchange two ports, first give one of"
                " them a free one"
            )
        ports[step.name] = wanted


def _is_down(step: Step) -> bool:
    return bool({"inactive", "failed"} & set(step.reasons))


def _restarts_as_it_is(step: Step) -> bool:
    """Whether it is held, and comes back with the generation that it has."""
    same = bool(step.hold) and step.wanted == step.current and not {"argument", "port"} & set(step.reasons)
    return same and "port" in step.current_release
