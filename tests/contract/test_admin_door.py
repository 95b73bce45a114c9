# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the admin API is entered: signatures, refused keys, unknown calls, prefixes (rustfs.md 1.1)."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.contract.replay.calls import ADMIN, Calls

USER = {"secretKey": "a-secret-of-a-user", "status": "enabled"}


def test_errors_are_xml_and_writes_have_empty_bodies(root: Calls, fresh_name: str) -> None:
    answer = root.admin("GET", "user-info", accessKey=fresh_name).answer
    assert answer.headers["content-type"] == "application/xml" and answer.body.startswith(b"<?xml")
    done = root.admin("PUT", "add-user", USER, accessKey=fresh_name).answer
    assert (done.status, done.body) == (200, b"")


def test_refused_signatures_are_told_apart(root: Calls, fresh_name: str) -> None:
    nobody = Calls(root.endpoint, "", "")
    assert nobody.admin("GET", "list-users").refusal == (403, "AccessDenied")
    assert nobody.get("").refusal == (403, "AccessDenied")
    assert root.by(fresh_name, "whatever-secret").signs().refusal == (403, "InvalidAccessKeyId")
    assert root.by(root.access_key, "not-the-secret").signs().refusal == (403, "SignatureDoesNotMatch")
    assert root.by(root.access_key, "not-the-secret").get("").refusal == (403, "SignatureDoesNotMatch")


def test_a_user_without_the_right_is_denied(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name)
    assert user.admin("GET", "list-users").refusal == (403, "AccessDenied")
    root.add_policy(fresh_name, {"Effect": "Allow", "Action": ["admin:ListUsers"]})
    root.attach(fresh_name, fresh_name)
    assert user.admin("GET", "list-users").status == 200
    assert user.admin("GET", "groups").refusal == (403, "AccessDenied")


@pytest.mark.parametrize("service", ["execute-api", "rustfs"])
def test_the_scope_must_name_s3_or_sts(root: Calls, service: str) -> None:
    path = f"{ADMIN}list-users"
    assert root.send("GET", path, sign={"service": service}).refusal == (501, "NotImplemented")
    assert root.send("GET", path, sign={"service": "sts"}).status == 200


def test_the_hash_of_the_content_must_be_said_and_fit(root: Calls, fresh_name: str) -> None:
    path = f"{ADMIN}list-users"
    assert root.send("GET", path, sign={"payload": "none"}).refusal == (400, "InvalidRequest")
    assert root.send("GET", path, sign={"payload": "unsigned"}).status == 200
    wrong = hashlib.sha256(b"something else").hexdigest()
    body = root.send("PUT", f"{ADMIN}add-user", {"accessKey": fresh_name}, USER, sign={"payload": wrong})
    assert body.refusal == (400, "InvalidRequest")
    assert fresh_name not in root.admin("GET", "list-users").ok().json


@pytest.mark.parametrize(("skew", "status"), [(-1200, 403), (1200, 403), (-600, 200), (600, 200)])
def test_clocks_may_differ_by_15_minutes(root: Calls, skew: int, status: int) -> None:
    reply = root.send("GET", f"{ADMIN}is-admin", sign={"skew": skew})
    assert reply.status == status
    if status != 200:
        assert reply.refusal == (403, "RequestTimeTooSkewed")


def test_bodies_of_more_than_a_mebibyte_are_refused(root: Calls, fresh_name: str) -> None:
    body = {**USER, "x": "x" * (1 << 20)}
    assert 400 <= root.admin("PUT", "add-user", body, accessKey=fresh_name).status < 500
    assert fresh_name not in root.admin("GET", "list-users").ok().json


def test_unknown_calls_are_501_and_version_4_is_426(root: Calls) -> None:
    assert root.admin("GET", "no-such-call").refusal == (501, "NotImplemented")
    assert root.admin("POST", "list-users").refusal == (501, "NotImplemented")
    assert root.send("GET", "/rustfs/admin/v2/list-users").refusal == (501, "NotImplemented")
    reply = root.send("GET", "/rustfs/admin/v4/list-users")
    assert (reply.status, reply.answer.body) == (426, b"")


def test_the_other_prefix_reaches_the_same_calls(root: Calls) -> None:
    assert root.send("GET", "/minio/admin/v3/is-admin").ok().json["is_admin"] is True


def test_two_calls_hide_why_a_key_was_refused(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name, status="disabled")
    assert user.admin("GET", "groups").error == (400, "InvalidRequest", "ErrAccessKeyDisabled")
    error = user.admin("GET", "list-service-accounts").error
    assert error == (500, "InternalError", "check key failed")
    error = user.admin("DELETE", "delete-service-account", accessKey="x").error
    assert error == (500, "InternalError", "check key failed")


def test_a_user_may_look_at_itself_unless_a_policy_says_no(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name)
    root.attach("readonly", fresh_name)
    assert user.admin("GET", "user-info", accessKey=fresh_name).ok().json["policyName"] == "readonly"
    root.add_policy(fresh_name, {"Effect": "Deny", "Action": ["admin:GetUser"]})
    root.attach(f"readonly,{fresh_name}", fresh_name)
    assert user.admin("GET", "user-info", accessKey=fresh_name).refusal == (403, "AccessDenied")


def test_numbers_and_letters_of_json_answers_are_plain(root: Calls, fresh_name: str) -> None:
    root.add_user(f"{fresh_name}-модель")
    answer = root.admin("GET", "list-users").ok().answer
    assert answer.headers["content-type"] == "application/json"
    assert f"{fresh_name}-модель" in json.loads(answer.body.decode())
