# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls for service accounts (access keys), as RustFS answers them (rustfs.md 1.6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.replay.calls import VERSION, Calls, Reply, allow

READ_A = {"Version": VERSION, "Statement": [allow("s3:GetObject", "models/a/*")]}
LATER = "2099-01-01T00:00:00Z"


@pytest.fixture
def user(root: Calls, fresh_name: str) -> str:
    """A user that may do anything with the bucket of its name, in which a/x and b/x are."""
    root.put(fresh_name).ok()
    for key in ("a/x", "b/x"):
        root.put(f"{fresh_name}/{key}", key).ok()
    root.add_policy(fresh_name, allow("s3:*", fresh_name, f"{fresh_name}/*"))
    root.add_user(fresh_name)
    root.attach(fresh_name, fresh_name)
    return fresh_name


def add(root: Calls, **body: Any) -> Reply:
    return root.admin("PUT", "add-service-account", body)


def info(root: Calls, key: Calls) -> dict[str, Any]:
    found: dict[str, Any] = root.admin("GET", "info-service-account", accessKey=key.access_key).ok().json
    return found


def reads(key: Calls, user: str) -> list[str]:
    """What of the two objects a key may read."""
    return [name for name in ("a/x", "b/x") if key.get(f"{user}/{name}").status == 200]


def test_a_key_without_a_policy_inherits_and_shows_its_parents(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key")
    assert reads(key, user) == ["a/x", "b/x"]
    found = info(root, key)
    assert (found["parentUser"], found["accountStatus"], found["impliedPolicy"]) == (user, "on", True)
    assert json.loads(found["policy"])["Statement"][0]["Action"] == ["s3:*"]
    assert not {"name", "description", "expiration"} & set(found)


def test_a_keys_policy_narrows_its_parents_and_never_widens_it(root: Calls, user: str) -> None:
    policy = {"Version": VERSION, "Statement": [allow("s3:*", f"{user}/a/*", "another", "another/*")]}
    key = root.add_key(user, f"{user}-key", policy=policy, name="mount-a", description="reads a")
    assert reads(key, user) == ["a/x"]
    assert key.put(f"{user}/b/y").refusal == (403, "AccessDenied")
    root.attach("readonly", user)
    assert key.put(f"{user}/a/y").refusal == (403, "AccessDenied")
    found = info(root, key)
    assert (found["impliedPolicy"], found["name"], found["description"]) == (False, "mount-a", "reads a")


def test_a_policy_may_be_given_as_a_text(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key", policy=json.dumps(READ_A))
    assert json.loads(info(root, key)["policy"]) == READ_A


def test_a_policy_without_statements_denies_everything(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key", policy={"Version": VERSION, "Statement": []})
    assert reads(key, user) == [] and info(root, key)["impliedPolicy"] is False


def test_variables_in_policies_stand_for_the_parent(root: Calls, fresh_name: str) -> None:
    root.put(fresh_name).ok()
    root.put(f"{fresh_name}/{fresh_name}/x").ok()
    root.add_policy(fresh_name, allow("s3:GetObject", f"{fresh_name}/${{aws:username}}/*"))
    root.add_user(fresh_name)
    root.attach(fresh_name, fresh_name)
    key = root.add_key(fresh_name, f"{fresh_name}-key")
    assert key.get(f"{fresh_name}/{fresh_name}/x").status == 200
    assert key.get(f"{fresh_name}/{fresh_name}-key/x").refusal == (403, "AccessDenied")


def test_keys_are_generated_when_none_is_given(root: Calls, user: str) -> None:
    made = add(root, targetUser=user).ok().json["credentials"]
    assert (len(made["accessKey"]), len(made["secretKey"])) == (20, 40)
    assert root.by(made["accessKey"], made["secretKey"]).signs().status == 200


def test_key_and_secret_are_given_together_or_not_at_all(root: Calls, user: str) -> None:
    assert add(root, targetUser=user, accessKey=f"{user}-key").refusal == (500, "InternalError")
    assert add(root, targetUser=user, secretKey="a-secret-of-a-key").refusal == (500, "InternalError")


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"secretKey": "1234567"}, (400, "InvalidArgument")),
        ({"secretKey": "s" * 41}, (400, "InvalidArgument")),
        ({"accessKey": "kk"}, (400, "InvalidArgument")),
        ({"accessKey": "k" * 129}, (400, "InvalidArgument")),
        ({"name": "a b"}, (400, "InvalidRequest")),
        ({"name": "1a"}, (400, "InvalidRequest")),
        ({"name": "n" * 33}, (400, "InvalidRequest")),
        ({"description": "d" * 257}, (400, "InvalidRequest")),
        ({"expiration": "2020-01-01T00:00:00Z"}, (400, "InvalidRequest")),
        ({"expiration": "tomorrow"}, (400, "InvalidRequest")),
        ({"policy": {"Version": VERSION, "Statement": [allow("s3:Get*", "m/*")]}}, (400, "InvalidArgument")),
        ({"policy": {"Version": VERSION, "Statement": [allow("s3:GetObject")]}}, (400, "InvalidArgument")),
        ({"targetUser": "nobody-of-this-name"}, (400, "InvalidRequest")),
    ],
    ids=lambda value: ",".join(f"{key}={str(text)[:30]}" for key, text in value.items()) if type(value) is dict else "",
)
def test_what_add_refuses(root: Calls, user: str, body: dict[str, Any], refusal: tuple[int, str]) -> None:
    whole = {"targetUser": user, "accessKey": f"{user}-key", "secretKey": "a-secret-of-a-key", **body}
    assert add(root, **whole).refusal == refusal
    assert root.admin("GET", "list-service-accounts", user=user).ok().json == {"accounts": []}


