# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules refuse before they write anything, and the proof that the server really refuses it, too.

Each row goes through the module in check mode and for real, and then raw to the server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import (
    rustfs_access_key,
    rustfs_group,
    rustfs_policy,
    rustfs_user,
)
from tests.contract.matrix import ADMIN, Bench, bench_on
from tests.contract.s3_server import Server

READER = readonly_prefix_policy("models", "opt-125m")
SECRET = "secret-of-somebody"
WHO = "{0}who"
"""Stands for the prefix of the test, as {root} does for the root key."""


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server, hidden=(SECRET,))
    yield found
    found.clear()


def add_user(name: str, secret: str = SECRET) -> tuple[str, str, dict[str, str], dict[str, Any]]:
    return "PUT", "add-user", {"accessKey": name}, {"secretKey": secret, "status": "enabled"}


def add_key(**fields: Any) -> tuple[str, str, dict[str, str], dict[str, Any]]:
    given = {"targetUser": "{root}", "accessKey": WHO, "secretKey": SECRET, **fields}
    return "PUT", "add-service-account", {}, given


def add_group(name: str, *members: str) -> tuple[str, str, dict[str, str], dict[str, Any]]:
    body = {"group": name, "members": list(members), "groupStatus": "enabled", "isRemove": False}
    return "PUT", "update-group-members", {}, body


def user(**params: Any) -> tuple[ModuleType, dict[str, Any]]:
    return rustfs_user, {"name": WHO, **params}


def key(**params: Any) -> tuple[ModuleType, dict[str, Any]]:
    return rustfs_access_key, {"key": WHO, "secret": SECRET, "user": "{root}", **params}


LARGE = readonly_prefix_policy("models", [f"{number:04d}" for number in range(200)])
BARE_STAR = json.loads(json.dumps(READER).replace("arn:aws:s3:::models/opt-125m/*", "*"))
PAST = "2020-01-01T00:00:00Z"

# What is given to the module, a part of its message, and the raw call that the server refuses.
ROWS: dict[str, tuple[tuple[ModuleType, dict[str, Any]], str, tuple[str, str, dict[str, str], Any]]] = {
    "policy without a name": (
        (rustfs_policy, {"name": "", "policy": READER}),
        "the name of the policy is ''",
        ("PUT", "add-canned-policy", {"name": ""}, READER),
    ),
    "policy with a blank": (
        (rustfs_policy, {"name": "{0}a b", "policy": READER}),
        "RustFS takes no blanks in it",
        ("PUT", "add-canned-policy", {"name": "{0}a b"}, READER),
    ),
    "policy with a comma": (
        (rustfs_policy, {"name": "{0}a,b", "policy": READER}),
        "a name with a comma could be stored, but never attached or read",
        ("GET", "info-canned-policy", {"name": "{0}a,b"}, None),
    ),
    "built-in policy removed": (
        (rustfs_policy, {"name": "readonly", "state": "absent"}),
        "it is built into RustFS",
        ("DELETE", "remove-canned-policy", {"name": "readonly"}, None),
    ),
    "user of 2 bytes": (user(name="ab"), "the user 'ab' has 2 bytes; RustFS wants at least 3", add_user("ab")),
    "user with =": (user(name="a=b{0}"), "has '=' in it", add_user("a=b{0}")),
    "user with a comma": (user(name="a,b{0}"), "has ',' in it", add_user("a,b{0}")),
    "user with a blank": (user(name="a b{0}"), "has ' ' in it", add_user("a b{0}")),
    "user with a tab": (user(name="a\tb{0}"), "has '\\t' in it", add_user("a\tb{0}")),
    "user with a short secret": (
        user(secret="1234567"),
        "secret has 7 bytes; RustFS takes at least 8",
        add_user(WHO, "1234567"),
    ),
    "root as user": (user(name="{root}", secret=SECRET), "it is the root user", add_user("{root}")),
    "root removed": (
        user(name="{root}", state="absent"),
        "it is the root user",
        ("DELETE", "remove-user", {"accessKey": "{root}"}, None),
    ),
    "policies of root": (
        user(name="{root}", policies=["readonly"]),
        "it is the root user",
        (
            "PUT",
            "set-user-or-group-policy",
            {"policyName": "readonly", "userOrGroup": "{root}", "isGroup": "false"},
            None,
        ),
    ),
    "policy name with a blank attached": (
        user(policies=["a b"]),
        "policies: the name of the policy is 'a b'",
        ("POST", "idp/builtin/policy/attach", {}, {"policies": ["a b"], "user": WHO}),
    ),
    "group with a comma": ((rustfs_group, {"name": "{0}a,b"}), "has ',' in it", add_group("{0}a,b")),
    "group with =": ((rustfs_group, {"name": "{0}a=b"}), "has '=' in it", add_group("{0}a=b")),
    "group with a blank": ((rustfs_group, {"name": "{0}a b"}), "has ' ' in it", add_group("{0}a b")),
    "group without a name": ((rustfs_group, {"name": ""}), "the group '' has 0 bytes", add_group("")),
    "root in a group": (
        (rustfs_group, {"name": WHO, "members": ["{root}"]}),
        "the root user joins no group",
        add_group("{0}raw", "{root}"),
    ),
    "member of 2 bytes": (
        (rustfs_group, {"name": WHO, "members": ["ab"]}),
        "the member 'ab' has 2 bytes",
        add_group("{0}raw", "ab"),
    ),
    "key of 2 bytes": (key(key="ab"), "the access key 'ab' has 2 bytes", add_key(accessKey="ab")),
    "key of 129 bytes": (key(key="k" * 129), "RustFS takes at most 128", add_key(accessKey="k" * 129)),
    "key with a blank": (key(key="a b{0}"), "has ' ' in it", add_key(accessKey="a b{0}")),
    "root as key": (key(key="{root}"), "it is the one that signs these requests", add_key(accessKey="{root}")),
    "key like its user": (key(user=WHO), "an access key needs a name of its own", add_key(targetUser=WHO)),
    "key with a short secret": (
        key(secret="1234567"),
        "secret has 7 bytes; RustFS takes 8 to 40",
        add_key(secretKey="1234567"),
    ),
    "key with a long secret": (
        key(secret="s" * 41),
        "secret has 41 bytes; RustFS takes 8 to 40",
        add_key(secretKey="s" * 41),
    ),
    "key without a secret": (key(secret=None), "to make it, secret is needed", add_key(secretKey=None)),
    "key with a blank name": (key(name="a b"), "name is 'a b'; RustFS takes letters", add_key(name="a b")),
    "key with a digit first": (key(name="1a"), "the first a letter", add_key(name="1a")),
    "key with a long name": (key(name="n" * 33), "has 33 characters; RustFS takes at most 32", add_key(name="n" * 33)),
    "key with a long description": (
        key(description="d" * 257),
        "description has 257 bytes; RustFS takes at most 256",
        add_key(description="d" * 257),
    ),
    "key that is past": (key(expiration=PAST), f"expiration is {PAST}, which is past", add_key(expiration=PAST)),
    "key until tomorrow": (
        key(expiration="tomorrow"),
        "expiration is 'tomorrow'; expected a time",
        add_key(expiration="tomorrow"),
    ),
    "key with a large policy": (key(policy=LARGE), "RustFS takes at most 4096", add_key(policy=LARGE)),
}


