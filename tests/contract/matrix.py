# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules run in this process against a server, the twelve steps of a module, and what a server has of identities.

The twelve steps are create, modify and delete, each in check mode, for real, in check mode again, and again.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest import mock

from ansible.module_utils import basic
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common import warnings as ansible_warnings
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.modules import (
    rustfs_access_key,
    rustfs_group,
    rustfs_policy,
    rustfs_user,
)
from tests.contract.s3_server import Server

ADMIN = "/rustfs/admin/v3/"
READER = readonly_prefix_policy("models", "opt-125m")


@dataclass(frozen=True)
class Bench:
    """A server, and a prefix for the names of one test. `secrets` must be in no output."""

    server: Server
    prefix: str
    secrets: tuple[str, ...] = ()

    def name(self, rest: str) -> str:
        """A name that no other test uses."""
        return f"{self.prefix}-{rest}"

    def run(self, module: ModuleType, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """The result of a module's main() as Ansible would get it, failures too."""
        connection = {
            "endpoint": self.server.endpoint,
            "access_key": self.server.access_key,
            "secret_key": self.server.secret_key,
            "timeout": 10,
        }
        arguments = {**connection, **params, "_ansible_check_mode": check_mode, "_ansible_diff": True}
        arguments["_ansible_inject_invocation"] = True
        for name in ("_global_warnings", "_global_deprecations"):
            getattr(ansible_warnings, name).clear()
        output, logged = io.StringIO(), []
        with (
            patch_module_args(arguments),
            redirect_stdout(output),
            suppress(SystemExit),
            mock.patch.object(AnsibleModule, "_log_to_syslog", lambda _module, text: logged.append(text)),
            mock.patch.object(basic, "has_journal", False),
        ):
            module.main()
        text = output.getvalue()
        assert logged, "the module logged nothing, so that the log was not looked at"
        for secret in (self.server.secret_key, *self.secrets):
            assert secret not in text, f"a secret is in the output of {module.__name__}"
            assert secret not in "".join(logged), f"a secret is in the log of {module.__name__}"
        result: dict[str, Any] = json.loads(text)
        result.pop("invocation", None)
        return result

    def done(self, module: ModuleType, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """The result of a run that must not fail."""
        result = self.run(module, check_mode=check_mode, **params)
        assert not result.get("failed"), result["msg"]
        return result

    def failure(self, module: ModuleType, *, check_mode: bool = False, **params: Any) -> str:
        """The message of a run that must fail, and must not change anything."""
        before = self.state()
        result = self.run(module, check_mode=check_mode, **params)
        assert result.get("failed"), f"no failure, but {result}"
        assert self.state() == before
        return str(result["msg"])

    def filled(self, value: Any) -> Any:
        """`value` with the prefix for {0} and the root key for {root}."""
        text = json.dumps(value).replace("{0}", f"{self.prefix}-").replace("{root}", self.server.access_key)
        return json.loads(text)

    def refuses(self, module: ModuleType, params: Mapping[str, Any], message: str) -> None:
        """Asserts that a module refuses in check mode and for real, with the same words and without a change."""
        told = [self.failure(module, check_mode=check_mode, **self.filled(params)) for check_mode in (True, False)]
        assert told[0] == told[1]
        assert self.filled(message) in told[0], told[0]

    def twelve_steps(
        self,
        module: ModuleType,
        create: Mapping[str, Any],
        modify: Mapping[str, Any],
        delete: Mapping[str, Any],
        also: Callable[[], object] = lambda: None,
    ) -> list[dict[str, Any]]:
        """Asserts what check mode, the real run and their repetitions tell and do. Returns the three real results.

        `also` is more of the server's state than state() tells, such as whether a secret signs.
        """
        results = []
        for params in (create, modify, delete):
            before = (self.state(), also())
            announced = self.done(module, check_mode=True, **params)
            assert (self.state(), also()) == before, "check mode changed the server"
            done = self.done(module, **params)
            after = (self.state(), also())
            assert after != before, "a real run changed nothing"
            assert done["changed"] is True
            assert _told(announced) == _told(done), "check mode told something else than the real run did"
            assert done["diff"]["before"] != done["diff"]["after"]
            for check_mode in (True, False):
                again = self.done(module, check_mode=check_mode, **params)
                assert (again["changed"], again["diff"]) == (False, {"before": "", "after": ""})
                assert [item["actions"] for item in again["results"]] == [[] for _item in again["results"]]
                assert (self.state(), also()) == after
            results.append(done)
        return results

    def ask(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> Any:
        """What the server answers to the root user, parsed; a failure of the test for a status from 300 on."""
        sent = b"" if body is None else json.dumps(body).encode()
        answer = self.server.ask(method, ADMIN + path, query, sent)
        assert answer.status < 300, f"{method} {path} {query}: {answer.status} {answer.body!r}"
        return json.loads(answer.body) if answer.body else None

    def signs(self, access_key: str, secret: str) -> int:
        """The status of a request that a pair signs."""
        return self.server.ask("GET", f"{ADMIN}is-admin", key=(access_key, secret)).status

    def state(self) -> dict[str, Any]:
        """All that the server has of identities, but for times and secrets."""
        keys = {
            item["accessKey"]: self.ask("GET", "info-service-account", {"accessKey": item["accessKey"]})
            for owned in self.ask("GET", "list-access-keys-bulk", {"all": "true", "listType": "svcacc-only"}).values()
            for item in owned["serviceAccounts"]
        }
        found = {
            "users": self.ask("GET", "list-users"),
            "policies": self.ask("GET", "list-canned-policies"),
            "groups": {name: self.ask("GET", "group", {"group": name}) for name in self.ask("GET", "groups")},
            "keys": keys,
        }
        return _sorted(found)

    def clear(self) -> None:
        """Removes what has this test's prefix."""
        state = self.state()
        mine = {kind: [name for name in names if name.startswith(self.prefix)] for kind, names in state.items()}
        for key in mine["keys"]:
            self.ask("DELETE", "delete-service-account", {"accessKey": key})
        for group in mine["groups"]:
            body = {"group": group, "members": state["groups"][group]["members"], "groupStatus": "enabled"}
            self.ask("PUT", "update-group-members", body={**body, "isRemove": True})
            if body["members"]:
                self.ask("PUT", "update-group-members", body={**body, "members": [], "isRemove": True})
        for user in mine["users"]:
            self.ask("DELETE", "remove-user", {"accessKey": user})
        for policy in mine["policies"]:
            self.ask("DELETE", "remove-canned-policy", {"name": policy})


def bench_on(server: Server, hidden: Iterable[str] = ()) -> Bench:
    """A bench with a prefix of its own."""
    return Bench(server, f"m{secrets.token_hex(4)}", tuple(hidden))


def one_of_each(bench: Bench, secret: str) -> dict[ModuleType, dict[str, Any]]:
    """Parameters for one object of each kind, the later ones referring to the earlier."""
    policy, user = bench.name("policy"), bench.name("user")
    return {
        rustfs_policy: {"name": policy, "policy": READER},
        rustfs_user: {"name": user, "secret": secret, "policies": [policy]},
        rustfs_group: {"name": bench.name("group"), "members": [user], "policies": [policy]},
        rustfs_access_key: {"key": bench.name("key"), "secret": secret, "user": user, "policy": READER},
    }


def _told(result: Mapping[str, Any]) -> tuple[Any, ...]:
    return result["changed"], result["results"], result["diff"]


def _sorted(value: Any) -> Any:
    """The same value without times, and lists in one order: the server has none."""
    if isinstance(value, dict):
        return {name: _sorted(item) for name, item in sorted(value.items()) if name != "updatedAt"}
    if isinstance(value, list):
        return sorted((_sorted(item) for item in value), key=repr)
    return value
