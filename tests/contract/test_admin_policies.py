# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls for canned policies and for attaching them, as RustFS answers them (rustfs.md 1.4, 1.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.replay.calls import VERSION, Calls, allow

READ = allow("s3:GetObject", "models/*")


def put(root: Calls, name: str, document: Any) -> tuple[int, str, str]:
    return root.admin("PUT", "add-canned-policy", document, name=name).error


def test_list_has_the_built_in_policies_and_takes_no_stray_query(root: Calls) -> None:
    listed = root.admin("GET", "list-canned-policies").ok().json
    assert {"readonly", "readwrite", "writeonly", "diagnostics", "consoleAdmin"} <= set(listed)
    refused = root.admin("GET", "list-canned-policies", x="1")
    assert refused.error == (400, "InvalidArgument", "failed to decode query")


def test_list_of_a_bucket_has_the_policies_that_name_it(root: Calls, fresh_name: str) -> None:
    root.add_policy(fresh_name, allow("s3:ListBucket", fresh_name))
    root.add_policy(f"{fresh_name}-other", allow("s3:ListBucket", "another"))
    listed = root.admin("GET", "list-canned-policies", bucket=fresh_name).ok().json
    assert fresh_name in listed and "readwrite" in listed and f"{fresh_name}-other" not in listed


def test_info_has_the_document_and_dates_that_are_no_rfc_3339(root: Calls, fresh_name: str) -> None:
    root.add_policy(fresh_name, READ)
    found = root.admin("GET", "info-canned-policy", name=fresh_name).ok().json
    assert set(found) == {"policy_name", "policy", "create_date", "update_date"}
    assert found["policy"] == {"Version": VERSION, "Statement": [READ]}
    assert " " in found["create_date"] and found["create_date"].endswith("+00:00:00")


def test_info_of_nothing_is_500(root: Calls, fresh_name: str) -> None:
    error = root.admin("GET", "info-canned-policy", name=fresh_name).error
    assert error == (500, "InternalError", "policy does not exist")
    assert root.admin("GET", "info-canned-policy").refusal == (400, "InvalidArgument")


def test_put_creates_and_overwrites(root: Calls, fresh_name: str) -> None:
    root.add_policy(fresh_name, READ)
    root.add_policy(fresh_name, allow("s3:PutObject", "models/*"))
    found = root.admin("GET", "info-canned-policy", name=fresh_name).ok().json
    assert found["policy"]["Statement"][0]["Action"] == ["s3:PutObject"]
    assert found["create_date"] != found["update_date"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"Action": "s3:GetObject"}, {"Action": ["s3:GetObject"]}),
        ({"Action": ["s3:GetObject", "s3:GetObject"]}, {"Action": ["s3:GetObject"]}),
        ({"Action": "*"}, {"Action": ["s3:*"]}),
        ({"Sid": "", "Condition": {}, "NotAction": []}, {}),
        ({"Condition": {"StringLike": {"s3:prefix": ["a/*"]}}}, {"Condition": {"StringLike": {"s3:prefix": "a/*"}}}),
        (
            {"Condition": {"Bool": {"aws:SecureTransport": True}}},
            {"Condition": {"Bool": {"aws:SecureTransport": "true"}}},
        ),
        (
            {"Condition": {"NumericLessThan": {"s3:max-keys": 9}}},
            {"Condition": {"NumericLessThan": {"s3:max-keys": "9"}}},
        ),
    ],
)
def test_what_reads_back_otherwise_than_it_was_sent(root: Calls, fresh_name: str, given: dict, read: dict) -> None:
    root.add_policy(fresh_name, {**READ, **given})
    found = root.admin("GET", "info-canned-policy", name=fresh_name).ok().json["policy"]
    assert found == {"Version": VERSION, "Statement": [{**READ, **read}]}


