# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bucket may be called and told. The rules are RustFS's, so that check mode refuses what the server refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Refused
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import PolicyFault, canonical, parse

OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"type": "str"},
    "versioning": {"type": "str", "choices": ["enabled", "suspended"]},
    "quota": {"type": "str"},
    "object_lock": {"type": "bool", "default": False},
    "tags": {"type": "dict"},
    "policy": {"type": "dict"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGTP", start=1):
    _UNITS[f"{_letter}iB"], _UNITS[f"{_letter}B"] = 1024**_power, 1000**_power

LARGEST_QUOTA = 2**63 - 1
MOST_TAGS = 50
_LONGEST_TAG = {"key": 128, "value": 256}
_PRINCIPALS = ("AWS", "Service")


@dataclass(frozen=True)
class Wanted:
    """A bucket as it should be; None leaves a field alone.

    `quota` is in bytes, 0 for none. `policy` is the canonical form of `document`, both empty for none.
    """

    name: str
    absent: bool = False
    versioning: str | None = None
    quota: int | None = None
    object_lock: bool = False
    tags: Mapping[str, str] | None = None
    policy: Mapping[str, Any] | None = None
    document: Mapping[str, Any] | None = None


def wanted_from(entry: Mapping[str, Any]) -> Wanted:
    """What an entry asks for. Raises Refused, naming field, value and rule, for what the server would refuse."""
    name = check_name(entry["name"])
    what = f"bucket {name!r}"
    if entry["state"] == "absent":
        fields = ("versioning", "quota", "tags", "policy")
        given = [field for field in fields if entry[field] is not None] + ["object_lock"] * bool(entry["object_lock"])
        if given:
            raise Refused(f"{what}: state is absent, and {', '.join(given)} is given. Leave one of them out")
        return Wanted(name, absent=True)
    if entry["object_lock"] and entry["versioning"] == "suspended":
        raise Refused(f"{what}: versioning is suspended and object_lock is on; a locked bucket keeps its versions")
    try:
        policy = parse_bucket_policy(entry["policy"]) if entry["policy"] else entry["policy"]
    except PolicyFault as fault:
        raise Refused(f"{what}: policy: {fault}") from fault
    try:
        quota = None if entry["quota"] is None else quota_bytes(entry["quota"])
        tags = None if entry["tags"] is None else check_tags(entry["tags"])
    except ValueError as fault:
        raise Refused(f"{what}: {fault}") from fault
    return Wanted(
        name=name,
        versioning=entry["versioning"],
        quota=quota,
        object_lock=bool(entry["object_lock"]),
        tags=tags,
        policy=policy,
        document=entry["policy"],
    )


def check_name(name: Any) -> str:
    """`name` itself, when a bucket can have it. Raises Refused otherwise."""
    rule = ""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        rule = "expected 3 to 63 of the characters a-z 0-9 . - with a letter or digit at both ends"
    elif re.fullmatch(r"(\d+\.){3}\d+", name):
        rule = "it looks like an IP address"
    elif ".." in name or ".-" in name or "-." in name:
        rule = "a dot must stand between letters or digits"
    elif name.startswith("xn--"):
        rule = "names with xn-- in front are reserved"
    elif name == "rustfs":
        rule = "RustFS keeps it for itself"
    if rule:
        raise Refused(f"the name of the bucket is {name!r}: {rule}")
    return str(name)


def quota_bytes(text: str) -> int:
    """A size such as `500GiB`, `2TB` or `1048576` in bytes; `0` is none. Raises ValueError, naming what is taken."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not found or found[2] not in _UNITS or ("." in found[1] and _UNITS[found[2]] == 1):
        units = ", ".join(unit for unit in _UNITS if len(unit) > 1)
        raise ValueError(f"quota is {text!r}; expected a number of bytes, or a number with one of {units}")
    whole, _dot, fraction = found[1].partition(".")
    number = int(whole + fraction)
    size: int = (number * _UNITS[found[2]]) // 10 ** len(fraction)
    if number and not size:
        raise ValueError(f"quota is {text!r}, less than a byte; write 0 for no quota")
    if size > LARGEST_QUOTA:
        raise ValueError(f"quota is {text!r}; expected at most {LARGEST_QUOTA} bytes")
    return size


def check_tags(tags: Mapping[Any, Any]) -> dict[str, str]:
    """The tags as texts: numbers are written out. Raises ValueError for what S3 does not take as a tag."""
    if len(tags) > MOST_TAGS:
        raise ValueError(f"tags has {len(tags)} entries; a bucket takes {MOST_TAGS}")
    for key, value in tags.items():
        for part, content in (("key", key), ("value", value)):
            if isinstance(content, bool) or not isinstance(content, (str, int, float)):
                raise ValueError(f"tags has the {part} {content!r} at {key!r}; expected a text: put it in quotes")
            if len(str(content)) > _LONGEST_TAG[part]:
                raise ValueError(f"tags has a {part} of {len(str(content))} characters; S3 takes {_LONGEST_TAG[part]}")
        if str(key) == "":
            raise ValueError("tags has an empty key")
    return {str(key): str(value) for key, value in tags.items()}


def parse_bucket_policy(document: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical form of a bucket policy that RustFS will take. Raises PolicyFault for what it would refuse.

    It is a policy whose statements say for whom they are (`Principal`), and whose id may be spelled as AWS does.
    """
    statements = document.get("Statement")
    if not isinstance(statements, Sequence) or isinstance(statements, str) or not statements:
        raise PolicyFault(f"Statement is {statements!r}; expected a list of statements")
    plain = []
    for number, statement in enumerate(statements):
        where = f"Statement[{number}]"
        if not isinstance(statement, Mapping):
            raise PolicyFault(f"{where} is {statement!r}; expected a mapping")
        _check_principal(where, statement)
        plain.append({name: value for name, value in statement.items() if name != "Principal"})
    given = dict(document)
    if "Id" in given and "ID" not in given:
        given["ID"] = given.pop("Id")
    parse({**given, "Statement": plain})
    return canonical_bucket_policy(document)


def canonical_bucket_policy(document: Mapping[str, Any]) -> dict[str, Any]:
    """The form in which two bucket policies that mean the same are equal. Checks nothing."""
    statements = []
    for statement in document.get("Statement") or ():
        found = canonical({**document, "Statement": [statement]})["Statement"][0]
        statements.append({**found, "Principal": _canonical_principal(statement.get("Principal"))})
    whole = canonical({**document, "Statement": []})
    different = {json.dumps(statement, sort_keys=True): statement for statement in statements}
    return {**whole, "Statement": [different[text] for text in sorted(different)]}


def _check_principal(where: str, statement: Mapping[str, Any]) -> None:
    principal = statement.get("Principal")
    if principal == "*":
        return
    if not isinstance(principal, Mapping) or not principal:
        raise PolicyFault(f'{where}.Principal is {principal!r}; a bucket policy needs "*" or {{"AWS": [..]}}')
    for kind, names in principal.items():
        if kind not in _PRINCIPALS:
            raise PolicyFault(f"{where}.Principal has {kind!r}; RustFS takes {' and '.join(_PRINCIPALS)}")
        listed = [names] if isinstance(names, str) else names
        if not isinstance(listed, Sequence) or not listed or not all(isinstance(name, str) for name in listed):
            raise PolicyFault(f"{where}.Principal.{kind} is {names!r}; expected a name or a list of names")


def _canonical_principal(principal: Any) -> dict[str, list[str]]:
    if not isinstance(principal, Mapping):
        return {"AWS": [str(principal)]}
    return {
        str(kind): sorted({names} if isinstance(names, str) else set(names))
        for kind, names in sorted(principal.items())
    }
