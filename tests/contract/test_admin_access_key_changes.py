# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of service accounts: changed, switched off, deleted, expired (rustfs.md 1.6)."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.contract.replay.calls import VERSION, Calls, Reply, allow

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


def info(root: Calls, key: Calls) -> dict[str, Any]:
    found: dict[str, Any] = root.admin("GET", "info-service-account", accessKey=key.access_key).ok().json
    return found


def update(root: Calls, key: Calls, **body: Any) -> Reply:
    return root.admin("POST", "update-service-account", body, accessKey=key.access_key)


def reads(key: Calls, user: str) -> list[str]:
    """What of the two objects a key may read."""
    return [name for name in ("a/x", "b/x") if key.get(f"{user}/{name}").status == 200]


def test_update_changes_what_it_names_and_answers_204(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key", description="old")
    assert (
        update(
            root, key, newSecretKey="another-secret-1", newDescription="new", newName="n", newExpiration=LATER
        ).status
        == 204
    )
    assert key.signs().refusal == (403, "SignatureDoesNotMatch")
    assert root.by(key.access_key, "another-secret-1").signs().status == 200
    found = info(root, key)
    assert (found["description"], found["name"], found["expiration"]) == ("new", "n", LATER)


def test_update_replaces_a_policy_and_an_empty_one_gives_the_parents_back(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key")
    narrow = {"Version": VERSION, "Statement": [allow("s3:GetObject", f"{user}/b/*")]}
    assert update(root, key, newPolicy=narrow).status == 204
    assert reads(key, user) == ["b/x"]
    assert update(root, key, newPolicy={}).status == 204
    assert reads(key, user) == ["a/x", "b/x"] and info(root, key)["impliedPolicy"] is True


@pytest.mark.parametrize(("status", "shown"), [("off", "off"), ("disabled", "off"), ("nonsense", "off"), ("on", "on")])
def test_update_switches_a_key(root: Calls, user: str, status: str, shown: str) -> None:
    key = root.add_key(user, f"{user}-key")
    update(root, key, newStatus=status).ok()
    assert info(root, key)["accountStatus"] == shown
    if shown == "off":
        assert key.get(f"{user}/a/x").error == (400, "InvalidRequest", "ErrAccessKeyDisabled")
        update(root, key, newStatus="enabled").ok()
    assert key.get(f"{user}/a/x").status == 200


def test_what_update_refuses(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key")
    error = update(root, key, newSecretKey="1234567").error
    assert error == (500, "InternalError", "update service account failed")
    nothing = update(root, root.by(f"{user}-x", ""), newStatus="off")
    assert nothing.error == (404, "NoSuchResource", f"service account '{user}-x' does not exist")
    assert update(root, key, newName="1a").refusal == (400, "InvalidRequest")
    put = root.admin("PUT", "update-service-account", {"newStatus": "on"}, accessKey=key.access_key)
    assert put.refusal == (501, "NotImplemented")


def test_delete_and_delete_again(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key")
    root.admin("DELETE", "delete-service-account", accessKey=key.access_key).ok()
    assert key.signs().refusal == (403, "InvalidAccessKeyId")
    again = root.admin("DELETE", "delete-service-account", accessKey=key.access_key)
    assert again.error == (400, "InvalidRequest", "service account not exist")
    unknown = root.admin("GET", "info-service-account", accessKey=key.access_key)
    assert unknown.error == (404, "NoSuchResource", f"service account '{key.access_key}' does not exist")


def test_the_older_paths_do_the_same(root: Calls, user: str) -> None:
    body = {"targetUser": user, "accessKey": f"{user}-key", "secretKey": "a-secret-of-a-key"}
    root.admin("PUT", "add-service-accounts", body).ok()
    assert root.admin("DELETE", "delete-service-accounts", accessKey=f"{user}-key").status == 200


def test_a_disabled_parent_makes_its_keys_403(root: Calls, user: str) -> None:
    key = root.add_key(user, f"{user}-key")
    root.admin("PUT", "set-user-status", accessKey=user, status="disabled").ok()
    assert key.get(f"{user}/a/x").refusal == (403, "AccessDenied")
    root.admin("PUT", "set-user-status", accessKey=user, status="enabled").ok()
    assert key.get(f"{user}/a/x").status == 200


def test_a_key_that_has_come_to_its_end_signs_no_more(root: Calls, user: str) -> None:
    end = datetime.now(UTC) + timedelta(seconds=2)
    key = root.add_key(user, f"{user}-key", expiration=f"{end:%Y-%m-%dT%H:%M:%SZ}")
    assert key.get(f"{user}/a/x").status == 200
    time.sleep(3)
    assert key.get(f"{user}/a/x").status in (400, 403)


def test_keys_beneath_root_do_all_unless_they_have_a_policy(root: Calls, user: str) -> None:
    key = root.add_key(root.access_key, f"{user}-key")
    assert key.signs().ok().json["is_admin"] is True and reads(key, user) == ["a/x", "b/x"]
    policy = {"Version": VERSION, "Statement": [allow("s3:GetObject", f"{user}/a/*")]}
    narrow = root.add_key(root.access_key, f"{user}-narrow", policy=policy)
    assert reads(narrow, user) == ["a/x"]