@pytest.mark.parametrize(
    "statement",
    [
        {**READ, "Action": "s3:Get*"},
        {**READ, "Action": "s3:ListObjectsV2"},
        {**READ, "Action": "s3:getobject"},
        {**READ, "Action": "GetObject"},
        {**READ, "Resource": "*"},
        {**READ, "Resource": "models/*"},
        {**READ, "Resource": "arn:aws:s3:::/models"},
        {**READ, "Resource": []},
        {**READ, "NotResource": "arn:aws:s3:::a/*"},
        {**READ, "NotAction": "s3:PutObject"},
        {**READ, "Action": ["s3:GetObject", "admin:ServerInfo"]},
        {**READ, "Action": []},
        {**READ, "Principal": "*"},
        {**READ, "Comment": "x"},
        {**READ, "Effect": "allow"},
        {**READ, "Condition": {"StringMatches": {"s3:prefix": "a"}}},
        {**READ, "Condition": {"StringLike": {"s3:Prefix": "a"}}},
        {**READ, "Condition": {"StringLike": {"s3:prefix": []}}},
        {**READ, "Condition": {"StringLike": {}}},
        {**READ, "Condition": {"ForSome:StringLike": {"s3:prefix": "a"}}},
        {**READ, "Condition": {"IpAddress": {"aws:SourceIp": "everywhere"}}},
        {**READ, "Condition": {"NumericEquals": {"s3:max-keys": "many"}}},
    ],
    ids=lambda statement: ",".join(f"{name}={value}" for name, value in statement.items() if READ.get(name) != value),
)
def test_statements_that_are_refused(root: Calls, fresh_name: str, statement: dict) -> None:
    assert put(root, fresh_name, {"Version": VERSION, "Statement": [statement]})[:2] == (400, "InvalidRequest")
    assert fresh_name not in root.admin("GET", "list-canned-policies").ok().json


@pytest.mark.parametrize(
    ("document", "refusal"),
    [
        ("{", (400, "InvalidRequest")),
        ("", (400, "InvalidRequest")),
        ({"Version": VERSION, "Statement": READ}, (400, "InvalidRequest")),
        ({"Version": VERSION, "Statement": [READ], "Id": "x"}, (400, "InvalidRequest")),
        ({"Version": "2008-10-17", "Statement": [READ]}, (400, "InvalidRequest")),
        ({"Statement": [READ]}, (400, "InvalidArgument")),
        ({"Version": "", "Statement": [READ]}, (400, "InvalidArgument")),
        ({"Version": VERSION, "Statement": []}, (500, "InternalError")),
    ],
    ids=["half", "empty", "no list", "Id", "2008", "no version", "empty version", "no statement"],
)
def test_documents_that_are_refused(root: Calls, fresh_name: str, document: Any, refusal: tuple[int, str]) -> None:
    assert put(root, fresh_name, document)[:2] == refusal


def test_names_that_are_refused(root: Calls, fresh_name: str) -> None:
    document = {"Version": VERSION, "Statement": [READ]}
    for name in ("", f"{fresh_name} x", f" {fresh_name}"):
        assert put(root, name, document)[:2] == (400, "InvalidArgument"), name


def test_a_name_with_a_comma_can_be_stored_and_neither_read_nor_attached(root: Calls, fresh_name: str) -> None:
    root.add_policy(f"{fresh_name},x", READ)
    error = root.admin("GET", "info-canned-policy", name=f"{fresh_name},x").error
    assert error == (400, "InvalidArgument", "too many policies")
    root.add_user(fresh_name)
    query = {"policyName": f"{fresh_name},x", "userOrGroup": fresh_name, "isGroup": "false"}
    refused = root.admin("PUT", "set-user-or-group-policy", **query)
    assert refused.error == (500, "InternalError", "policy does not exist")


def test_remove_takes_what_is_not_there_and_refuses_what_is_in_use_or_built_in(root: Calls, fresh_name: str) -> None:
    root.admin("DELETE", "remove-canned-policy", name=fresh_name).ok()
    root.add_policy(fresh_name, READ)
    root.add_user(f"{fresh_name}-user")
    root.attach(fresh_name, f"{fresh_name}-user")
    refused = root.admin("DELETE", "remove-canned-policy", name=fresh_name)
    assert refused.error == (500, "InternalError", "policy in use")
    # A mapping of a user who is gone does not count.
    root.admin("DELETE", "remove-user", accessKey=f"{fresh_name}-user").ok()
    root.admin("DELETE", "remove-canned-policy", name=fresh_name).ok()
    assert fresh_name not in root.admin("GET", "list-canned-policies").ok().json
    status, code, message = root.admin("DELETE", "remove-canned-policy", name="readonly").error
    assert (status, code) == (500, "InternalError") and "system policy can not be deleted" in message


def test_remove_refuses_what_a_group_uses(root: Calls, fresh_name: str) -> None:
    root.add_policy(fresh_name, READ)
    root.add_members(f"{fresh_name}-group").ok()
    root.attach(fresh_name, f"{fresh_name}-group", group=True)
    refused = root.admin("DELETE", "remove-canned-policy", name=fresh_name)
    assert refused.error == (500, "InternalError", "policy in use")
