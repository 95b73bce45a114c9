# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls for users, as RustFS answers them (rustfs.md 1.2)."""

from __future__ import annotations

import pytest

from tests.contract.replay.calls import Calls

SECRET = "a-secret-of-a-user"


def test_list_users_shows_state_and_policies_and_never_secrets_or_root(root: Calls, fresh_name: str) -> None:
    root.add_user(fresh_name)
    root.attach("readonly", fresh_name)
    users = root.admin("GET", "list-users").ok().json
    assert {**users[fresh_name], "updatedAt": ""} == {"policyName": "readonly", "status": "enabled", "updatedAt": ""}
    assert root.access_key not in users


def test_list_users_with_any_query_needs_bucket(root: Calls, fresh_name: str) -> None:
    assert root.admin("GET", "list-users", x="1").error == (400, "InvalidArgument", "failed to decode query")
    root.add_user(fresh_name)
    root.attach("readonly", fresh_name)
    assert root.admin("GET", "list-users", bucket="models").ok().json[fresh_name]["policyName"] == "readonly"


@pytest.mark.parametrize("parameter", ["accessKey", "access-key"])
def test_user_info_takes_both_spellings(root: Calls, fresh_name: str, parameter: str) -> None:
    root.add_user(fresh_name)
    assert root.admin("GET", "user-info", **{parameter: fresh_name}).ok().json["status"] == "enabled"


def test_user_info_refuses_a_parameter_given_twice(root: Calls) -> None:
    twice = [("accessKey", "a-user"), ("access-key", "a-user")]
    assert root.send("GET", "/rustfs/admin/v3/user-info", twice).refusal == (400, "InvalidArgument")


def test_user_info_of_nobody_and_of_no_name(root: Calls, fresh_name: str) -> None:
    error = root.admin("GET", "user-info", accessKey=fresh_name).error
    assert error == (404, "NoSuchResource", f"user '{fresh_name}' does not exist")
    assert root.admin("GET", "user-info").refusal == (400, "InvalidArgument")


def test_user_info_of_a_service_account_is_not_allowed(root: Calls, fresh_name: str) -> None:
    root.add_user(fresh_name)
    root.add_key(fresh_name, f"{fresh_name}-key")
    error = root.admin("GET", "user-info", accessKey=f"{fresh_name}-key").error
    assert error == (500, "InternalError", "action not allowed")


def test_add_user_overwrites_secret_and_status_and_leaves_policies_and_groups(root: Calls, fresh_name: str) -> None:
    first = root.add_user(fresh_name)
    root.attach("readonly", fresh_name)
    root.add_members(f"{fresh_name}-group", fresh_name).ok()
    second = root.add_user(fresh_name, "another-secret-1")
    assert first.signs().refusal == (403, "SignatureDoesNotMatch")
    assert second.signs().ok().json["is_admin"] is False
    info = root.admin("GET", "user-info", accessKey=fresh_name).ok().json
    assert (info["policyName"], info["memberOf"]) == ("readonly", [f"{fresh_name}-group"])
    root.add_user(fresh_name, "another-secret-1", "disabled")
    assert second.signs().error == (400, "InvalidRequest", "ErrAccessKeyDisabled")


@pytest.mark.parametrize("more", [{"policy": "readonly"}, {"x": 1}])
def test_add_user_takes_unknown_fields_and_does_nothing_with_them(root: Calls, fresh_name: str, more: dict) -> None:
    root.admin("PUT", "add-user", {"secretKey": SECRET, "status": "enabled", **more}, accessKey=fresh_name).ok()
    assert "policyName" not in root.admin("GET", "user-info", accessKey=fresh_name).ok().json


@pytest.mark.parametrize(
    "body",
    [{"secretKey": SECRET}, {"status": "enabled"}, {"secretKey": SECRET, "status": "on"}, "secretKey=x", []],
    ids=["no status", "no secret", "unknown status", "no JSON", "a list"],
)
def test_add_user_needs_secret_and_status(root: Calls, fresh_name: str, body: object) -> None:
    assert root.admin("PUT", "add-user", body, accessKey=fresh_name).refusal == (400, "InvalidRequest")


@pytest.mark.parametrize(
    ("name", "secret", "phrase"),
    [
        ("{}", "1234567", "invalid secret key length"),
        ("ab", SECRET, "invalid access key length"),
        ("{}=x", SECRET, "reserved characters"),
        ("{},x", SECRET, "reserved characters"),
    ],
)
def test_add_user_answers_500_for_bad_lengths_and_letters(
    root: Calls, fresh_name: str, name: str, secret: str, phrase: str
) -> None:
    body = {"secretKey": secret, "status": "enabled"}
    status, code, message = root.admin("PUT", "add-user", body, accessKey=name.format(fresh_name)).error
    assert (status, code) == (500, "InternalError") and phrase in message


