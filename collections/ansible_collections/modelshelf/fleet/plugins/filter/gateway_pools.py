# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters gateway_servers, gateway_pools, gateway_notices and forgotten_drains: see the YAML files with their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _gateway


def gateway_servers(hosts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The instances of the hosts as servers of a gateway."""
    try:
        return _gateway.gateway_servers(hosts)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


def gateway_pools(
    servers: Iterable[Mapping[str, Any]], endpoints: Any, models: Any, metrics_port: int = 0, current: str = ""
) -> list[dict[str, Any]]:
    """The servers behind each endpoint."""
    try:
        return _gateway.gateway_pools(servers, endpoints, models, metrics_port, current)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Registers the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {
            "gateway_servers": gateway_servers,
            "gateway_pools": gateway_pools,
            "gateway_notices": _gateway.gateway_notices,
            "forgotten_drains": _gateway.forgotten_drains,
        }
