# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Policy documents: what is taken, how two are compared, and the reader's policy."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._names import normalise_prefix
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_conditions import canonical_condition
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import (
    PolicyFault,
    canonical,
    check_name,
    parse,
    readonly_prefix_policy,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_terms import ACTIONS, CONDITION_KEYS, OPERATORS

ONE: dict[str, Any] = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::models/*"}


def document(*statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements), **more}


SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "strings and lists": (ONE, {**ONE, "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::models/*"]}),
    "duplicates": (ONE, {**ONE, "Action": ["s3:GetObject", "s3:GetObject"]}),
    "order": (
        {**ONE, "Action": ["s3:PutObject", "s3:GetObject"]},
        {**ONE, "Action": ["s3:GetObject", "s3:PutObject"]},
    ),
    "star": ({**ONE, "Action": "*"}, {**ONE, "Action": ["s3:*"]}),
    "empty fields": (ONE, {**ONE, "Sid": "", "Condition": {}, "NotAction": [], "NotResource": []}),
    "one condition value": (
        {**ONE, "Condition": {"StringLike": {"s3:prefix": ["a/*"]}}},
        {**ONE, "Condition": {"StringLike": {"s3:prefix": "a/*"}}},
    ),
    "order of condition values": (
        {**ONE, "Condition": {"StringLike": {"s3:prefix": ["a/*", "b/*", "c/*"]}}},
        {**ONE, "Condition": {"StringLike": {"s3:prefix": ["c/*", "a/*", "b/*"]}}},
    ),
    "boolean": (
        {**ONE, "Condition": {"Bool": {"aws:SecureTransport": True}}},
        {**ONE, "Condition": {"Bool": {"aws:SecureTransport": "true"}}},
    ),
    "number": (
        {**ONE, "Condition": {"NumericEquals": {"s3:max-keys": 7}}},
        {**ONE, "Condition": {"NumericEquals": {"s3:max-keys": "7"}}},
    ),
    "network": (
        {**ONE, "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.1"}}},
        {**ONE, "Condition": {"IpAddress": {"aws:SourceIp": ["10.0.0.1/32"]}}},
    ),
    "time": (
        {**ONE, "Condition": {"DateLessThan": {"aws:CurrentTime": "2026-11-29T21:00:00.500+01:00"}}},
        {**ONE, "Condition": {"DateLessThan": {"aws:CurrentTime": "2026-11-29T20:00:00.5Z"}}},
    ),
    "spelling of a key": (
        {**ONE, "Condition": {"StringEquals": {"s3:VersionId": "x"}}},
        {**ONE, "Condition": {"StringEquals": {"s3:versionid": "x"}}},
    ),
}

DIFFERENT: dict[str, dict[str, Any]] = {
    "effect": {**ONE, "Effect": "Deny"},
    "action": {**ONE, "Action": "s3:PutObject"},
    "not action": {"Effect": "Allow", "NotAction": "s3:GetObject", "Resource": "arn:aws:s3:::models/*"},
    "resource": {**ONE, "Resource": "arn:aws:s3:::models"},
    "condition": {**ONE, "Condition": {"StringLike": {"s3:prefix": "a/*"}}},
    "if exists": {**ONE, "Condition": {"StringLikeIfExists": {"s3:prefix": "a/*"}}},
    "quantifier": {**ONE, "Condition": {"ForAnyValue:StringLike": {"s3:prefix": "a/*"}}},
    "sid": {**ONE, "Sid": "one"},
}


@pytest.mark.parametrize("form", SAME)
def test_a41_two_forms_of_the_same(form: str) -> None:
    one, two = (document(statement) for statement in SAME[form])
    before = copy.deepcopy(one)
    assert parse(one) == parse(two) == canonical(one)
    assert one == before, "the document itself was changed"
    assert parse(canonical(one)) == canonical(one)


def test_a41_what_differs_stays_different() -> None:
    forms = [canonical(document(statement)) for statement in (ONE, *DIFFERENT.values())]
    forms += [canonical(document(ONE, ID="the-id")), canonical(document(ONE, DIFFERENT["effect"]))]
    assert all(one != two for number, one in enumerate(forms) for two in forms[number + 1 :])


def test_a41_order_and_repetition_of_statements_mean_nothing() -> None:
    two = DIFFERENT["resource"]
    assert canonical(document(ONE, two)) == canonical(document(two, ONE, two))


VALUES = st.sampled_from(["a/*", "b/*", "c/*", "10.0.0.1", "true", "7"])


@given(st.dictionaries(st.sampled_from(sorted(OPERATORS)), st.lists(VALUES, min_size=1)))
def test_canonical_conditions_are_a_fixed_point(operators: dict[str, list[str]]) -> None:
    once = canonical_condition({name: {"s3:prefix": values} for name, values in operators.items()})
    assert canonical_condition(once) == once


def test_every_known_name_is_taken() -> None:
    for family, names in ACTIONS.items():
        for name in names:
            statement = {"Effect": "Allow", "Action": f"{family}:{name}"}
            parse(document({**statement, **({"Resource": "arn:aws:s3:::*"} if family == "s3" else {})}))
    for key in CONDITION_KEYS:
        parse(
            document({**ONE, "Condition": {"StringEqualsIfExists": {key: "x"}, "ForAllValues:StringLike": {key: "x"}}})
        )


@pytest.mark.parametrize(
    "resource",
    ["arn:aws:s3:::*", "arn:aws:s3:::models", "arn:aws:s3:::m*/a/?", "arn:aws:s3:::models/${aws:username}/*"],
)
def test_resources_that_are_taken(resource: str) -> None:
    assert parse(document({**ONE, "Resource": resource}))["Statement"][0]["Resource"] == [resource]


def test_a_document_can_be_text() -> None:
    assert parse(
        '{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "*", "Resource": "arn:aws:s3:::*"}]}'
    )
    with pytest.raises(PolicyFault, match="the policy is no JSON"):
        parse("{")
    with pytest.raises(PolicyFault, match="expected a mapping"):
        parse("[]")


@pytest.mark.parametrize("name", ["a", "reader", "with/slash", "with=eq", "имя", "x" * 300])
def test_names_that_are_taken(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    ("name", "rule"), [("", "empty"), ("a b", "blanks"), ("a\tb", "blanks"), ("a,b", "comma"), (1, "string")]
)
def test_names_that_are_not(name: Any, rule: str) -> None:
    with pytest.raises(PolicyFault, match=rule):
        check_name(name)


def test_the_readers_policy_grants_listing_and_reading_of_its_prefixes_alone() -> None:
    assert readonly_prefix_policy("models", "opt-125m") == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["s3:ListBucket"],
                "Resource": ["arn:aws:s3:::models"],
                "Condition": {"StringLike": {"s3:prefix": ["opt-125m/*"]}},
            },
            {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::models/opt-125m/*"]},
        ],
    }
    wide = readonly_prefix_policy("models", ["qwen", "opt", "qwen/"], versioned=True)
    assert wide["Statement"][0]["Condition"] == {"StringLike": {"s3:prefix": ["opt/*", "qwen/*"]}}
    assert wide["Statement"][1]["Action"] == ["s3:GetObject", "s3:GetObjectVersion"]
    assert parse(wide) == canonical(wide)


@pytest.mark.parametrize("prefix", ["/models", "models/", "models//llm", "//models///llm//", "a/b/c"])
def test_a8_the_policys_prefix_is_the_one_that_is_uploaded_and_mounted(prefix: str) -> None:
    path = normalise_prefix(prefix)
    policy = readonly_prefix_policy("shelf", prefix)
    assert policy["Statement"][0]["Condition"]["StringLike"]["s3:prefix"] == [f"{path}/*"]
    assert policy["Statement"][1]["Resource"] == [f"arn:aws:s3:::shelf/{path}/*"]


@pytest.mark.parametrize(
    ("bucket", "prefixes", "rule"),
    [
        ("models", "", "is empty, so the policy would be for the whole bucket"),
        ("models", "//", "is empty"),
        ("models", ["opt", ""], "is empty"),
        ("models", [], "expected at least one"),
        ("models", None, "expected at least one"),
        ("models", [1], "expected a string"),
        ("models", "./a", "segment '.'"),
        ("models", "a/../b", "segment '..'"),
        ("models", "opt*", "does not take literally"),
        ("models", "opt?", "does not take literally"),
        ("models", "${aws:username}", "does not take literally"),
        ("mod*", "opt", "the bucket is 'mod\\*'"),
        ("", "opt", "the bucket is ''"),
        ("models/x", "opt", "the bucket is"),
    ],
)
def test_readers_policies_that_would_be_too_wide_are_refused(bucket: str, prefixes: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        readonly_prefix_policy(bucket, prefixes)
