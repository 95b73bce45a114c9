# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers and lists as inventories and `-e` give them, and sizes and times as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def whole(what: str, value: Any, least: int = 0) -> int:
    """A whole number of at least `least`; `-e` gives it as text. Raises ValueError that begins with `what`."""
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch(r"[+-]?[0-9]{1,30}", text) or int(text) < least:
        raise ValueError(f"{what} is {value!r}, not a whole number from {least} on")
    return int(text)


def amount(what: str, value: Any) -> float | None:
    """A number above 0, such as bytes per second; None when there is none: null or empty. Raises ValueError."""
    if value is None or value == "":
        return None
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found) or found <= 0:
        raise ValueError(f"{what} is {value!r}, not a number above 0; leave it out when it is not known")
    return found


def flag(what: str, value: Any) -> bool:
    """Yes or no, in any of the ways that Ansible takes. Raises ValueError."""
    try:
        return bool(boolean(value))
    except TypeError:
        raise ValueError(f"{what} is {value!r}, neither true nor false") from None


def listed(what: str, value: Any) -> list[Any]:
    """The items of a list, or of the text of one: `a,b`, `[a, b]`, `["a", "b"]`. Null and empty are no items.

    Raises ValueError, beginning with `what`, for half a list, which is what `-e name=[a, b]` leaves of one.
    """
    if value is None:
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("[") != text.endswith("]"):
            raise ValueError(
                f"{what} is {value!r}, half a list: -e cuts a text at its blanks. Write it without them: [1,50%] or a,b"
            )
        if text.startswith("["):
            text = text[1:-1]
        return [part for part in (piece.strip().strip("\"'").strip() for piece in text.split(",")) if part]
    return list(value) if isinstance(value, Sequence) else [value]


def mapping(what: str, value: Any) -> Mapping[str, Any]:
    """`value` itself, empty when null. Raises ValueError for anything that is not a mapping."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} is not a mapping but {type(value).__name__}")
    return value


def human_bytes(size: float) -> str:
    """A size with one decimal and a unit of 1024s: `14.2 GiB`."""
    for unit in _UNITS[:-1]:
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_UNITS[-1]}"


def human_seconds(seconds: float | None) -> str:
    """A time as its two largest units: `45 s`, `2 min 5 s`, `1 h 3 min`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    rest = math.ceil(seconds)
    hours, minutes = rest // 3600, rest % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest % 60} s" if minutes else f"{rest} s"
