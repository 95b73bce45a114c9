# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions of a policy: what may be written, how it reads back, and whether a request meets them.

The rules are those of RustFS (crates/policy/src/policy/function). Values are kept as the server writes them: a single
text as a text, several as a list; a number, a truth value and a date as a text; addresses always as a list.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from .policy_names import CONDITION_KEYS, OPERATORS, QUALIFIERS
from .policy_text import Members, PolicyError, matches

Values = Mapping[str, Sequence[str]]
"""What is known of a request: values by the name of a condition key without its family."""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "Equals": operator.eq,
    "NotEquals": operator.ne,
    "LessThan": operator.lt,
    "LessThanEquals": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEquals": operator.ge,
}


def parse_conditions(found: Any) -> dict[str, dict[str, Any]]:
    """The `Condition` of a statement as it reads back. Raises PolicyError."""
    if not isinstance(found, Members):
        raise PolicyError(f"invalid type: {type(found).__name__}, expected Functions")
    repeated = found.repeated()
    if repeated:
        raise PolicyError(f"duplicate condition operator `{repeated}`")
    parsed = {name: _parse_operator(name, value) for name, value in found.items()}
    order = {qualifier: place for place, qualifier in enumerate(QUALIFIERS)}
    return dict(sorted(parsed.items(), key=lambda item: order.get(item[0].partition(":")[0], len(order))))


def _split(name: str) -> tuple[str, str, bool]:
    """Qualifier, operator and whether it ends with IfExists."""
    qualifier, colon, rest = name.rpartition(":")
    if ":" in qualifier:
        raise PolicyError("invalid condition operator")
    if colon and qualifier not in QUALIFIERS:
        raise PolicyError(f"invalid qualifier `{qualifier}`")
    base = rest
    while base not in OPERATORS and base.endswith("IfExists"):
        base = base.removesuffix("IfExists")
    if base not in OPERATORS:
        raise PolicyError(f"unknown key: {base}")
    return qualifier, base, base != rest


def _parse_operator(name: str, found: Any) -> dict[str, Any]:
    kind = OPERATORS[_split(name)[1]]
    if not isinstance(found, Members):
        raise PolicyError(f"invalid type: {type(found).__name__}, expected struct StringFunc")
    if not found:
        raise PolicyError("has no condition key")
    for key in found:
        if key.partition("/")[0] not in CONDITION_KEYS:
            raise PolicyError(f"invalid key name: '{key.partition('/')[0]}'")
    # The server writes s3:VersionId in lower case.
    return {key.replace("s3:VersionId", "s3:versionid"): _PARSE[kind](value) for key, value in found.items()}


def _texts(found: Any) -> list[str]:
    values = found if isinstance(found, list) else [found]
    if not all(isinstance(value, str) for value in values):
        raise PolicyError("invalid type: expected a string or an array of strings")
    return list(dict.fromkeys(values))


def _several(found: Any) -> str | list[str]:
    values = _texts(found)
    if not values:
        raise PolicyError("empty")
    return values[0] if len(values) == 1 else values


def _encoded(found: Any) -> str | list[str]:
    try:
        for value in _texts(found):
            base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise PolicyError("invalid base64 for BinaryEquals") from error
    return _several(found)


def _number(found: Any) -> str:
    if isinstance(found, bool) or not isinstance(found, int | str):
        raise PolicyError("invalid type: expected a number or a string that can be represented as a number.")
    try:
        return str(int(found))
    except ValueError as error:
        raise PolicyError("ParseIntError { kind: InvalidDigit }") from error


def _truth(found: Any) -> str:
    if isinstance(found, list):
        if len(found) != 1:
            raise PolicyError("only allow one boolean value" if found else "no value for boolean")
        return _truth(found[0])
    if isinstance(found, bool):
        return str(found).lower()
    if found not in ("true", "false"):
        raise PolicyError("ParseBoolError")
    return str(found)


def _moment(found: Any) -> str:
    if not isinstance(found, str) or _date(found) is None:
        raise PolicyError("ParseFromDescription: a date in RFC 3339 format was expected")
    return found


