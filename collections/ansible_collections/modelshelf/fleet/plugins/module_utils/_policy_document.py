# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policy documents: what RustFS takes, the one form in which two of them are compared, and the reader's policy.

The rules are those of RustFS 1.0.0-rc.3 (crates/policy: policy, statement, resource, action), which is stricter than
AWS. What it stores reads back in another form; canonical() brings both to the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._names import normalise_prefix
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_conditions import (
    PolicyFault,
    canonical_condition,
    check_condition,
    quoted,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_terms import ACTIONS, VERSION

__all__ = ["PolicyFault", "canonical", "check_name", "parse", "readonly_prefix_policy"]

_S3 = "arn:aws:s3:::"
_KMS = "arn:aws:kms:::"
_KMS_RESOURCE = re.compile(r"\*|key/[^/\\]+|alias/[^\\]+")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")

_DOCUMENT_FIELDS = ("ID", "Version", "Statement")
_LISTS = ("Action", "NotAction", "Resource", "NotResource")
_STATEMENT_FIELDS = ("Sid", "Effect", *_LISTS, "Condition")

_HINTS = {
    "Id": "RustFS spells it ID",
    "Principal": "it belongs into a bucket policy; a user's policy has none",
    "NotPrincipal": "it belongs into a bucket policy; a user's policy has none",
}


def parse(document: Any) -> dict[str, Any]:
    """The canonical form of a policy document that RustFS will take.

    `document` is a mapping, or its JSON text. Raises PolicyFault, a ValueError that names field, value and rule, for
    everything that the server would refuse.
    """
    if isinstance(document, str):
        document = _loaded(document)
    if not isinstance(document, Mapping):
        raise PolicyFault(f"the policy is {quoted(document)}; expected a mapping with Version and Statement")
    _check_fields("", document, _DOCUMENT_FIELDS)
    _check_text("ID", document.get("ID"))
    version = document.get("Version")
    if version != VERSION:
        found = "missing" if version in (None, "") else quoted(version)
        raise PolicyFault(f"Version is {found}; RustFS takes {VERSION} alone, in quotes")
    statements = document.get("Statement")
    if not isinstance(statements, Sequence) or isinstance(statements, str):
        raise PolicyFault(f"Statement is {quoted(statements)}; expected a list of statements")
    if not statements:
        raise PolicyFault("Statement is empty; expected at least one statement")
    for number, statement in enumerate(statements):
        _check_statement(f"Statement[{number}]", statement)
    return canonical(document)


def canonical(document: Mapping[str, Any]) -> dict[str, Any]:
    """The form in which two documents that mean the same are equal.

    Strings become lists, lists are sorted and without duplicates, empty fields are gone, `*` as an action is `s3:*`,
    values of conditions are lists of strings, and statements are sorted: their order has no meaning. Checks nothing.
    """
    statements = [_canonical_statement(statement) for statement in document.get("Statement") or ()]
    different = {json.dumps(statement, sort_keys=True): statement for statement in statements}
    kept: dict[str, Any] = {"ID": document.get("ID") or document.get("Id"), "Version": document.get("Version")}
    return {
        **{name: value for name, value in kept.items() if value},
        "Statement": [different[text] for text in sorted(different)],
    }


def check_name(name: Any) -> str:
    """`name` itself, when it can name a policy that can be attached and read. Raises PolicyFault otherwise."""
    if not isinstance(name, str) or not name:
        raise PolicyFault(f"the name of the policy is {quoted(name)}; expected a string that is not empty")
    if re.search(r"\s", name):
        raise PolicyFault(f"the name of the policy is {name!r}; RustFS takes no blanks in it")
    if "," in name:
        raise PolicyFault(
            f"the name of the policy is {name!r}; a name with a comma could be stored, but never attached or read"
        )
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in name):
        raise PolicyFault(f"the name of the policy is {name!r}; it has a control character in it")
    return name


def readonly_prefix_policy(bucket: str, prefixes: str | Sequence[str], versioned: bool = False) -> dict[str, Any]:
    """The policy of a key that may list and read some prefixes of a bucket and nothing else.

    Listing is allowed for `<prefix>/*` alone: with the bare prefix in the condition, `opt` would also list `opt-125m`.
    `versioned` adds reading by version, which RustFS asks for on buckets with versions. Prefixes are normalised like
    those of uploads and mounts. Raises ValueError for an empty prefix, which would be the whole bucket, and for
    characters that a policy takes for wildcards or variables.
    """
    if not isinstance(bucket, str) or not _BUCKET.fullmatch(bucket):
        raise PolicyFault(f"the bucket is {quoted(bucket)}; expected 3 to 63 of the characters a-z 0-9 . -")
    given = [prefixes] if isinstance(prefixes, str) else prefixes
    if not isinstance(given, Sequence) or not given:
        raise PolicyFault(f"the prefixes are {quoted(prefixes)}; expected at least one")
    paths = sorted({_checked_prefix(prefix) for prefix in given})
    reading = ["s3:GetObject", "s3:GetObjectVersion"] if versioned else ["s3:GetObject"]
    return {
        "Version": VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["s3:ListBucket"],
                "Resource": [f"{_S3}{bucket}"],
                "Condition": {"StringLike": {"s3:prefix": [f"{path}/*" for path in paths]}},
            },
            {"Effect": "Allow", "Action": reading, "Resource": [f"{_S3}{bucket}/{path}/*" for path in paths]},
        ],
    }


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise PolicyFault(f"the policy is no JSON: {error}") from error


