# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client without a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin


class FakeClient(Client):
    """Answers by path; what is an exception is raised."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.calls = answers, Counter()
        self.admin = Admin("http://store:9000", "root", "canary-secret")

    def get(self, path: str, query: Mapping[str, str] | None = None, *, doing: str) -> Any:
        self.calls[path] += 1
        answer = self.answers[path.replace("-", "_")]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def signed_by(self, access_key: str, secret_key: str) -> FakeClient:
        return self
