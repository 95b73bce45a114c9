# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests idle_engine and idle_server: see idle_engine.yml and idle_server.yml."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

REQUESTS = re.compile(r"^vllm:num_requests_(?:running|waiting)\{[^}]*\} (\S+)", re.M)


def idle_engine(answer: Mapping[str, Any]) -> bool:
    """Whether vLLM has no request, by what it answered to /metrics, or does not run at all."""
    if answer.get("status") == 200:
        return sum(map(float, REQUESTS.findall(str(answer.get("content", ""))))) == 0
    # The errors of a server that is there and does not answer say nothing of its requests.
    return "Connection refused" in str(answer.get("msg", ""))


def idle_server(statistics: str, server: str) -> bool:
    """Whether a gateway has no request at a server, by its `show stat`, in any of its pools."""
    rows = [line.split(",") for line in statistics.splitlines()]
    return all(int(row[4] or 0) == 0 for row in rows if len(row) > 4 and row[1] == server)


class TestModule:
    """Registers the tests."""

    def tests(self) -> dict[str, Callable[..., bool]]:
        return {"idle_engine": idle_engine, "idle_server": idle_server}