def test_add_user_refuses_blanks_no_name_and_the_root_key(root: Calls, fresh_name: str) -> None:
    body = {"secretKey": SECRET, "status": "enabled"}
    for name in (f"{fresh_name} x", f" {fresh_name}", "", root.access_key):
        assert root.admin("PUT", "add-user", body, accessKey=name).refusal == (400, "InvalidArgument"), name


def test_add_user_takes_slashes_other_letters_and_long_secrets(root: Calls, fresh_name: str) -> None:
    for name in (f"{fresh_name}/x", f"{fresh_name}-модель"):
        root.add_user(name, "s" * 300)
        assert root.admin("GET", "user-info", accessKey=name).ok().json["status"] == "enabled"


def test_add_user_refuses_the_name_of_a_service_account(root: Calls, fresh_name: str) -> None:
    root.add_user(fresh_name)
    root.add_key(fresh_name, f"{fresh_name}-key")
    body = {"secretKey": SECRET, "status": "enabled"}
    error = root.admin("PUT", "add-user", body, accessKey=f"{fresh_name}-key").error
    assert error == (400, "InvalidArgument", "access key is already in use")


def test_set_user_status_switches_a_user_off_and_on(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name)
    root.admin("PUT", "set-user-status", accessKey=fresh_name, status="disabled").ok()
    assert user.signs().error == (400, "InvalidRequest", "ErrAccessKeyDisabled")
    assert user.get("").error == (400, "InvalidRequest", "ErrAccessKeyDisabled")
    # The signature is looked at first: a wrong secret is said to be wrong.
    assert root.by(fresh_name, "not-the-secret").signs().refusal == (403, "SignatureDoesNotMatch")
    root.admin("PUT", "set-user-status", accessKey=fresh_name, status="enabled").ok()
    assert user.signs().status == 200


def test_set_user_status_of_nobody_to_nonsense_and_of_oneself(root: Calls, fresh_name: str) -> None:
    status, code, message = root.admin("PUT", "set-user-status", accessKey=fresh_name, status="enabled").error
    assert (status, code) == (500, "InternalError") and f"user '{fresh_name}' does not exist" in message
    root.add_user(fresh_name)
    refused = root.admin("PUT", "set-user-status", accessKey=fresh_name, status="off")
    assert refused.refusal == (400, "InvalidArgument")
    own = root.admin("PUT", "set-user-status", accessKey=root.access_key, status="disabled")
    assert own.refusal == (400, "InvalidArgument")


def test_remove_user_takes_memberships_policies_and_keys_along(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name)
    root.attach("readonly", fresh_name)
    root.add_members(f"{fresh_name}-group", fresh_name).ok()
    key = root.add_key(fresh_name, f"{fresh_name}-key")
    root.admin("DELETE", "remove-user", accessKey=fresh_name).ok()
    assert user.signs().refusal == (403, "InvalidAccessKeyId")
    assert key.signs().refusal == (403, "InvalidAccessKeyId")
    gone = root.admin("GET", "info-service-account", accessKey=f"{fresh_name}-key")
    assert gone.refusal == (404, "NoSuchResource")
    assert root.admin("GET", "group", group=f"{fresh_name}-group").ok().json["members"] == []
    root.add_user(fresh_name)
    assert "policyName" not in root.admin("GET", "user-info", accessKey=fresh_name).ok().json


def test_remove_user_of_nobody_is_500_and_of_root_refused(root: Calls, fresh_name: str) -> None:
    status, code, message = root.admin("DELETE", "remove-user", accessKey=fresh_name).error
    assert (status, code) == (500, "InternalError") and f"user '{fresh_name}' does not exist" in message
    own = root.admin("DELETE", "remove-user", accessKey=root.access_key)
    assert own.refusal == (400, "InvalidArgument")


def test_remove_user_refuses_a_service_account(root: Calls, fresh_name: str) -> None:
    root.add_user(fresh_name)
    key = root.add_key(fresh_name, f"{fresh_name}-key")
    refused = root.admin("DELETE", "remove-user", accessKey=key.access_key)
    assert refused.refusal == (400, "InvalidArgument")
    assert key.signs().status == 200
