# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive of identities as a file: what cannot be read, opened or written is told in one line."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import InUse
from ansible_collections.modelshelf.fleet.plugins.module_utils._iam_archive import (
    VAULT_HEAD,
    ArchiveFault,
    Vault,
    export_identities,
    import_identities,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.fake_client import FakeClient

OPTION = "as vault_password_file (role rustfs_config: rustfs_config_vault_password_file)"
WRONG = """[ERROR]: Decryption failed (no vault secrets were found that could decrypt).

Failed to decrypt '-'.

<<< caused by >>>
"""
NO_FILE = "[WARNING]: Error getting vault password file (default)\n[ERROR]: The vault password file /pw was not found\n"


def packed(**files: Any) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in files.items():
            archive.writestr(f"iam-assets/{name}.json", json.dumps(part))
    return content.getvalue()


ARCHIVE = packed(users={"reader": {"secretKey": "canary-1", "status": "enabled"}}, policies={"read": {}})


class Store(FakeClient):
    """A store with these identities. `taken` is what was put onto it."""

    def __init__(self, archive: bytes, answer: Any = None) -> None:
        super().__init__()
        self.archive, self.answer, self.taken = archive, answer, b""

    def raw(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None, *, doing: str
    ) -> bytes:
        if path == "export-iam":
            return self.archive
        assert (method, path) == ("PUT", "import-iam")
        self.taken = body
        return json.dumps(self.answer or {}).encode()


def no_vault(argv: list[str], **_others: Any) -> tuple[int, bytes, bytes]:
    raise AssertionError(f"{argv} was not to be run")


def vault_that_says(text: str) -> Vault:
    return Vault("/pw", lambda argv, **_others: (1, b"", text.encode()))


PLAIN = Vault("", no_vault)


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        (".", "is a directory: name a file in it"),
        ("nosuch/file", "cannot be written: there is no directory"),
        ("name" * 100, "cannot be read or written: File name too long. Name another"),
    ],
)
def test_a_place_that_is_no_file_is_refused_in_one_line(
    tmp_path: Path, place: str, said: str, check_mode: bool
) -> None:
    with pytest.raises(ArchiveFault, match=said) as caught:
        export_identities(Store(ARCHIVE), tmp_path / place, PLAIN, check_mode=check_mode)
    assert "Errno" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / ".identities.new").mkdir()
    with pytest.raises(ArchiveFault, match=r"^\S+/identities cannot be read or written: Is a directory"):
        export_identities(Store(ARCHIVE), tmp_path / "identities", PLAIN, check_mode=False)
    with pytest.raises(ArchiveFault, match=r"^cannot read \S+: Is a directory$"):
        import_identities(Store(ARCHIVE), tmp_path, PLAIN, False, check_mode=False)


@pytest.mark.parametrize(
    ("vault", "said"),
    [
        (vault_that_says(WRONG), f"the password in /pw is not the one that it was encrypted with.* {OPTION}"),
        (vault_that_says(NO_FILE), "with the password file /pw: [ERROR]: The vault password file /pw was"),
        (vault_that_says("no\nreason"), "ansible-vault with the password file /pw: no reason"),
        (PLAIN, f"is encrypted by ansible-vault: give the file with its password {OPTION}"),
    ],
)
def test_a_file_that_cannot_be_opened_is_named_in_one_line(tmp_path: Path, vault: Vault, said: str) -> None:
    file = tmp_path / "identities"
    file.write_bytes(VAULT_HEAD + b"1.1;AES256\n00")
    with pytest.raises(ArchiveFault) as caught:
        import_identities(Store(ARCHIVE), file, vault, False, check_mode=True)
    text = str(caught.value)
    assert all(part in text for part in (*said.split(".*"), str(file)))
    assert "\n" not in text and "caused by" not in text


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_restore_tells_names_and_nothing_else(tmp_path: Path, check_mode: bool) -> None:
    file = tmp_path / "identities"
    file.write_bytes(ARCHIVE)
    store = Store(packed(policies={"read": {}}))
    result = import_identities(store, file, PLAIN, False, check_mode=check_mode)
    assert result["results"] == [
        {"kind": "users", "name": "reader", "changed": True, "actions": ["create"]},
        {"kind": "policies", "name": "read", "changed": False, "actions": []},
    ]
    assert (result["diff"]["before"]["users"], result["diff"]["after"]["users"]) == ([], ["reader"])
    assert "canary" not in str(result)
    assert store.taken == (b"" if check_mode else ARCHIVE)


