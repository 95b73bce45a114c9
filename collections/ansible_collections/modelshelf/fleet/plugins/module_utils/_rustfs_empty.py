# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store that a dry run takes for granted where there is none yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound, StoreError
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client


class EmptyStore(Client):
    """A store without anything in it, for dry runs before there is one. It keeps the count of `like`."""

    def __init__(self, like: Client) -> None:
        self.admin, self.calls, self.server_date, self.hasty = like.admin, like.calls, "", like.hasty

    def raw(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None, *, doing: str
    ) -> bytes:
        """What an empty store answers to reading calls."""
        if method != "GET":
            raise StoreError(f"could not {doing} {self.admin.where}: this is a dry run")
        if path in ("group", "user-info", "info-service-account", "info-access-key"):
            raise NotFound(f"could not {doing} {self.admin.where}: the store is taken for empty")
        return b"{}"