def _checked_prefix(prefix: Any) -> str:
    if not isinstance(prefix, str):
        raise PolicyFault(f"the prefix is {quoted(prefix)}; expected a string")
    path = normalise_prefix(prefix)
    if not path:
        raise PolicyFault(f"the prefix {prefix!r} is empty, so the policy would be for the whole bucket")
    if re.search(r"[*?]|\$\{", path):
        raise PolicyFault(f"the prefix {prefix!r} has *, ? or ${{ in it, which a policy does not take literally")
    return path


def _check_fields(where: str, found: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in found:
        if name not in known:
            hint = f": {_HINTS[name]}" if name in _HINTS else ""
            place = f"{where}.{name}" if where else str(name)
            raise PolicyFault(f"{place} is no field that RustFS knows{hint}. It takes {', '.join(known)}")


def _check_text(where: str, value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise PolicyFault(f"{where} is {quoted(value)}; expected a string")


def _check_statement(where: str, statement: Any) -> None:
    if not isinstance(statement, Mapping):
        raise PolicyFault(f"{where} is {quoted(statement)}; expected a mapping")
    _check_fields(where, statement, _STATEMENT_FIELDS)
    _check_text(f"{where}.Sid", statement.get("Sid"))
    if statement.get("Effect") not in ("Allow", "Deny"):
        raise PolicyFault(f"{where}.Effect is {quoted(statement.get('Effect'))}; expected Allow or Deny")
    listed = {name: _strings(f"{where}.{name}", statement[name]) for name in _LISTS if name in statement}
    family = _check_actions(where, listed)
    _check_resources(where, listed, family)
    check_condition(f"{where}.Condition", statement.get("Condition", {}))


def _strings(where: str, value: Any) -> list[str]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, Sequence) or not all(isinstance(item, str) for item in values):
        raise PolicyFault(f"{where} is {quoted(value)}; expected a string or a list of strings")
    return list(values)


def _check_actions(where: str, listed: Mapping[str, list[str]]) -> str:
    """The family of the actions; empty for NotAction, where families may be mixed."""
    given = {name: listed[name] for name in ("Action", "NotAction") if listed.get(name)}
    if len(given) != 1:
        found = "both are there" if given else "both are missing or empty"
        raise PolicyFault(f"{where}: expected either Action or NotAction; {found}")
    (name, actions), families = next(iter(given.items())), set()
    for action in actions:
        family, _colon, rest = ("s3", ":", "*") if action == "*" else action.partition(":")
        if rest not in ACTIONS.get(family, ()):
            rule = "no action that RustFS knows"
            if re.search(r"[*?]", action):
                rule = "a wildcard; RustFS takes s3:*, admin:*, kms:* and *, and no other"
            raise PolicyFault(f"{where}.{name} has {action!r}, which is {rule}. Names are exact, and case matters")
        families.add(family)
    if name == "NotAction":
        return ""
    if len(families) > 1:
        raise PolicyFault(
            f"{where}.Action mixes the families {', '.join(sorted(families))}; a statement takes one. Split it"
        )
    return families.pop()


def _check_resources(where: str, listed: Mapping[str, list[str]], family: str) -> None:
    given = {name: listed[name] for name in ("Resource", "NotResource") if listed.get(name)}
    if len(given) > 1:
        raise PolicyFault(f"{where} has both Resource and NotResource; RustFS takes one of them")
    if not given and family not in ("admin", "kms", "sts"):
        raise PolicyFault(f"{where}.Resource is missing or empty; expected at least one such as {_S3}models/*")
    for name, resources in given.items():
        for resource in resources:
            if resource.startswith(_KMS):
                if family != "kms":
                    raise PolicyFault(f"{where}.{name} has {resource!r}; such a resource goes with kms actions alone")
                sound = bool(_KMS_RESOURCE.fullmatch(resource[len(_KMS) :]))
            else:
                sound = resource.startswith(_S3) and resource[len(_S3) : len(_S3) + 1] not in ("", "/")
            if not sound:
                hint = f"; for everything write {_S3}*" if resource == "*" else ""
                raise PolicyFault(
                    f"{where}.{name} has {resource!r}; expected {_S3}<bucket> or {_S3}<bucket>/<key>{hint}"
                )


def _canonical_statement(statement: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"Sid": statement.get("Sid"), "Effect": statement.get("Effect")}
    for name in _LISTS:
        value = statement.get(name) or ()
        result[name] = sorted({value} if isinstance(value, str) else set(value))
    for name in ("Action", "NotAction"):
        result[name] = sorted({"s3:*" if action == "*" else action for action in result[name]})
    result["Condition"] = canonical_condition(statement.get("Condition") or {})
    return {name: value for name, value in result.items() if value}
