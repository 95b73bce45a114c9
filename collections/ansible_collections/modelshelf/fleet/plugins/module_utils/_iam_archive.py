# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identities of a store as one file, to keep and to put back: RustFS's own archive, plain or vault-encrypted.

The archive is a zip of JSON files with users, groups, policies, mappings and access keys, secrets in plain text.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import InUse, ModelshelfError, StoreError
from ansible_collections.modelshelf.fleet.plugins.module_utils._iam_changes import (
    told_changes,
    who_signs,
    without_policies,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_mappings import Principal, set_policies
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client

VAULT_HEAD = b"$ANSIBLE_VAULT;"
_PASSWORD_OPTION = "vault_password_file (role rustfs_config: rustfs_config_vault_password_file)"
_TIMES = ("updatedat", "updated_at", "update_date", "updatedate", "create_date", "createdate", "createdat")


class ArchiveFault(ModelshelfError):
    """A file that is no archive of identities, or that cannot be opened, with what to do about it."""


@dataclass(frozen=True)
class Vault:
    """ansible-vault with the password in a file; no password file, no vault. `run` is AnsibleModule.run_command."""

    password_file: str
    run: Callable[..., tuple[int, bytes, bytes]]

    def encrypt(self, content: bytes, file: Path) -> bytes:
        """What is to be in `file`. Raises ArchiveFault when ansible-vault is not there or fails, as decrypt() does."""
        return self._pipe("encrypt", content, file)

    def decrypt(self, content: bytes, file: Path) -> bytes:
        """What encrypt() was given."""
        return self._pipe("decrypt", content, file)

    def _pipe(self, verb: str, content: bytes, file: Path) -> bytes:
        beside = Path(sys.executable).with_name("ansible-vault")
        program = str(beside) if beside.exists() else shutil.which("ansible-vault")
        if not program:
            raise ArchiveFault(
                f"ansible-vault, which comes with Ansible, is neither beside {sys.executable} nor in PATH"
            )
        argv = [program, verb, "--vault-password-file", self.password_file, "--output", "-", "-"]
        status, output, errors = self.run(argv, data=content, binary_data=True, encoding=None)
        if status:
            raise ArchiveFault(f"could not {verb} {file}: {self._fault(errors.decode(errors='replace'))}")
        return output

    def _fault(self, said: str) -> str:
        """What ansible-vault says in several lines, in one."""
        if "no vault secrets were found that could decrypt" in said:
            return (
                f"the password in {self.password_file} is not the one that it was encrypted with. Give the file that"
                f" has it as {_PASSWORD_OPTION}"
            )
        lines = [line for line in said.splitlines() if line.strip()]
        told = next((line for line in lines if "ERROR" in line), " ".join(lines))
        return f"ansible-vault with the password file {self.password_file}: {told.strip()[-300:]}"


def export_identities(client: Client, dest: Path, vault: Vault, *, check_mode: bool) -> bool:
    """Writes the store's identities to `dest`, readable by its owner alone; whether that changed anything.

    With a password of `vault` the file is encrypted before it touches the disk. A file that holds the same identities
    in the wanted form is left as it is, whenever they were written. Raises ArchiveFault for a place that is no file and
    cannot become one, and for a file that is worth more than what would replace it: in check mode too as far as that
    can be seen.
    """
    try:
        if dest.is_dir():
            raise ArchiveFault(f"{dest} is a directory: name a file in it")
        if not dest.parent.is_dir():
            raise ArchiveFault(
                f"{dest} cannot be written: there is no directory {dest.parent}. Make it, or name another"
            )
        archive = fetch(client)
        if dest.exists() and _is_kept(archive, dest, vault, client.admin.where):
            return False
        content = vault.encrypt(archive, dest) if vault.password_file else archive
        if not check_mode:
            _write(dest, content)
    except OSError as error:
        raise ArchiveFault(f"{dest} cannot be read or written: {error.strerror}. Name another file") from error
    return True


def import_identities(
    client: Client, source: Path, vault: Vault, overwrite: bool, *, check_mode: bool
) -> dict[str, Any]:
    """Puts the identities of a file onto the store. Returns `changed`, `results` and `diff`, which name no secrets.

    Raises InUse for a store that has other identities already, unless `overwrite` says that those of the file win.
    No identity is removed; one of the file that has no policies there loses what it has.
    """
    archive = opened(source, vault)
    there = identities(fetch(client), client.admin.where)
    wanted = identities(archive, source)
    result = told_changes(wanted, there)
    found = who_signs(there)
    if result["changed"] and found and not overwrite:
        raise InUse(
            f"the store {client.admin.where} is not empty: it has {', '.join(found[:5])}"
            f"{f' and {len(found) - 5} more' if len(found) > 5 else ''}. Restore onto an empty store, or set overwrite"
            " (role rustfs_config: rustfs_config_restore_over_others): identities of the same name then become those of"
            " the file"
        )
    if result["changed"] and not check_mode:
        answer = client.put("import-iam", body=archive, doing=f"restore the identities of {source}") or {}
        failed = sorted(kind for kind, entries in (answer.get("failed") or {}).items() if entries)
        if failed:
            raise StoreError(f"the store {client.admin.where} did not take all of {source}: {', '.join(failed)} failed")
        for kind, name in without_policies(wanted, there):
            set_policies(client, Principal(kind[:-1], name), frozenset())
    return result


def fetch(client: Client) -> bytes:
    """The archive as the server makes it."""
    return client.raw("GET", "export-iam", doing="export the identities")


def identities(archive: bytes, origin: object) -> dict[str, Any]:
    """What an archive from `origin` says, by file, without times and the order of lists.

    Raises ArchiveFault for anything else.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as content:
            parts = {name.rpartition("/")[2]: json.loads(content.read(name) or b"{}") for name in content.namelist()}
    except (zipfile.BadZipFile, ValueError, KeyError) as error:
        raise ArchiveFault(f"{origin} is no archive of identities (a zip of JSON files): {error}") from error
    if strange := sorted(name for name, part in parts.items() if not isinstance(part, dict)):
        raise ArchiveFault(f"{origin} is no archive of identities: {', '.join(strange)} in it has no object of JSON")
    return {name: _canonical(part) for name, part in sorted(parts.items())}


def opened(source: Path, vault: Vault) -> bytes:
    """The archive in a file that may be encrypted by ansible-vault."""
    try:
        content = source.read_bytes()
    except OSError as error:
        raise ArchiveFault(f"cannot read {source}: {error.strerror}") from error
    if not content.startswith(VAULT_HEAD):
        return content
    if not vault.password_file:
        raise ArchiveFault(
            f"{source} is encrypted by ansible-vault: give the file with its password as {_PASSWORD_OPTION}"
        )
    return vault.decrypt(content, source)


def _is_kept(archive: bytes, dest: Path, vault: Vault, where: str) -> bool:
    """Whether the file has these identities already, in the wanted form and for its owner alone.

    Raises ArchiveFault for a file that is no archive, and for one that must not be lost.
    """
    encrypted, advice = dest.read_bytes().startswith(VAULT_HEAD), "Name another file as dest, or remove this one first"
    if encrypted and not vault.password_file:
        raise ArchiveFault(
            f"{dest} is encrypted, and it is not replaced by an export in plain text: give {_PASSWORD_OPTION}. {advice}"
        )
    kept, new = identities(opened(dest, vault), dest), identities(archive, "the store")
    if who_signs(kept) and not who_signs(new):
        raise ArchiveFault(
            f"{dest} has identities, and the store {where} has no users, groups and access keys: it is not replaced by"
            f" an export of nothing. {advice}"
        )
    return encrypted == bool(vault.password_file) and dest.stat().st_mode & 0o777 == 0o600 and kept == new


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _canonical(value[key]) for key in sorted(value) if key.lower() not in _TIMES}
    if isinstance(value, list):
        return sorted((_canonical(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def _write(dest: Path, content: bytes) -> None:
    partial = dest.with_name(f".{dest.name}.new")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(dest)
