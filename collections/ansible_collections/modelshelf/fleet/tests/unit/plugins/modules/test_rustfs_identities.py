# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules for policies, users, groups and access keys up to the server; tests/contract goes on from there."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.doc_fragments import announced, rustfs
from ansible_collections.modelshelf.fleet.plugins.module_utils import _access_keys, _groups, _policies, _users
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_module import Kind
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import connection_options
from ansible_collections.modelshelf.fleet.plugins.modules import (
    rustfs_access_key,
    rustfs_access_key_info,
    rustfs_group,
    rustfs_group_info,
    rustfs_policy,
    rustfs_policy_info,
    rustfs_user,
    rustfs_user_info,
)

COLLECTION = Path(__file__).parents[4]
NOWHERE = {"endpoint": "http://127.0.0.1:9", "access_key": "root", "secret_key": "canary-secret-0", "timeout": 1}
WRITING: dict[ModuleType, Kind] = {
    rustfs_policy: _policies.KIND,
    rustfs_user: _users.KIND,
    rustfs_group: _groups.KIND,
    rustfs_access_key: _access_keys.KIND,
}
READING = [rustfs_policy_info, rustfs_user_info, rustfs_group_info, rustfs_access_key_info]
READER = {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "*", "Resource": "arn:aws:s3:::*"}]}


