# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules for identities share: who may ask, what is refused, dry runs on an empty store, and calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import (
    rustfs_access_key,
    rustfs_access_key_info,
    rustfs_bucket,
    rustfs_group,
    rustfs_group_info,
    rustfs_policy,
    rustfs_policy_info,
    rustfs_user,
    rustfs_user_info,
)
from tests.contract.matrix import READER, Bench, bench_on, one_of_each
from tests.contract.s3_server import Server
from tests.support.rustfs_server import RunningServer

SECRET = "canary-secret-of-somebody"


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server, hidden=(SECRET,))
    yield found
    found.clear()


def absent(params: dict[str, Any]) -> dict[str, Any]:
    return {**{name: params[name] for name in ("name", "key") if name in params}, "state": "absent"}


@pytest.fixture
def strangers(bench: Bench) -> dict[str, tuple[dict[str, str], str]]:
    """Connection options that a server does not accept, with what the message must say."""
    off, plain = bench.name("off"), bench.name("plain")
    for name, status in ((off, "disabled"), (plain, "enabled")):
        bench.ask("PUT", "add-user", {"accessKey": name}, {"secretKey": SECRET, "status": status})
    return {
        "wrong key": (
            {"access_key": "wrong-root", "secret_key": SECRET},
            "InvalidAccessKeyId.*does not know the key: check the access key 'wrong-root'",
        ),
        "wrong secret": (
            {"secret_key": SECRET},
            f"SignatureDoesNotMatch.*check the access key '{bench.server.access_key}' and its secret",
        ),
        "disabled key": (
            {"access_key": off, "secret_key": SECRET},
            f"ErrAccessKeyDisabled: the access key '{off}' is switched off",
        ),
        "key without the right": (
            {"access_key": plain, "secret_key": SECRET},
            f"AccessDenied.*check the access key '{plain}', its secret and its policy",
        ),
    }


@pytest.mark.parametrize("stranger", ["wrong key", "wrong secret", "disabled key", "key without the right"])
def test_a40_who_may_not_ask_is_told_so(
    bench: Bench, strangers: dict[str, tuple[dict[str, str], str]], stranger: str
) -> None:
    connection, message = strangers[stranger]
    kinds = one_of_each(bench, SECRET)
    for module, params in kinds.items():
        bench.done(module, **params)
    for module, params in kinds.items():
        for wanted in (params, absent(params)):
            for check_mode in (True, False):
                told = bench.failure(module, check_mode=check_mode, **{**wanted, **connection})
                assert re.search(message, told), told
    for module in (rustfs_policy_info, rustfs_user_info, rustfs_group_info, rustfs_access_key_info):
        assert re.search(message, bench.failure(module, **connection))


def test_a44_dry_run_of_a_whole_play_on_an_empty_store(fresh_server: RunningServer) -> None:
    bench = bench_on(fresh_server, hidden=(SECRET,))
    play = {rustfs_bucket: {"name": "models", "versioning": "enabled"}, **one_of_each(bench, SECRET)}
    before = bench.state()
    announced = {module: bench.done(module, check_mode=True, **params) for module, params in play.items()}
    assert bench.state() == before
    assert all(result["changed"] for result in announced.values())
    texts = {module: " ".join(map(str, result.get("warnings", ()))) for module, result in announced.items()}
    assert f"policies has {bench.name('policy')}, which is not on the store" in texts[rustfs_user]
    assert f"members has {bench.name('user')}, and there is no such user" in texts[rustfs_group]
    assert f"user is '{bench.name('user')}', and there is no such user" in texts[rustfs_access_key]
    done = {module: bench.done(module, **params) for module, params in play.items()}
    for module in play:
        assert (done[module]["results"], done[module]["diff"]) == (
            announced[module]["results"],
            announced[module]["diff"],
        )
        assert not done[module].get("warnings")
        assert bench.done(module, check_mode=True, **play[module])["changed"] is False


