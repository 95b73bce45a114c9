# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies that RustFS refuses: refused here first, in check mode and for real, and the proof that it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_access_key, rustfs_policy
from tests.contract.matrix import ADMIN, Bench, bench_on
from tests.contract.s3_server import Server

RECORDED = Path(__file__).parent / "recorded" / "policies.json"
SECRET = "secret-of-somebody"
WHO = "{0}who"
"""Stands for a name with the prefix of the test, as {root} does for the root key."""


def statement(**changes: Any) -> dict[str, Any]:
    """A policy of one statement; None leaves a field out."""
    fields = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::models/*", **changes}
    return {
        "Version": "2012-10-17",
        "Statement": [{name: value for name, value in fields.items() if value is not None}],
    }


def under(condition: Any) -> dict[str, Any]:
    return statement(Action="s3:ListBucket", Resource="arn:aws:s3:::models", Condition=condition)


POLICIES: dict[str, tuple[Any, str]] = {
    "wildcard action": (statement(Action="s3:Get*"), "Statement[0].Action has 's3:Get*', which is a wildcard"),
    "unknown action": (statement(Action="s3:ReadObject"), "'s3:ReadObject', which is no action that RustFS knows"),
    "lower case action": (statement(Action="s3:getobject"), "Names are exact, and case matters"),
    "action without family": (statement(Action="GetObject"), "Statement[0].Action has 'GetObject'"),
    "second action unknown": (statement(Action=["s3:GetObject", "s3:List*"]), "'s3:List*'"),
    "no action": (statement(Action=None), "expected either Action or NotAction; both are missing or empty"),
    "empty action": (statement(Action=[]), "both are missing or empty"),
    "action and not action": (statement(NotAction="s3:PutObject"), "both are there"),
    "number as action": (statement(Action=1), "expected a string or a list of strings"),
    "mixed families": (statement(Action=["s3:GetObject", "admin:ServerInfo"]), "mixes the families admin, s3"),
    "bare star": (statement(Resource="*"), "has '*'; expected arn:aws:s3:::<bucket>"),
    "no arn": (statement(Resource="models/*"), "Statement[0].Resource has 'models/*'"),
    "arn with region": (statement(Resource="arn:aws:s3:us-east-1::models/*"), "arn:aws:s3:us-east-1::models/*"),
    "arn of nothing": (statement(Resource="arn:aws:s3:::"), "has 'arn:aws:s3:::'"),
    "arn with a slash": (statement(Resource="arn:aws:s3:::/models"), "has 'arn:aws:s3:::/models'"),
    "no resource": (statement(Resource=None), "Statement[0].Resource is missing or empty"),
    "empty resource": (statement(Resource=[]), "Statement[0].Resource is missing or empty"),
    "two resources": (statement(NotResource="arn:aws:s3:::b/*"), "has both Resource and NotResource"),
    "kms resource": (statement(Resource="arn:aws:kms:::key/x"), "goes with kms actions alone"),
    "Id": ({**statement(), "Id": "x"}, "Id is no field that RustFS knows: RustFS spells it ID"),
    "Principal": (statement(Principal="*"), "it belongs into a bucket policy"),
    "unknown field": ({**statement(), "Comment": "x"}, "Comment is no field that RustFS knows"),
    "unknown statement field": (statement(Comment="x"), "Statement[0].Comment is no field"),
    "number as Sid": (statement(Sid=1), "Statement[0].Sid is 1; expected a string"),
    "lower case effect": (statement(Effect="allow"), "Statement[0].Effect is 'allow'; expected Allow or Deny"),
    "no version": ({"Statement": statement()["Statement"]}, "Version is missing; RustFS takes 2012-10-17 alone"),
    "old version": ({**statement(), "Version": "2008-10-17"}, "Version is '2008-10-17'"),
    "empty statement": ({"Version": "2012-10-17", "Statement": []}, "Statement is empty"),
    "no statement": ({"Version": "2012-10-17"}, "Statement is missing; expected a list"),
    "statement as mapping": (
        {**statement(), "Statement": statement()["Statement"][0]},
        "expected a list of statements",
    ),
    "unknown operator": (under({"StringMatches": {"s3:prefix": "a"}}), "Condition.StringMatches is no operator"),
    "unknown quantifier": (under({"ForSome:StringLike": {"s3:prefix": "a"}}), "ForSome:StringLike is no operator"),
    "unknown condition key": (under({"StringLike": {"s3:Prefix": "a"}}), "has the key 's3:Prefix'"),
    "operator without keys": (under({"StringLike": {}}), "expected a mapping with at least one condition key"),
    "no condition value": (under({"StringLike": {"s3:prefix": []}}), "s3:prefix is empty"),
    "number as string": (under({"StringLike": {"s3:prefix": 1}}), "s3:prefix is 1; expected a string"),
    "no number": (under({"NumericEquals": {"s3:max-keys": "many"}}), "is 'many'; expected a whole number"),
    "numbers": (under({"NumericEquals": {"s3:max-keys": ["1", "2"]}}), "takes one value, not a list"),
    "no boolean": (under({"Bool": {"aws:SecureTransport": "yes"}}), "is 'yes'; expected true or false"),
    "no time": (under({"DateLessThan": {"aws:CurrentTime": "tomorrow"}}), "expected a time such as"),
    "no network": (under({"IpAddress": {"aws:SourceIp": "10.0.0.0/40"}}), "expected a network such as"),
}


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server, hidden=(SECRET,))
    yield found
    found.clear()


@pytest.mark.parametrize("fault", POLICIES)
def test_a45_bad_policies_are_refused_here_and_by_the_server(bench: Bench, fault: str) -> None:
    policy, message = POLICIES[fault]
    bench.refuses(rustfs_policy, {"name": WHO, "policy": policy}, message)
    bench.refuses(rustfs_access_key, {"key": WHO, "secret": SECRET, "user": "{root}", "policy": policy}, message)
    body = json.dumps(policy).encode()
    answer = bench.server.ask("PUT", f"{ADMIN}add-canned-policy", {"name": bench.name("raw")}, body)
    assert answer.status in (400, 500)
    assert bench.name("raw") not in bench.ask("GET", "list-canned-policies")


def recorded_refusals() -> dict[str, Any]:
    """Every document that a real server refused and that a task can hold, by the note on it."""
    found = {}
    for item in json.loads(RECORDED.read_text())["exchanges"]:
        if (
            item["note"].startswith("refuse? ")
            and item["response"]["status"] != 200
            and item.get("body", "").endswith("}")
        ):
            found[item["note"].removeprefix("refuse? ")] = json.loads(item["body"])
    return found


@pytest.mark.parametrize("fault", recorded_refusals())
def test_a45_what_a_real_server_refused_is_refused(bench: Bench, fault: str) -> None:
    bench.refuses(rustfs_policy, {"name": WHO, "policy": recorded_refusals()[fault]}, "policy '{0}who': ")
