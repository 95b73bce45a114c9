# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policy documents: what RustFS accepts, and how it reads back (crates/policy/src/policy/{policy,statement}.rs)."""

from __future__ import annotations

from typing import Any

from .policy_conditions import parse_conditions
from .policy_names import ACTIONS
from .policy_text import Members, PolicyError, read_json
from .wire import ApiError

VERSION = "2012-10-17"

_TOP = ("ID", "Version", "Statement")
_STATEMENT = ("Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition")
_S3, _KMS = "arn:aws:s3:::", "arn:aws:kms:::"


def parse_policy(document: bytes) -> dict[str, Any]:
    """An identity policy as it reads back: lists without repetitions, empty members left out, `*` as `s3:*`.

    `Version` is always there and may be empty, `Statement` may be an empty list: callers decide. Raises PolicyError.
    """
    found = read_json(document)
    members = _members(found, _TOP)
    parsed: dict[str, Any] = {"ID": identifier} if (identifier := _text(members, "ID")) else {}
    parsed["Version"] = _text(members, "Version")
    parsed["Statement"] = [_statement(_members(item, _STATEMENT)) for item in _list(members.get("Statement", []))]
    _check_version(parsed["Version"])
    for statement in parsed["Statement"]:
        _check_identity_statement(statement)
    return parsed


def parse_bucket_policy(document: bytes) -> dict[str, Any]:
    """A bucket policy. Raises ApiError: 400 InvalidArgument when it cannot be read, 400 MalformedPolicy by a rule."""
    try:
        members = _members(read_json(document), ("Id", *_TOP))
        for required in ("Version", "Statement"):
            if required not in members:
                raise PolicyError(f"missing field `{required}`")
        statements = []
        for item in _list(members["Statement"]):
            found = _members(item, (*_STATEMENT, "Principal"))
            statements.append({"Principal": _principal(found), **_statement(found, effect="Allow")})
        version = _text(members, "Version")
        _check_version(version)
        for statement in statements:
            _check_bucket_statement(statement)
    except PolicyError as error:
        if error.rule:
            raise ApiError(400, "MalformedPolicy") from error
        raise ApiError(400, "InvalidArgument", f"parse policy failed {error.message}") from error
    return {"Version": version, "Statement": statements}


def _members(found: Any, known: tuple[str, ...]) -> Members:
    if not isinstance(found, Members):
        raise PolicyError(f"invalid type: {type(found).__name__}, expected a map")
    for name in found:
        if name not in known:
            raise PolicyError(f"unknown field `{name}`, expected one of {', '.join(f'`{one}`' for one in known)}")
    if repeated := found.repeated():
        raise PolicyError(f"duplicate field `{repeated}`")
    return found


def _text(members: Members, name: str) -> str:
    found = members.get(name, "")
    if not isinstance(found, str):
        raise PolicyError(f"invalid type for `{name}`, expected a string")
    return found


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise PolicyError(f"invalid type: {'map' if isinstance(found, dict) else found!r}, expected a sequence")
    return found


def _texts(found: Any) -> list[str]:
    values = found if isinstance(found, list) else [found]
    if not all(isinstance(value, str) for value in values):
        raise PolicyError("invalid type: expected a string or an array of strings")
    return list(dict.fromkeys(values))


def _statement(members: Members, effect: str | None = None) -> dict[str, Any]:
    """A statement; `effect` is the one that it has when none is written, which is an error without it."""
    parsed: dict[str, Any] = {"Sid": sid} if (sid := _text(members, "Sid")) else {}
    parsed["Effect"] = members.get("Effect", effect)
    if parsed["Effect"] is None:
        raise PolicyError("missing field `Effect`")
    if parsed["Effect"] not in ("Allow", "Deny"):
        raise PolicyError("Matching variant not found")
    for name in ("Action", "NotAction"):
        if actions := _actions(members.get(name, [])):
            parsed[name] = actions
    for name in ("Resource", "NotResource"):
        if resources := _resources(members.get(name, [])):
            parsed[name] = resources
    if conditions := parse_conditions(members.get("Condition", Members([]))):
        parsed["Condition"] = conditions
    return parsed