def test_a44_dry_run_without_a_store_takes_it_for_empty(fresh_server: RunningServer) -> None:
    bench = bench_on(fresh_server)
    kinds = one_of_each(bench, SECRET)
    fresh_server.stop()
    for module, params in kinds.items():
        result = bench.run(module, check_mode=True, **params, timeout=1)
        assert result["changed"] is True
        assert "The store was taken for empty" in str(result["warnings"])
        assert bench.run(module, check_mode=True, **absent(params), timeout=1)["changed"] is False
        assert re.search(r"no answer.*tried \d+ times", bench.run(module, **params, timeout=1)["msg"])


@pytest.mark.parametrize(
    ("module", "params", "message"),
    [
        (
            rustfs_user,
            {"name": "{0}user", "policies": ["{0}no-such"]},
            "policies has {0}no-such, which is not on the store",
        ),
        (
            rustfs_group,
            {"name": "{0}group", "policies": ["{0}no-such"]},
            "policies has {0}no-such, which is not on the",
        ),
        (
            rustfs_group,
            {"name": "{0}group", "members": ["{0}nobody"]},
            "members has {0}nobody, and there is no such user",
        ),
        (
            rustfs_access_key,
            {"key": "{0}key", "secret": SECRET, "user": "{0}nobody"},
            "user is '{0}nobody', and there is no such user",
        ),
    ],
)
def test_a45_what_a_real_run_needs_is_looked_for_before_it_writes(
    bench: Bench, module: ModuleType, params: dict[str, Any], message: str
) -> None:
    wanted = json.loads(json.dumps(params).replace("{0}", f"{bench.prefix}-"))
    assert message.replace("{0}", f"{bench.prefix}-") in bench.failure(module, **wanted)


def test_a46_a_quiet_run_over_fifty_of_each_takes_few_calls(fresh_server: RunningServer) -> None:
    bench = bench_on(fresh_server, hidden=(SECRET,))
    names = [f"model-{number:02d}" for number in range(50)]
    kinds: dict[ModuleType, dict[str, Any]] = {
        rustfs_policy: {
            "policies": [{"name": name, "policy": readonly_prefix_policy("models", name)} for name in names]
        },
        rustfs_user: {"users": [{"name": name, "policies": [name]} for name in names]},
        rustfs_access_key: {
            "access_keys": [
                {
                    "key": f"{name}-key",
                    "secret": SECRET,
                    "user": name,
                    **({"policy": READER} if name == names[7] else {}),
                }
                for name in names
            ]
        },
    }
    for module, params in kinds.items():
        assert [item["changed"] for item in bench.done(module, **params)["results"]] == [True] * 50
    calls = {module: bench.done(module, **params)["calls"] for module, params in kinds.items()}
    assert calls[rustfs_policy] == {"GET list-canned-policies": 1}
    assert calls[rustfs_user] == {"GET list-users": 1}
    assert calls[rustfs_access_key] == {
        "GET list-access-keys-bulk": 1,
        "GET list-service-accounts (by the key itself)": 49,
        "GET is-admin (by the key itself)": 1,
        "GET info-service-account": 1,
    }
    with_secrets = {"users": [{"name": name, "secret": SECRET, "rotate_secret": True} for name in names]}
    bench.done(rustfs_user, **with_secrets)
    quiet = bench.done(rustfs_user, **with_secrets)
    assert (quiet["changed"], quiet["calls"]) == (
        False,
        {"GET list-users": 1, "GET is-admin (by the key itself)": 50},
    )


def test_the_first_failure_says_what_was_done_before_it(bench: Bench) -> None:
    maker, user, policy = bench.name("maker"), bench.name("user"), bench.name("policy")
    allowed = ["ListUsers", "ListServiceAccounts", "ListUserPolicies", "CreateUser"]
    statement = {"Effect": "Allow", "Action": [f"admin:{name}" for name in allowed]}
    bench.done(rustfs_policy, name=policy, policy={"Version": "2012-10-17", "Statement": [statement]})
    bench.done(rustfs_user, name=maker, secret=SECRET, policies=[policy])
    wanted = {"name": user, "policies": [policy], "access_key": maker, "secret_key": SECRET}
    message = bench.run(rustfs_user, **wanted)["msg"]
    expected = f"could not set the policies of the user '{user}'.*AccessDenied.*Done before that: create {user}"
    assert re.search(expected, message), message
    assert user in bench.state()["users"]
