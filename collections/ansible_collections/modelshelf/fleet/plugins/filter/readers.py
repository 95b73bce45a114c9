# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about readers: see readers.yml and the other files that are named like the filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.module_utils import _readers
from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import flag


def readers(models: Any, access_key: str = "", secret_key: str = "", own_keys: Any = None) -> list[dict[str, Any]]:
    """The readers of the models of the inventory."""
    try:
        found = _readers.readers(models, access_key, secret_key, own_keys)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error
    return [{**asdict(reader), "slugs": list(reader.slugs)} for reader in found]


def with_rights_in_use(
    readers: Sequence[Mapping[str, Any]], policies: Sequence[Mapping[str, Any]], bucket: str
) -> list[dict[str, Any]]:
    """Those readers, with what hosts may still read through them."""
    return _readers.with_rights_in_use(readers, policies, bucket)


def store_identities(
    models: Any, bucket: str, readers: Sequence[Mapping[str, Any]], writer: Mapping[str, str], versioned: Any = False
) -> dict[str, list[dict[str, Any]]]:
    """What those readers and the writer need on the store."""
    try:
        return _readers.store_identities(models, bucket, readers, writer, flag("versioned", versioned))
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


def other_prefixes(slugs: Sequence[str], own: Sequence[str]) -> list[str]:
    """What the reader of `own` must not read, in a number that can be tried."""
    return _readers.other_prefixes(slugs, own)


class FilterModule:
    """Registers the filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {
            "other_prefixes": other_prefixes,
            "readers": readers,
            "store_identities": store_identities,
            "with_rights_in_use": with_rights_in_use,
        }