def _actions(found: Any) -> list[str]:
    names = ["s3:*" if name == "*" else name for name in _texts(found)]
    for name in names:
        if name not in ACTIONS:
            raise PolicyError(f"invalid action: invalid action: '{name}'")
    return list(dict.fromkeys(names))


def _resources(found: Any) -> list[str]:
    names = _texts(found)
    for name in names:
        kind, pattern = "unknown", name
        if name.startswith(_S3):
            kind, pattern = "s3", name.removeprefix(_S3)
            good = bool(pattern) and not pattern.startswith("/")
        elif name.startswith(_KMS):
            kind, pattern = "kms", name.removeprefix(_KMS)
            key, alias = pattern.removeprefix("key/"), pattern.removeprefix("alias/")
            good = pattern == "*" or (key not in ("", pattern) and "/" not in key) or alias not in ("", pattern)
            good = good and "\\" not in pattern
        else:
            good = False
        if not good:
            raise PolicyError(f"invalid resource: invalid resource, type: '{kind}', pattern: '{pattern}'")
    return names


def _principal(members: Members) -> list[str]:
    """The patterns of who is meant; none when it is not said."""
    found = members.get("Principal")
    if found is None and "Principal" not in members:
        return []
    if found == "*":
        return ["*"]
    if isinstance(found, str):
        raise PolicyError(f'invalid wildcard principal value: expected "*", got "{found}"')
    patterns = [text for value in _members(found, ("AWS", "Service")).values() for text in _texts(value)]
    if not patterns:
        raise PolicyError("Principal must have at least one of AWS or Service")
    return patterns


def _check_version(version: str) -> None:
    if version not in ("", VERSION):
        raise PolicyError(f"invalid Version '{version}'", rule=True)


def _check_actions(statement: dict[str, Any]) -> None:
    if "Action" not in statement and "NotAction" not in statement:
        raise PolicyError("both 'Action' and 'NotAction' are empty", rule=True)
    if "Action" in statement and "NotAction" in statement:
        raise PolicyError("'Action' and 'NotAction' cannot both be specified in the same statement", rule=True)


def _check_resources(statement: dict[str, Any], *, optional: bool) -> None:
    if "Resource" not in statement and "NotResource" not in statement and not optional:
        raise PolicyError("'Resource' is empty", rule=True)
    if "Resource" in statement and "NotResource" in statement:
        raise PolicyError("'Resource' and 'NotResource' cannot both be specified in the same statement", rule=True)


def _check_identity_statement(statement: dict[str, Any]) -> None:
    _check_actions(statement)
    families = {action.partition(":")[0] for action in statement.get("Action", ())}
    if len(families) > 1:
        raise PolicyError("'Action' contains mixed action families in the same statement", rule=True)
    _check_resources(statement, optional=bool(families) and families != {"s3"})
    if _kms_resource(statement) and families != {"kms"}:
        raise PolicyError("KMS resources require a statement whose actions are all KMS actions", rule=True)


def _check_bucket_statement(statement: dict[str, Any]) -> None:
    if not statement["Principal"]:
        raise PolicyError("Principal is empty", rule=True)
    _check_actions(statement)
    actions = [*statement.get("Action", ()), *statement.get("NotAction", ())]
    if _kms_resource(statement) or any(action.startswith("kms:") for action in actions):
        raise PolicyError("bucket policies do not support KMS actions or resources", rule=True)
    _check_resources(statement, optional=False)


def _kms_resource(statement: dict[str, Any]) -> bool:
    named = [*statement.get("Resource", ()), *statement.get("NotResource", ())]
    return any(resource.startswith(_KMS) for resource in named)