@pytest.mark.parametrize("row", ROWS)
def test_a45_the_same_refusal_in_check_mode_for_real_and_by_the_server(bench: Bench, row: str) -> None:
    (module, params), message, (method, path, query, body) = ROWS[row]
    given = {name: value for name, value in params.items() if value is not None}
    bench.refuses(module, given, message)
    sent = b"" if body is None else json.dumps(bench.filled(body)).encode()
    answer = bench.server.ask(method, ADMIN + path, bench.filled(query) or None, sent)
    assert answer.status >= 400, f"the server takes it: {answer}"


def test_a45_changes_of_a_key_are_refused_alike(bench: Bench) -> None:
    name = bench.name("who")
    bench.done(rustfs_access_key, **bench.filled(key()[1]))
    for params, message, field in (
        ({"expiration": PAST}, "which is past", {"newExpiration": PAST}),
        ({"name": "a b"}, "name is 'a b'", {"newName": "a b"}),
        ({"secret": "1234567", "rotate_secret": True}, "secret has 7 bytes", {"newSecretKey": "1234567"}),
    ):
        bench.refuses(*key(**params), message)
        body = json.dumps(field).encode()
        assert bench.server.ask("POST", f"{ADMIN}update-service-account", {"accessKey": name}, body).status >= 400


def test_a45_a_name_that_is_taken_is_refused_alike(bench: Bench) -> None:
    bench.done(rustfs_user, name=bench.name("somebody"))
    bench.refuses(*key(key="{0}somebody"), "there is a user of that name")
    method, path, query, body = add_key(accessKey=bench.name("somebody"))
    answer = bench.server.ask(method, ADMIN + path, query or None, json.dumps(bench.filled(body)).encode())
    assert answer.status == 400


def test_a45_entries_of_a_list_are_all_checked_before_the_first_is_written(bench: Bench) -> None:
    good = {"name": "{0}good", "policy": READER}
    bad = {"name": "{0}bad", "policy": BARE_STAR}
    bench.refuses(rustfs_policy, {"policies": [good, bad]}, "policy '{0}bad': Statement[1].Resource")
    bench.refuses(rustfs_policy, {"policies": [good, good]}, "policies: {0}good is there more than once")
    bench.refuses(rustfs_policy, {"policies": [good], "policy": READER}, "policy and policies exclude each other")
