# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as people read it: a table with a line for every instance, the waves with their times, and the notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import human_bytes, human_seconds

COLUMNS = ("host", "wave", "instance", "model", "from", "to", "fetch", "what")


def plan_rows(plan: Mapping[str, Any]) -> list[dict[str, str]]:
    """One row for each instance, all values text. `fetch` is what the host fetches, on its first row that moves."""
    waves = {name: str(number) for number, wave in enumerate(plan["waves"], 1) for name in wave}
    rows = []
    for host in plan["hosts"]:
        fetch = human_bytes(host["fetch_bytes"])
        for move in host["moves"]:
            rows.append(_row(host, move, waves[host["name"]], fetch, f"move: {', '.join(move['reasons'])}"))
            fetch = ""
        for held in host["held"]:
            rows.append(_row(host, held, "-", "", "held" + (f": {held['hold']}" if held["hold"] else "")))
        rows += [_row(host, skipped, "-", "", skipped["why"]) for skipped in host["skipped"]]
    blank = dict.fromkeys(COLUMNS, "-")
    return rows + [{**blank, "host": name, "fetch": "", "what": "unreachable or failed"} for name in plan["failed"]]


def plan_lines(plan: Mapping[str, Any]) -> list[str]:
    """The whole plan as lines of text, columns aligned."""
    rows = plan_rows(plan)
    if not rows:
        return ["no host could be planned"]
    lines = aligned([COLUMNS, *([row[column] for column in COLUMNS] for row in rows)])
    if plan["waves"]:
        lines += ["", *aligned([("wave", "hosts", "fetch", "stage", "swap"), *_wave_rows(plan)])]
    totals = plan["totals"]
    lines += [
        "",
        f"{totals['moves']} to move on {sum(plan['serial'])} of {totals['hosts']} hosts, {totals['held']} held;"
        f" {human_bytes(totals['fetch_bytes'])} from the store",
        f"staging {human_seconds(totals['stage_seconds'])}, swap {human_seconds(totals['swap_seconds'])},"
        f" together {human_seconds(totals['seconds'])}",
    ]
    return lines + [f"note: {notice}" for notice in plan["notices"]]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, every column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _wave_rows(plan: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            str(number),
            ", ".join(wave),
            human_bytes(found["fetch_bytes"]),
            human_seconds(found["stage_seconds"]) + (f" ({found['limited_by']})" if found["limited_by"] else ""),
            human_seconds(found["swap_seconds"]),
        )
        for number, (wave, found) in enumerate(zip(plan["waves"], plan["predictions"]), 1)
    ]


def _row(host: Mapping[str, Any], place: Mapping[str, Any], wave: str, fetch: str, what: str) -> dict[str, str]:
    before, after = place["from"], place["to"]
    moved = before is not None and before["model"] != after["model"]
    return {
        "host": host["name"],
        "wave": wave,
        "instance": place["instance"],
        "model": place["model"],
        "from": "-" if before is None else f"{before['model']} {before['version']}" if moved else before["version"],
        "to": after["version"],
        "fetch": fetch,
        "what": what,
    }