def test_a_policy_of_more_than_4096_bytes_is_500(root: Calls, user: str) -> None:
    many = [f"models/{number:04}" for number in range(200)]
    policy = {"Version": VERSION, "Statement": [allow("s3:GetObject", *many)]}
    assert add(root, targetUser=user, policy=policy).refusal == (500, "InternalError")


def test_a_name_that_is_taken_is_refused(root: Calls, user: str) -> None:
    root.add_key(user, f"{user}-key")
    root.add_user(f"{user}-other")
    for name in (f"{user}-key", user, f"{user}-other"):
        error = add(root, targetUser=user, accessKey=name, secretKey="a-secret-of-a-key").error
        assert error == (400, "InvalidArgument", "access key is already in use"), name
    root_key = add(root, targetUser=user, accessKey=root.access_key, secretKey="a-secret-of-a-key")
    assert root_key.refusal == (400, "InvalidArgument")


def test_a_user_needs_a_right_to_make_keys_and_makes_them_for_itself_alone(root: Calls, user: str) -> None:
    own = root.by(user, "a-secret-of-a-user")
    assert own.admin("PUT", "add-service-account", {}).refusal == (403, "AccessDenied")
    maker = {"Effect": "Allow", "Action": ["admin:CreateServiceAccount"]}
    root.add_policy(f"{user}-maker", maker)
    root.attach(f"{user},{user}-maker", user)
    made = own.admin("PUT", "add-service-account", {}).ok().json["credentials"]
    assert info(root, root.by(made["accessKey"], ""))["parentUser"] == user
    root.add_user(f"{user}-other")
    for target in (f"{user}-other", root.access_key):
        refused = own.admin("PUT", "add-service-account", {"targetUser": target})
        assert refused.refusal == (403, "AccessDenied"), target


def test_info_access_key_knows_users_and_keys(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key")
    found = root.admin("GET", "info-access-key", accessKey=key.access_key).ok().json
    assert (found["parentUser"], found["userType"], found["userProvider"]) == (user, "Service Account", "builtin")
    assert root.admin("GET", "info-access-key", accessKey=user).ok().json["userType"] == "User"
    unknown = root.admin("GET", "info-access-key", accessKey=f"{user}-x")
    assert unknown.error == (400, "InvalidRequest", "access key not exist")


def test_list_of_a_user_has_state_and_end_of_its_keys(root: Calls, user: str) -> None:
    root.add_key(user, f"{user}-1", name="one", expiration=LATER)
    root.add_key(user, f"{user}-2", policy=READ_A)
    accounts = root.admin("GET", "list-service-accounts", user=user).ok().json["accounts"]
    common = {"parentUser": user, "accountStatus": "on"}
    one = {**common, "impliedPolicy": True, "accessKey": f"{user}-1", "name": "one", "expiration": LATER}
    two = {**common, "impliedPolicy": False, "accessKey": f"{user}-2", "expiration": None}
    assert sorted(accounts, key=lambda account: account["accessKey"]) == [one, two]
    assert root.admin("GET", "list-service-accounts", user=f"{user}-x").ok().json == {"accounts": []}


def test_everybody_may_list_the_keys_beneath_itself_and_nobody_elses(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key")
    for who in (key, root.by(user, "a-secret-of-a-user")):
        (account,) = who.admin("GET", "list-service-accounts").ok().json["accounts"]
        assert (account["accessKey"], account["parentUser"]) == (f"{user}-key", user)
    assert key.admin("GET", "list-service-accounts", user=root.access_key).refusal == (403, "AccessDenied")


def test_the_bulk_list_leaves_parents_and_states_empty(root: Calls, user: str) -> None:
    root.add_key(user, f"{user}-key", name="one")
    shown = {"parentUser": "", "accountStatus": "", "impliedPolicy": False, "accessKey": f"{user}-key", "name": "one"}
    expected = {"serviceAccounts": [{**shown, "expiration": None}], "stsKeys": []}
    query = {"all": "true", "listType": "svcacc-only"}
    assert root.admin("GET", "list-access-keys-bulk", **query).ok().json[user] == expected
    assert root.admin("GET", "list-access-keys-bulk", users=user).ok().json == {user: expected}
    both = root.admin("GET", "list-access-keys-bulk", all="true", users=user)
    assert both.refusal == (400, "InvalidRequest")
    unknown = root.admin("GET", "list-access-keys-bulk", all="true", listType="x")
    assert unknown.refusal == (400, "InvalidRequest")