def _networks(found: Any) -> list[str]:
    values = []
    for value in _texts(found):
        value = value if "/" in value else f"{value}/32"
        try:
            ipaddress.ip_network(value, strict=False)
        except ValueError as error:
            raise PolicyError(f"{value} can not be parsed to CIDR") from error
        values.append(value)
    return values


_PARSE: dict[str, Callable[[Any], Any]] = {
    "string": _several,
    "binary": _encoded,
    "number": _number,
    "bool": _truth,
    "date": _moment,
    "address": _networks,
}


def _date(text: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo and "T" in text.upper() else None


def meets(conditions: Mapping[str, Mapping[str, Any]], values: Values, resolve: Callable[[str], str]) -> bool:
    """Whether a request meets every condition. `resolve` replaces the policy variables in a text."""
    return all(_meets_one(name, wanted, values, resolve) for name, wanted in conditions.items())


def _meets_one(name: str, wanted: Mapping[str, Any], values: Values, resolve: Callable[[str], str]) -> bool:
    qualifier, base, if_exists = _split(name)
    names = {key: key.partition(":")[2] for key in wanted}
    if if_exists and not any(short in values for short in names.values()):
        return True
    kind = OPERATORS[base]
    if kind == "address":
        # One key that fits is enough, unlike everywhere else; NotIpAddress is its opposite.
        fits = any(_in_networks(values.get(names[key], ()), networks) for key, networks in wanted.items())
        return fits != base.startswith("Not")
    for key, value in wanted.items():
        given = values.get(names[key], ())
        if kind == "string":
            texts = [resolve(text) for text in ([value] if isinstance(value, str) else value)]
            met = _strings(base, qualifier, given, texts)
        else:
            met = _SINGLE[kind](base, given, value)
        if not met:
            return False
    return True


def _strings(base: str, qualifier: str, given: Sequence[str], wanted: Sequence[str]) -> bool:
    if base.endswith("IgnoreCase"):
        given, wanted = [text.lower() for text in given], [text.lower() for text in wanted]
    like, negated = "Like" in base, "Not" in base

    def found(text: str) -> bool:
        return any(matches(pattern, text) if like else pattern == text for pattern in wanted)

    # With a qualifier every value of the request is judged by itself; without one, the set of them as a whole.
    if qualifier == "ForAllValues":
        return all(found(text) != negated for text in given)
    if qualifier == "ForAnyValue":
        return any(found(text) != negated for text in given)
    return any(found(text) for text in given) != negated


def _in_networks(given: Sequence[str], networks: Sequence[str]) -> bool:
    try:
        addresses = [ipaddress.ip_address(text) for text in given]
    except ValueError:
        return False
    known = [ipaddress.ip_network(network, strict=False) for network in networks]
    return any(address in network for address in addresses for network in known)


def _numbers(base: str, given: Sequence[str], wanted: str) -> bool:
    try:
        return bool(given) and _COMPARE[base.removeprefix("Numeric")](int(given[0]), int(wanted))
    except ValueError:
        return False


def _dates(base: str, given: Sequence[str], wanted: str) -> bool:
    left, right = _date(given[0]) if given else None, _date(wanted)
    return left is not None and right is not None and _COMPARE[base.removeprefix("Date")](left, right)


def _truths(base: str, given: Sequence[str], wanted: str) -> bool:
    if base == "Null":
        return (not given) == (wanted == "true")
    return bool(given) and given[0] == wanted


def _binaries(_base: str, given: Sequence[str], wanted: str | list[str]) -> bool:
    try:
        decoded = [base64.b64decode(text, validate=True) for text in given]
    except binascii.Error:
        return False
    expected = {base64.b64decode(text) for text in ([wanted] if isinstance(wanted, str) else wanted)}
    return any(value in expected for value in decoded)


_SINGLE: dict[str, Callable[[str, Sequence[str], Any], bool]] = {
    "number": _numbers,
    "date": _dates,
    "bool": _truths,
    "binary": _binaries,
}