def test_other_identities_are_in_the_way_only_where_something_would_change(tmp_path: Path) -> None:
    file = tmp_path / "identities"
    file.write_bytes(ARCHIVE)
    users = {"reader": {"secretKey": "canary-1", "status": "enabled"}, "other": {}}
    there = Store(packed(users=users, policies={"read": {}}))
    assert import_identities(there, file, PLAIN, False, check_mode=False)["changed"] is False
    store = Store(packed(users={"other": {}}, svcaccts={"k": {}}))
    with pytest.raises(InUse, match=r"it has user other, access key k\. .*rustfs_config_restore_over_others"):
        import_identities(store, file, PLAIN, False, check_mode=True)
    assert import_identities(store, file, PLAIN, True, check_mode=False)["diff"]["after"]["users"] == [
        "other",
        "reader",
    ]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_that_is_no_archive_is_not_written_over(tmp_path: Path, mode: int) -> None:
    dest = tmp_path / "precious.txt"
    dest.write_text("precious")
    dest.chmod(mode)
    with pytest.raises(ArchiveFault, match=r"/precious.txt is no archive of identities"):
        export_identities(Store(ARCHIVE), dest, PLAIN, check_mode=False)
    assert dest.read_text() == "precious"


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("mode", [0o600, 0o644])
@pytest.mark.parametrize(
    ("content", "archive", "said"),
    [
        (
            ARCHIVE,
            packed(users={}, groups={}, svcaccts={}, policies={"read": {}}),
            r"/kept has identities, and the store \(endpoint http://store:9000\) has no users, groups and access keys",
        ),
        (
            VAULT_HEAD + b"1.1;AES256\n00",
            ARCHIVE,
            "/kept is encrypted, and it is not replaced by an export in plain text",
        ),
    ],
    ids=["empty store", "encrypted file"],
)
def test_a_file_that_is_worth_more_is_not_written_over(
    tmp_path: Path, content: bytes, archive: bytes, said: str, mode: int, check_mode: bool
) -> None:
    dest = tmp_path / "kept"
    dest.write_bytes(content)
    dest.chmod(mode)
    with pytest.raises(ArchiveFault, match=f"{said}.* Name another file as dest, or remove this one first"):
        export_identities(Store(archive), dest, PLAIN, check_mode=check_mode)
    assert dest.read_bytes() == content


def test_a_plain_file_becomes_an_encrypted_one_and_an_export_of_nothing_takes_its_own_place(tmp_path: Path) -> None:
    dest = tmp_path / "kept"
    dest.write_bytes(ARCHIVE)
    assert export_identities(
        Store(ARCHIVE), dest, Vault("/pw", lambda argv, **_others: (0, VAULT_HEAD, b"")), check_mode=False
    )
    assert dest.read_bytes() == VAULT_HEAD
    dest.write_bytes(packed(users={}, policies={"read": {}}))
    assert export_identities(Store(packed(users={}, policies={"other": {}})), dest, PLAIN, check_mode=False)


@pytest.mark.parametrize("content", [b"junk", ARCHIVE[:40], packed(users=[1])], ids=["no zip", "cut short", "no names"])
def test_a_file_that_is_no_archive_is_not_put_back(tmp_path: Path, content: bytes) -> None:
    source, store = tmp_path / "kept", Store(ARCHIVE)
    source.write_bytes(content)
    with pytest.raises(ArchiveFault, match=r"/kept is no archive of identities"):
        import_identities(store, source, PLAIN, True, check_mode=False)
    assert store.taken == b""
