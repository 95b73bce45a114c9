# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drill: identities are kept in a file, the store is lost, and old keys sign again on an empty one."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import InUse
from ansible_collections.modelshelf.fleet.plugins.module_utils._iam_archive import (
    ArchiveFault,
    Vault,
    export_identities,
    import_identities,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client, KeyState
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_iam_export, rustfs_iam_import
from tests.contract.matrix import Bench
from tests.contract.s3_server import Server
from tests.support.rustfs_server import RunningServer, running_server

SECRETS = {"shelf-key-1": "shelf-key-secret-1", "shelf-key-2": "shelf-key-secret-2"}


def run(argv: list[str], *, data: bytes, **_others: Any) -> tuple[int, bytes, bytes]:
    """As AnsibleModule.run_command."""
    done = subprocess.run(argv, input=data, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


PLAIN = Vault("", run)


def client_of(server: RunningServer) -> Client:
    return Client(Admin(server.endpoint, server.access_key, server.secret_key, deadline=10))


@pytest.fixture
def kept(fresh_server: RunningServer) -> Client:
    """A store with a reader, its policy, a group, and two access keys."""
    client = client_of(fresh_server)
    policy = readonly_prefix_policy("models", ["opt-125m"])
    client.put("add-canned-policy", {"name": "reader"}, policy, doing="set up")
    client.put(
        "add-user", {"accessKey": "reader"}, {"secretKey": "reader-secret-1", "status": "enabled"}, doing="set up"
    )
    attach = {"policyName": "reader", "userOrGroup": "reader", "isGroup": "false"}
    client.put("set-user-or-group-policy", attach, doing="set up")
    group = {"group": "readers", "members": ["reader"], "groupStatus": "enabled", "isRemove": False}
    client.put("update-group-members", body=group, doing="set up")
    for key, secret in SECRETS.items():
        body = {"targetUser": "reader", "accessKey": key, "secretKey": secret}
        client.put("add-service-account", body=body, doing="set up")
    return client


@pytest.fixture
def empty(tmp_path: Path, rustfs: Path) -> Iterator[Client]:
    """A new store, as after the loss of the old one."""
    with running_server(tmp_path / "second", rustfs) as server:
        yield client_of(server)


@pytest.fixture(params=["plain", "encrypted"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    if request.param == "plain":
        return PLAIN
    (tmp_path / "password").write_text("a-password\n")
    return Vault(str(tmp_path / "password"), run)


def test_old_keys_sign_again_on_an_empty_store(kept: Client, empty: Client, tmp_path: Path, vault: Vault) -> None:
    file = tmp_path / "identities"
    assert export_identities(kept, file, vault, check_mode=False)
    assert {empty.signs(key, secret) for key, secret in SECRETS.items()} == {KeyState.UNKNOWN}

    announced = import_identities(empty, file, vault, False, check_mode=True)
    assert {empty.signs(key, secret) for key, secret in SECRETS.items()} == {KeyState.UNKNOWN}
    done = import_identities(empty, file, vault, False, check_mode=False)
    assert (done, done["changed"]) == (announced, True)
    made = {(item["kind"], item["name"]) for item in done["results"] if item["actions"] == ["create"]}
    assert made == {
        ("users", "reader"),
        ("groups", "readers"),
        ("policies", "reader"),
        *(("access keys", key) for key in SECRETS),
    }
    assert done["diff"]["before"]["users"] == [] and done["diff"]["after"]["users"] == ["reader"]

    assert {empty.signs(key, secret) for key, secret in SECRETS.items()} == {KeyState.GOOD}
    assert empty.signs("reader", "reader-secret-1") is KeyState.GOOD
    assert empty.get("user-info", {"accessKey": "reader"}, doing="look")["policyName"] == "reader"
    assert empty.get("group", {"group": "readers"}, doing="look")["members"] == ["reader"]
    assert "reader" in empty.get("list-canned-policies", doing="look")
    again = import_identities(empty, file, vault, False, check_mode=False)
    assert not again["changed"] and again["diff"]["before"] == again["diff"]["after"]


def test_the_file_is_for_its_owner_alone(kept: Client, tmp_path: Path, vault: Vault) -> None:
    os.umask(0o022)
    file = tmp_path / "identities"
    assert export_identities(kept, file, vault, check_mode=True)
    assert not file.exists()
    assert export_identities(kept, file, vault, check_mode=False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    secrets_in_it = [secret for secret in SECRETS.values() if secret.encode() in file.read_bytes()]
    assert (file.read_bytes().startswith(b"$ANSIBLE_VAULT;"), secrets_in_it) == (bool(vault.password_file), [])


def test_an_export_is_written_again_only_when_something_changed(kept: Client, tmp_path: Path, vault: Vault) -> None:
    file = tmp_path / "identities"
    assert export_identities(kept, file, vault, check_mode=False)
    first = file.read_bytes()
    assert not export_identities(kept, file, vault, check_mode=False)
    assert file.read_bytes() == first
    kept.delete("delete-service-account", {"accessKey": "shelf-key-1"}, doing="change something")
    assert export_identities(kept, file, vault, check_mode=False)
    assert file.read_bytes() != first


def test_a_readable_file_is_made_the_owners(kept: Client, tmp_path: Path) -> None:
    file = tmp_path / "identities"
    export_identities(kept, file, PLAIN, check_mode=False)
    file.chmod(0o644)
    assert export_identities(kept, file, PLAIN, check_mode=False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_store_with_identities_is_not_overwritten_unless_told(kept: Client, empty: Client, tmp_path: Path) -> None:
    file = tmp_path / "identities"
    export_identities(kept, file, PLAIN, check_mode=False)
    body = {"secretKey": "another-secret-1", "status": "enabled"}
    empty.put("add-user", {"accessKey": "reader"}, body, doing="set up")
    for check_mode in (True, False):
        with pytest.raises(InUse, match=r"is not empty: it has user reader.*set overwrite"):
            import_identities(empty, file, PLAIN, False, check_mode=check_mode)
    assert empty.signs("reader", "another-secret-1") is KeyState.GOOD
    empty.put("add-user", {"accessKey": "other"}, body, doing="set up")
    announced = import_identities(empty, file, PLAIN, True, check_mode=True)
    done = import_identities(empty, file, PLAIN, True, check_mode=False)
    assert announced == done
    assert {"kind": "users", "name": "reader", "changed": True, "actions": ["update"]} in done["results"]
    assert done["diff"]["before"]["users"] == ["other", "reader (other than in the file)"]
    assert empty.signs("reader", "reader-secret-1") is KeyState.GOOD
    assert not import_identities(empty, file, PLAIN, True, check_mode=False)["changed"]
    assert not import_identities(empty, file, PLAIN, False, check_mode=False)["changed"], "nothing is in the way of it"


def test_policies_that_the_file_does_not_give_are_taken(kept: Client, empty: Client, tmp_path: Path) -> None:
    for client in (kept, empty):
        body = {"secretKey": "plain-secret-1", "status": "enabled"}
        client.put("add-user", {"accessKey": "plain"}, body, doing="set up")
    for name, is_group in (("plain", "false"), ("readers", "true")):
        if is_group == "true":
            group = {"group": name, "members": ["plain"], "groupStatus": "enabled", "isRemove": False}
            empty.put("update-group-members", body=group, doing="set up")
        attach = {"policyName": "readwrite", "userOrGroup": name, "isGroup": is_group}
        empty.put("set-user-or-group-policy", attach, doing="set up")
    file = tmp_path / "identities"
    export_identities(kept, file, PLAIN, check_mode=False)
    announced = import_identities(empty, file, PLAIN, True, check_mode=True)
    done = import_identities(empty, file, PLAIN, True, check_mode=False)
    assert announced == done
    changed = {(item["kind"], item["name"]): item["actions"] for item in done["results"] if item["changed"]}
    assert (changed["users", "plain"], changed["groups", "readers"]) == (["update"], ["update"])
    assert not empty.get("user-info", {"accessKey": "plain"}, doing="look").get("policyName")
    assert not empty.get("group", {"group": "readers"}, doing="look")["policy"]
    assert not import_identities(empty, file, PLAIN, True, check_mode=False)["changed"]


def test_bad_files_are_named_and_nothing_is_restored(kept: Client, empty: Client, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("a-password\n")
    (tmp_path / "other").write_text("another-password\n")
    export_identities(kept, tmp_path / "vaulted", Vault(str(tmp_path / "password"), run), check_mode=False)
    (tmp_path / "junk").write_text("not a zip")
    for name, password, message in [
        ("nosuch", "", "cannot read .*/nosuch: No such file"),
        ("junk", "", r"/junk is no archive of identities"),
        (
            "vaulted",
            "",
            "/vaulted is encrypted by ansible-vault: give the file with its password as vault_password_file",
        ),
        ("vaulted", str(tmp_path / "other"), r"^could not decrypt \S+/vaulted: the password in \S+/other is not .*$"),
        ("vaulted", str(tmp_path / "no"), r"^could not decrypt \S+/vaulted: ansible-vault with .* was not found$"),
    ]:
        with pytest.raises(ArchiveFault, match=message):
            import_identities(empty, tmp_path / name, Vault(password, run), False, check_mode=False)
    assert json.dumps(empty.get("list-users", doing="look")) == "{}"


def test_a_place_that_is_not_there_is_refused_in_check_mode_too(kept: Client, tmp_path: Path) -> None:
    for check_mode in (True, False):
        with pytest.raises(ArchiveFault, match="there is no directory"):
            export_identities(kept, tmp_path / "nosuch" / "file", PLAIN, check_mode=check_mode)


def test_the_modules_keep_and_restore(kept: Client, empty: Client, tmp_path: Path, vault: Vault) -> None:
    file = str(tmp_path / "identities")

    def told(module: ModuleType, client: Client, **params: Any) -> dict[str, Any]:
        server = Server(client.admin.endpoint, client.admin.access_key, client.admin.secret_key)
        return Bench(server, "").run(module, vault_password_file=vault.password_file, **params)

    for check_mode, changed in ((True, True), (False, True), (True, False), (False, False)):
        assert told(rustfs_iam_export, kept, dest=file, check_mode=check_mode)["changed"] is changed
    for check_mode, changed in ((True, True), (False, True), (True, False), (False, False)):
        assert told(rustfs_iam_import, empty, src=file, check_mode=check_mode)["changed"] is changed
    assert "identities" in told(rustfs_iam_import, empty, src=file + "-nosuch")["msg"]
