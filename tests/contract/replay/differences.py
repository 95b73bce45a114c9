# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the stand-in may answer otherwise than the recorded server, and why. Nothing that the product uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

SHARE = 0.02
"""How much of all exchanges may be on the list."""

ALLOWED: Mapping[tuple[str, int], str] = {}
"""(topic, number of the exchange) -> the reason. It is empty: every recorded exchange is answered as it was."""

NOT_USED = tuple(
    map(
        re.compile,
        (
            r"\S+ /minio/admin/.*",  # the alias of the admin API
            r"\S+ /rustfs/admin/v[24]/.*",
            r"PUT /rustfs/admin/v3/(set-policy|add-service-accounts|import-iam-v2)",  # aliases of calls that are used
            r"GET /rustfs/admin/v3/(metrics|pools/list|accountinfo|datausageinfo)",
            r"GET /[^?]*\?(.*&)?(attributes|torrent)(&.*)?",
        ),
    )
)
"""The calls that this collection does not make; a difference may be at one of these alone."""


def call_of(exchange: Mapping[str, Any]) -> str:
    """Method, path and names of the query of an exchange, as NOT_USED writes calls."""
    names = "&".join(name for name, _ in exchange.get("query", ()))
    return f"{exchange['method']} {exchange['path']}{f'?{names}' if names else ''}"


def problems(allowed: Mapping[tuple[str, int], str], topics: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is wrong with a list of allowed differences, in words: its length, a call that is used, no reason."""
    known = {(name, exchange["n"]): exchange for name, topic in topics.items() for exchange in topic["exchanges"]}
    found = []
    if len(allowed) > SHARE * len(known):
        found.append(f"{len(allowed)} of {len(known)} exchanges are on the list, more than {SHARE:.0%}")
    for place, reason in allowed.items():
        name = f"{place[0]} #{place[1]}"
        if place not in known:
            found.append(f"{name} is no recorded exchange")
            continue
        if not reason.strip():
            found.append(f"{name} has no reason")
        call = call_of(known[place])
        if not any(pattern.fullmatch(call) for pattern in NOT_USED):
            found.append(f"{name} is a call that the product makes: {call}")
    return found