def run(module: ModuleType, capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    with patch_module_args({**NOWHERE, **arguments, "_ansible_inject_invocation": True}), pytest.raises(SystemExit):
        module.main()
    text = capsys.readouterr().out
    assert "canary-secret" not in text
    result: dict[str, Any] = json.loads(text)
    return result


def documented(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a documentation in the form of an argument spec, texts left out."""
    found = {}
    for name, option in options.items():
        kept = {key: option[key] for key in ("type", "elements", "choices", "default", "required") if key in option}
        nested = {"options": documented(option["suboptions"])} if "suboptions" in option else {}
        found[name] = {**kept, **nested}
    return found


def specified(spec: dict[str, Any]) -> dict[str, Any]:
    """An argument spec without what a documentation does not tell."""
    found = {}
    for name, option in spec.items():
        kept = {key: value for key, value in option.items() if key not in ("no_log", "fallback", "options")}
        nested = {"options": specified(option["options"])} if "options" in option else {}
        found[name] = {**kept, **nested}
    return found


@pytest.mark.parametrize("module", WRITING)
def test_documentation_and_argument_spec_agree(module: ModuleType) -> None:
    options = yaml.safe_load(module.DOCUMENTATION)["options"]
    for fragment in (announced, rustfs):
        options |= yaml.safe_load(fragment.ModuleDocFragment.DOCUMENTATION)["options"]
    assert documented(options) == specified(WRITING[module].argument_spec())


@pytest.mark.parametrize("module", READING)
def test_documentation_and_options_of_reading_modules_agree(module: ModuleType) -> None:
    assert documented(yaml.safe_load(module.DOCUMENTATION)["options"]) == specified(module.OPTIONS)


def test_every_module_is_in_the_action_group() -> None:
    group = yaml.safe_load((COLLECTION / "meta" / "runtime.yml").read_text())["action_groups"]["rustfs"]
    assert {module.__name__.rpartition(".")[2] for module in (*WRITING, *READING)} <= set(group)


def test_secrets_of_the_argument_specs_are_never_logged() -> None:
    for kind in WRITING.values():
        spec = kind.argument_spec()
        for options in (spec, spec[kind.plural]["options"]):
            for name in {"secret", "secret_key"} & set(options):
                assert options[name]["no_log"] is True


def test_a35_nested_secrets_are_masked_in_the_invocation_too(capsys: pytest.CaptureFixture[str]) -> None:
    entries = [{"name": "alice", "secret": "canary-secret-1"}]
    told = run(rustfs_user, capsys, users=entries)["invocation"]["module_args"]["users"][0]
    assert told["name"] == "alice"
    assert told["secret"] not in (None, "canary-secret-1")
    keys = [{"key": "key-1", "secret": "canary-secret-2", "user": "alice", "description": "not canary-secret-2, is it"}]
    told = run(rustfs_access_key, capsys, access_keys=keys)["invocation"]["module_args"]["access_keys"][0]
    assert told["key"] == "key-1"
    assert told["secret"] not in (None, "canary-secret-2")


def test_the_connection_may_come_from_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"ENDPOINT": "http://127.0.0.1:9", "ACCESS_KEY": "from-env", "SECRET_KEY": "canary-secret-3"}
    for name, value in {**given, "REGION": "eu", "CA_FILE": "/no/ca.pem", "VALIDATE_CERTS": "false"}.items():
        monkeypatch.setenv(f"RUSTFS_{name}", value)
    with patch_module_args({"name": "alice", "_ansible_inject_invocation": True}), pytest.raises(SystemExit):
        rustfs_user.main()
    result = json.loads(capsys.readouterr().out)
    assert "ca_file is /no/ca.pem" in result["msg"]
    told = result["invocation"]["module_args"]
    assert (told["access_key"], told["region"], told["validate_certs"]) == ("from-env", "eu", False)
    assert "canary-secret-3" not in str(result)


ENTRIES: dict[ModuleType, dict[str, Any]] = {
    rustfs_policy: {"name": "reader", "policy": READER},
    rustfs_user: {"name": "alice"},
    rustfs_group: {"name": "readers"},
    rustfs_access_key: {"key": "key-1", "secret": "canary-secret-4", "user": "alice"},
}


@pytest.mark.parametrize("module", WRITING)
def test_a34_dry_run_without_a_store_tells_what_would_be_made(
    module: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []  # a result has warnings only where nothing of Ansible's controller is in the process
    monkeypatch.setattr(AnsibleModule, "warn", lambda _self, text, **_others: warned.append(text))
    result = run(module, capsys, **ENTRIES[module], _ansible_check_mode=True)
    assert (result["changed"], result["results"][0]["actions"]) == (True, ["create"])
    assert "The store was taken for empty" in str(warned)
    listed = run(module, capsys, **{WRITING[module].plural: [ENTRIES[module]]}, _ansible_check_mode=True)
    assert (listed["results"], listed["others"]) == (result["results"], [])


@pytest.mark.parametrize("module", WRITING)
def test_real_run_without_a_store_fails(module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(module, capsys, **ENTRIES[module])
    assert "(endpoint http://127.0.0.1:9): no answer" in result["msg"]


@pytest.mark.parametrize("module", READING)
def test_reading_without_a_store(module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no answer" in run(module, capsys)["msg"]
    result = run(module, capsys, _ansible_check_mode=True)
    assert result["changed"] is False
    plural = module.__name__.rpartition(".rustfs_")[2].removesuffix("_info").replace("policy", "policie") + "s"
    assert result[plural] == []


@pytest.mark.parametrize(
    ("module", "arguments", "message"),
    [
        (rustfs_policy, {}, "one of the following is required: name, policies"),
        (rustfs_policy, {"name": "a", "policies": []}, "mutually exclusive"),
        (rustfs_policy, {"name": "a"}, "policy 'a': the policy is missing"),
        (rustfs_policy, {"name": "a", "state": "absent", "policy": READER}, "state is absent, and a policy is given"),
        (rustfs_policy, {"policies": [{"policy": READER}]}, "missing required arguments: name"),
        (rustfs_policy, {"name": "a", "policy": READER, "remove_others": True}, "remove_others is set without a list"),
        (rustfs_user, {"users": [{"name": "abc"}], "status": "enabled"}, "status and users exclude each other"),
        (rustfs_user, {"users": [{"name": "abc"}, {"name": "abc"}]}, "users: abc is there more than once"),
        (rustfs_user, {"name": "abc", "rotate_secret": True}, "rotate_secret is set without a secret"),
        (rustfs_user, {"name": "abc", "status": "on"}, "value of status must be one of"),
        (rustfs_user, {"name": "abc", "endpoint": "store1:9000"}, "http://host:port"),
        (rustfs_user, {"name": "abc", "endpoint": "http://root:x@store1"}, "without user and path"),
        (rustfs_user, {"name": "abc", "timeout": 0}, "timeout is 0"),
        (rustfs_user, {"name": "abc", "access_key": ""}, "access_key is empty"),
        (rustfs_group, {"name": "g" * 257}, "has 257 bytes; RustFS takes 1 to 256"),
        (rustfs_access_key, {"key": "siteReplicatorSvcAcc", "state": "absent"}, "it is reserved"),
        (rustfs_access_key, {"key": "a=b=c"}, "has '=' in it, which a signature cannot carry"),
        (rustfs_access_key, {"key": "schlüssel"}, "'schlüssel' has 'ü' in its name, which a signature cannot carry"),
        (rustfs_user, {"name": "zoë", "secret": "secret-of-zoë"}, "user 'zoë' has 'ë' in its name, which a signature"),
    ],
)
@pytest.mark.parametrize("check_mode", [True, False])
def test_unusable_parameters(
    module: ModuleType,
    arguments: dict[str, Any],
    message: str,
    check_mode: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = run(module, capsys, **arguments, _ansible_check_mode=check_mode)
    assert result["failed"] is True
    assert message in result["msg"]


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        (rustfs_user, {"name": "zoë"}),
        (rustfs_user, {"name": "zoë", "state": "absent"}),
        (rustfs_group, {"name": "läser", "members": ["zoë"]}),
        (rustfs_policy, {"name": "läser", "policy": READER}),
        (rustfs_access_key, {"key": "schlüssel", "state": "absent"}),
    ],
)
def test_what_does_not_sign_may_have_any_letters(
    module: ModuleType, arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no answer" in run(module, capsys, **arguments)["msg"]


def test_a_policy_larger_than_a_request_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    large = {**READER, "Statement": READER["Statement"] * 20_000}
    assert "RustFS takes at most 1048576" in run(rustfs_policy, capsys, name="large", policy=large)["msg"]


def test_entries_of_a_list_take_the_defaults_of_the_task() -> None:
    params = {name: option.get("default") for name, option in _policies.KIND.argument_spec().items()}
    params |= {"state": "absent", "detach": True, "policies": [{"name": "a"}, {"name": "b", "state": "present"}]}
    assert [(item["name"], item["state"], item["detach"]) for item in _policies.KIND.entries(params)] == [
        ("a", "absent", True),
        ("b", "present", True),
    ]


def test_connection_options_are_those_of_the_fragment() -> None:
    fragment = yaml.safe_load(rustfs.ModuleDocFragment.DOCUMENTATION)["options"]
    assert documented(fragment) == specified(connection_options())
