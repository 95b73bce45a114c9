# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server has beyond a list: told, and removed when told."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.modules import (
    rustfs_access_key,
    rustfs_group,
    rustfs_policy,
    rustfs_user,
)
from tests.contract.matrix import READER, bench_on, one_of_each
from tests.support.rustfs_server import RunningServer

SECRET = "canary-secret-of-somebody"


def test_others_are_told_and_removed_only_when_told(fresh_server: RunningServer) -> None:
    bench = bench_on(fresh_server)
    for module, params in one_of_each(bench, SECRET).items():
        bench.done(module, **params)
    mine: dict[ModuleType, tuple[str, list[dict[str, Any]], list[str]]] = {
        rustfs_access_key: ("access_keys", [], [bench.name("key")]),
        rustfs_group: ("groups", [{"name": "kept"}], [bench.name("group")]),
        rustfs_user: ("users", [{"name": "kept"}], [bench.name("user")]),
        rustfs_policy: ("policies", [{"name": "kept", "policy": READER}], [bench.name("policy")]),
    }
    for module, (plural, entries, others) in mine.items():
        bench.done(module, **{plural: entries})
        quiet = bench.done(module, **{plural: entries})
        assert (quiet["changed"], quiet["others"]) == (False, others)
        refusal = bench.failure(module, **one_of_each(bench, SECRET)[module], remove_others=True)
        assert "remove_others is set without a list" in refusal
    for module, (plural, entries, others) in mine.items():
        before = bench.state()
        announced = bench.done(module, check_mode=True, **{plural: entries}, remove_others=True)
        assert bench.state() == before
        done = bench.done(module, **{plural: entries}, remove_others=True)
        assert (done["results"], done["diff"]) == (announced["results"], announced["diff"])
        assert [line["name"] for line in done["results"] if line["changed"]] == others
        again = bench.done(module, **{plural: entries}, remove_others=True)
        assert (again["changed"], again["others"]) == (False, [])
    state = bench.state()
    assert (list(state["users"]), list(state["groups"]), state["keys"]) == (["kept"], ["kept"], {})
    assert "readonly" in state["policies"]


def test_others_leave_the_key_that_signs_and_users_out_of_reach(fresh_server: RunningServer) -> None:
    bench = bench_on(fresh_server)
    for name in ("admin", "one", "two"):
        bench.done(rustfs_user, name=name, secret=SECRET, policies=["consoleAdmin"] if name == "admin" else [])
        bench.done(rustfs_access_key, key=f"key-of-{name}", secret=SECRET, user=name)
    told = bench.done(rustfs_access_key, access_keys=[], of_users=["one"])
    assert told["others"] == ["key-of-one"]
    signer = {"access_key": "key-of-admin", "secret_key": SECRET}
    assert bench.done(rustfs_access_key, access_keys=[], **signer)["others"] == ["key-of-one", "key-of-two"]
    for name in ("key-of-admin", "admin"):
        bench.done(rustfs_user, users=[], remove_others=True, access_key=name, secret_key=SECRET)
        assert list(bench.state()["users"]) == ["admin"]
