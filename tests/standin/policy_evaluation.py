# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a policy allows a request (crates/policy/src/policy/{statement,resource,variables}.rs of RustFS)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .policy_conditions import Values, meets
from .policy_names import LISTINGS
from .policy_text import clean, matches, matches_principal

Policy = Mapping[str, Any]

_S3 = "arn:aws:s3:::"
# A value of the request that may stand in a resource as ${aws:SourceIp} and the like.
_IN_RESOURCES = {
    **{f"s3:{name}": name for name in ("signatureversion", "authType", "x-amz-content-sha256", "versionid")},
    **{
        f"aws:{name}": name
        for name in (
            *("Referer", "SourceIp", "UserAgent", "SecureTransport", "CurrentTime", "EpochTime"),
            *("principaltype", "userid", "username", "groups"),
        )
    },
}
_VARIABLE = re.compile(r"\$\{([^${}]+)\}")


@dataclass(frozen=True)
class Question:
    """May `account` do `action` on a bucket or on a key of it?

    `account` is the access key that signed ("" for nobody), `values` what conditions are judged by, and `variables`
    what policy variables stand for.
    """

    account: str
    action: str
    bucket: str
    key: str
    values: Values
    variables: Mapping[str, str]

    def about(self, action: str) -> Question:
        """The same question for another action."""
        return replace(self, action=action)

    def resolve(self, text: str) -> str:
        """A text with its policy variables replaced; what is unknown stays."""
        return _VARIABLE.sub(lambda found: self.variables.get(found[1], found[0]), text)

    def resource_pattern(self, resource: str) -> str:
        """The pattern of an ARN, in which values of the request may stand, too."""
        pattern = self.resolve(resource.removeprefix(_S3))

        def value(found: re.Match[str]) -> str:
            given = self.values.get(_IN_RESOURCES.get(found[1], ""), ())
            return given[0] if given and given[0] else found[0]

        return _VARIABLE.sub(value, pattern)


def policy_allows(policy: Policy, question: Question) -> bool:
    """A Deny that fits wins; then one Allow that fits is enough."""
    statements = policy["Statement"]
    if any(_fits(one, question) for one in statements if one["Effect"] == "Deny"):
        return False
    return any(_fits(one, question) for one in statements if one["Effect"] == "Allow")


def bucket_policy_denies(policy: Policy | None, question: Question) -> bool:
    """Whether a bucket policy forbids the request, whoever asks."""
    statements = policy["Statement"] if policy else ()
    return any(_addresses(one, question) for one in statements if one["Effect"] == "Deny")


def bucket_policy_allows(policy: Policy | None, question: Question) -> bool:
    """Whether a bucket policy grants the request."""
    statements = policy["Statement"] if policy else ()
    return not bucket_policy_denies(policy, question) and any(
        _addresses(one, question) for one in statements if one["Effect"] == "Allow"
    )


def _addresses(statement: Policy, question: Question) -> bool:
    """Whether a statement of a bucket policy is about this request. It knows no variables but the request's values."""
    about = any(matches_principal(pattern, question.account) for pattern in statement["Principal"])
    return about and _fits(statement, replace(question, variables={}))


def _fits(statement: Policy, question: Question) -> bool:
    actions = statement.get("Action", ())
    if (actions and not _names(actions, question.action)) or _names(statement.get("NotAction", ()), question.action):
        return False
    families = {action.partition(":")[0] for action in actions}
    if not families & {"admin", "sts", "kms"} and not _covers(statement, question):
        return False
    return meets(statement.get("Condition", {}), question.values, question.resolve)


def _names(patterns: Sequence[str], action: str) -> bool:
    """Whether an action is among the patterns. The right to read versions includes the latest one."""
    return any(matches(pattern, action) for pattern in patterns) or (
        action == "s3:GetObject" and "s3:GetObjectVersion" in patterns
    )


def _covers(statement: Policy, question: Question) -> bool:
    """Whether the resource is among the statement's.

    `bucket/` for a bucket, `bucket/key` for a key, cleaned as a path: that makes an ARN of a bucket's keys
    (`bucket/*`) not cover the bucket, and the key `folder/` the same as `folder`.
    """
    named, excluded = statement.get("Resource", ()), statement.get("NotResource", ())
    by_prefix = any(key == "s3:prefix" for wanted in statement.get("Condition", {}).values() for key in wanted)
    key = "" if question.action in LISTINGS and by_prefix else question.key
    resource = clean(f"{question.bucket}/{key.removeprefix('/')}")
    if resource == ".":
        return bool(excluded)

    def among(arns: Sequence[str]) -> bool:
        return any(matches(question.resource_pattern(arn), resource) for arn in arns)

    return among(named) if named else bool(excluded) and not among(excluded)
