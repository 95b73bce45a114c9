# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the server has for one access key: which requests tell it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    BadSignature,
    NotPermitted,
    Refused,
    StoreError,
    UnknownKey,
    Unsupported,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._key_state import Key, key_from, look, parse_time
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import KeyState
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.fake_client import FakeClient

LISTED = {"accessKey": "k", "parentUser": "alice", "name": "mount", "description": None, "expiration": None}
OWN = {"accessKey": "k", "parentUser": "alice", "accountStatus": "on", "impliedPolicy": True}
POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}]}


def test_the_key_itself_tells_status_and_inheritance_in_one_call() -> None:
    client = FakeClient(list_service_accounts={"accounts": [{"accessKey": "other"}, OWN]})
    found, state = look(client, "k", LISTED, "secret-1", inline=False)
    assert (found, state) == (Key("alice", name="mount"), KeyState.GOOD)
    assert client.calls == {"list-service-accounts": 1}


def test_a_policy_of_its_own_is_read_by_the_administrator() -> None:
    own = {"accounts": [{**OWN, "impliedPolicy": False}]}
    info = {**OWN, "impliedPolicy": False, "policy": json.dumps(POLICY)}
    client = FakeClient(list_service_accounts=own, info_service_account=info)
    found, _state = look(client, "k", LISTED, "secret-1", inline=False)
    assert found.policy is not None and found.policy["Statement"][0]["Action"] == ["s3:*"]
    assert client.calls == {"list-service-accounts": 1, "info-service-account": 1}


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (BadSignature("x"), KeyState.WRONG_SECRET),
        (UnknownKey("x"), KeyState.UNKNOWN),
        (NotPermitted("check key failed"), KeyState.REFUSED),
        ({"accounts": []}, KeyState.GOOD),
    ],
)
def test_what_the_key_does_not_tell_the_administrator_asks(answer: Any, state: KeyState) -> None:
    client = FakeClient(list_service_accounts=answer, info_service_account={**OWN, "accountStatus": "off"})
    found, told = look(client, "k", LISTED, "secret-1", inline=False)
    assert (found.enabled, told) == (False, state)
    assert client.calls == {"list-service-accounts": 1, "info-service-account": 1}


@pytest.mark.parametrize("answer", [Unsupported("501"), StoreError("500")])
def test_a_server_that_does_not_let_the_key_list_is_asked_in_the_plain_way(answer: StoreError) -> None:
    client = FakeClient(list_service_accounts=answer, is_admin={}, info_service_account=OWN)
    assert look(client, "k", LISTED, "secret-1", inline=False)[1] is KeyState.GOOD
    assert client.calls == {"list-service-accounts": 1, "is-admin": 1, "info-service-account": 1}


def test_without_a_secret_nothing_is_signed_by_the_key() -> None:
    client = FakeClient(info_service_account=OWN)
    assert look(client, "k", LISTED, None, inline=False)[1] is KeyState.GOOD
    assert client.calls == {"info-service-account": 1}


def test_the_parents_policy_of_an_inheriting_key_is_not_taken_for_its_own() -> None:
    assert key_from({**OWN, "policy": json.dumps(POLICY)}).policy is None


def test_times_are_compared_in_utc_and_whole_seconds() -> None:
    moments = {parse_time("x", text) for text in ("2099-01-01T00:00:00Z", "2099-01-01t01:00:00.25+01:00")}
    assert len(moments) == 1
    assert key_from({**OWN, "expiration": "1970-01-01T00:00:00Z"}).expiration is None
    beyond = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00")
    for text in ("tomorrow", "2099-01-01", "2099-13-01T00:00:00Z", "2099-01-01T00:00:00", "", *beyond):
        with pytest.raises(Refused, match="expected a time such as"):
            parse_time("access key 'k'", text)
