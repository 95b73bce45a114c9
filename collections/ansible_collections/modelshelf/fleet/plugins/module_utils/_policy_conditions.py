# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions of policy statements: which RustFS takes, and the form in which they are compared.

Each kind of operator has values of its own (crates/policy: function/string, number, date, bool_null, addr, binary):
only strings, addresses and binaries may be lists; what is no string reads back as one.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_terms import (
    CONDITION_KEYS,
    KEY_SPELLINGS,
    OPERATORS,
    QUANTIFIERS,
)

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_SHOWN = 80
_ALONE = ("number", "date", "bool")
"""Kinds of which an operator takes one value."""


class PolicyFault(ValueError):
    """A document that the server would refuse. The message names field, value and rule."""


def quoted(value: Any) -> str:
    """How a message shows what was found."""
    text = "missing" if value is None else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def check_condition(where: str, condition: Any) -> None:
    """Raises PolicyFault for a Condition that RustFS does not take."""
    if not isinstance(condition, Mapping):
        raise PolicyFault(f"{where} is {quoted(condition)}; expected a mapping of operators")
    for operator, keys in condition.items():
        place = f"{where}.{operator}"
        kind = _kind(operator)
        if not kind:
            raise PolicyFault(
                f"{place} is no operator that RustFS knows, such as StringLike or ForAnyValue:StringEquals"
            )
        if not isinstance(keys, Mapping) or not keys:
            raise PolicyFault(f"{place} is {quoted(keys)}; expected a mapping with at least one condition key")
        for key, value in keys.items():
            if not isinstance(key, str) or key.partition("/")[0] not in CONDITION_KEYS:
                raise PolicyFault(
                    f"{place} has the key {key!r}, which RustFS does not know, such as s3:prefix. Case matters"
                )
            _check_values(f"{place}.{key}", kind, value)


def canonical_condition(condition: Mapping[str, Any]) -> dict[str, Any]:
    """Operators and keys sorted, values as strings of one spelling, in sorted lists where there may be several.

    The result is a condition again that RustFS takes. Checks nothing.
    """
    result: dict[str, dict[str, Any]] = {}
    for operator in sorted(condition):
        kind, keys = _kind(operator), {}
        for key, value in condition[operator].items():
            name, slash, rest = key.partition("/")
            values = sorted({_spelled(kind, item) for item in _listed(value)})
            alone = kind in _ALONE and len(values) == 1
            keys[f"{KEY_SPELLINGS.get(name, name)}{slash}{rest}"] = values[0] if alone else values
        if keys:
            result[operator] = dict(sorted(keys.items()))
    return result


def _kind(operator: Any) -> str:
    """The kind of an operator's values; empty for what is no operator."""
    if not isinstance(operator, str):
        return ""
    quantifier, colon, rest = operator.partition(":")
    name = rest if colon and quantifier in QUANTIFIERS else operator
    while name.endswith("IfExists"):
        name = name[: -len("IfExists")]
    return OPERATORS.get(name, "")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _check_values(where: str, kind: str, value: Any) -> None:
    values = _listed(value)
    if not values:
        raise PolicyFault(f"{where} is empty; expected at least one value")
    listed = value is not values[0] and kind != "bool"  # a list of one boolean is taken
    if kind in _ALONE and (listed or len(values) > 1):
        raise PolicyFault(f"{where} is {quoted(value)}; this operator takes one value, not a list")
    for item in values:
        if not _fits(kind, item):
            raise PolicyFault(f"{where} is {quoted(item)}; expected {_EXPECTED[kind]}")


_EXPECTED = {
    "string": "a string",
    "number": "a whole number",
    "date": "a time such as 2026-11-29T20:00:00Z",
    "bool": "true or false",
    "address": "a network such as 10.0.0.0/8",
    "binary": "base64",
}


def _fits(kind: str, value: Any) -> bool:
    if kind == "number":
        return not isinstance(value, bool) and bool(re.fullmatch(r"[+-]?\d{1,18}", str(value)))
    if kind == "bool":
        return isinstance(value, bool) or value in ("true", "false")
    if not isinstance(value, str):
        return False
    try:
        if kind == "date":
            return bool(_RFC3339.fullmatch(value)) and bool(_instant(value))
        if kind == "address":
            ipaddress.ip_interface(value if "/" in value else f"{value}/32")
        if kind == "binary":
            base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        return False
    return True


def _spelled(kind: str, value: Any) -> str:
    """The one spelling of a value, as near to what the server gives back as matters."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    try:
        if kind == "number":
            return str(int(text))
        if kind == "date":
            return _instant(text)
        if kind == "address":
            return str(ipaddress.ip_interface(text if "/" in text else f"{text}/32"))
    except ValueError:
        return text
    return text


def _instant(text: str) -> str:
    """A time of RFC 3339 in UTC. Raises ValueError for what is none."""
    found = _RFC3339.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no time of RFC 3339")
    day, time, fraction, zone = found.groups()
    offset = "+00:00" if zone in "Zz" else zone
    moment = datetime.fromisoformat(f"{day}T{time}{offset}").astimezone(timezone.utc)
    digits = (fraction or "").rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{digits}Z"
