# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who reads which models: what the inventory says, and what the store needs for it.

A reader is a user with one policy. Hosts sign with access keys beneath it, which inherit that policy, so a key can be
replaced while another one is in use. Raises ValueError whose message names the offending entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._models import check_keys, resolve_models
from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy

READER = "modelshelf-reader"
WRITER = "modelshelf-writer"

_PUBLISHES = ["s3:GetBucketLocation", "s3:GetBucketQuota", "s3:ListBucket", "s3:ListBucketMultipartUploads"]
_READS = {"s3:GetObject", "s3:*", "*"}
_UPLOADS = ["s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"]


@dataclass(frozen=True)
class Reader:
    """One access key of the serving hosts, with the models (slugs) that it reads."""

    user: str
    access_key: str
    secret_key: str = field(repr=False)
    slugs: tuple[str, ...]


def readers(models: Any, access_key: str = "", secret_key: str = "", own_keys: Any = None) -> list[Reader]:
    """The readers of `models`: one for each model in `own_keys`, and one with the fleet's key for all others.

    `own_keys` is keyed by the name of a model and has `access_key` and `secret_key` for it. A model that has no key at
    all, a name that no model has, and a key that is given twice are refused.
    """
    resolved = resolve_models(models)
    keys = _own_keys(own_keys, [model["name"] for model in resolved])
    found = []
    shared = tuple(model["slug"] for model in resolved if model["name"] not in keys)
    if shared and not (access_key and secret_key):
        raise ValueError(
            f"no key reads {', '.join(shared)}: set modelshelf_reader_access_key and modelshelf_reader_secret_key,"
            " or give every model a key in modelshelf_reader_keys"
        )
    if shared:
        found.append(Reader(READER, str(access_key), str(secret_key), shared))
    for model in resolved:
        if model["name"] in keys:
            pair, slug = keys[model["name"]], model["slug"]
            found.append(Reader(f"{READER}-{slug}", *pair, (slug,)))
    names = [reader.access_key for reader in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"modelshelf_reader_keys: the access key {', '.join(twice)} is given twice")
    return found


def with_rights_in_use(
    found: Sequence[Mapping[str, Any]], policies: Sequence[Mapping[str, Any]], bucket: str
) -> list[dict[str, Any]]:
    """The readers, each with the models as well that it can read now and that have another reader in the inventory.

    Hosts may sign with that reader's key until they have moved: its rights go when all of them have. `policies` are
    those on the store (name, and policy in canonical form). `in_use` has what was added to `slugs`.
    """
    named = {slug for reader in found for slug in reader["slugs"]}
    readable = {item["name"]: _readable(item["policy"], bucket) for item in policies}
    kept = [sorted((readable.get(reader["user"], set()) & named) - set(reader["slugs"])) for reader in found]
    return [{**reader, "slugs": [*reader["slugs"], *slugs], "in_use": slugs} for reader, slugs in zip(found, kept)]


def other_prefixes(slugs: Sequence[str], own: Sequence[str], most: int = 10) -> list[str]:
    """Up to `most` of `slugs` that are not among `own`, to be tried with the key that reads `own`, which is not empty.

    Those next to its own in the order of the alphabet come first: what begins alike is what a policy mixes up. With a
    limit, a proof of all readers takes a number of requests that grows with the number of models, not with its square.
    """
    ordered = sorted({*slugs, *own})
    places = {slug: number for number, slug in enumerate(ordered)}
    others = [slug for slug in ordered if slug not in own]
    return sorted(sorted(others, key=lambda slug: min(abs(places[slug] - places[mine]) for mine in own))[:most])


def store_identities(
    models: Any, bucket: str, found: Sequence[Mapping[str, Any]], writer: Mapping[str, str], versioned: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Policies, users and access keys that `found` (as readers() gives it) and the writer need on the store.

    `writer` has `access_key` and `secret_key`; without an access key the store gets no writer. Refuses a writer whose
    access key is one of a reader.
    """
    resolve_models(models)
    policies, users, access_keys = [], [], []
    for reader in found:
        policies.append({"name": reader["user"], "policy": readonly_prefix_policy(bucket, reader["slugs"], versioned)})
        users.append({"name": reader["user"], "policies": [reader["user"]]})
        access_keys.append(_access_key(reader["user"], reader))
    if writer.get("access_key"):
        if writer["access_key"] in [reader["access_key"] for reader in found]:
            raise ValueError("the writer's access key is one of a reader too: a host could write with it. Make another")
        policies.append({"name": WRITER, "policy": writer_policy(bucket)})
        users.append({"name": WRITER, "policies": [WRITER]})
        access_keys.append(_access_key(WRITER, writer))
    return {"policies": policies, "users": users, "access_keys": access_keys}


def writer_policy(bucket: str) -> dict[str, Any]:
    """What publishing needs: to list the bucket, and to read and add objects. Nothing can be deleted with it."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": _PUBLISHES, "Resource": [f"arn:aws:s3:::{bucket}"]},
            {"Effect": "Allow", "Action": _UPLOADS, "Resource": [f"arn:aws:s3:::{bucket}/*"]},
        ],
    }


def _readable(policy: Mapping[str, Any], bucket: str) -> set[str]:
    """The top folders of a bucket that a canonical policy lets be read.

    A folder that is denied as well does not count, nor what is allowed under a condition, which would be kept without.
    """
    place = re.compile(rf"arn:aws:s3:::{re.escape(bucket)}/([^/*?]+)/\*")
    found: dict[str, set[str]] = {"Allow": set(), "Deny": set()}
    for statement in policy.get("Statement", ()):
        effect = statement["Effect"]
        if _READS & set(statement.get("Action", ())) and (effect == "Deny" or not statement.get("Condition")):
            found[effect] |= {match.group(1) for match in map(place.fullmatch, statement.get("Resource", ())) if match}
    return found["Allow"] - found["Deny"]


def _access_key(user: str, pair: Mapping[str, Any]) -> dict[str, Any]:
    return {"key": pair["access_key"], "secret": pair["secret_key"], "user": user, "policy": {}}


def _own_keys(value: Any, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError("modelshelf_reader_keys is not a mapping of models to their keys")
    for name, pair in value.items():
        where = f"modelshelf_reader_keys: {name!r}"
        if name not in names:
            raise ValueError(f"{where} is not in modelshelf_models, which has {', '.join(names) or 'none'}")
        if not isinstance(pair, Mapping):
            raise ValueError(f"{where} is not a mapping with access_key and secret_key")
        check_keys(where, pair, ("access_key", "secret_key"), required=("access_key", "secret_key"))
    return {str(name): (str(pair["access_key"]), str(pair["secret_key"])) for name, pair in value.items()}
