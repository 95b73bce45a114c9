# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of the modules model_version and model_version_info, from parameters to results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_quota import Quota
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    DamagedManifest,
    ModelshelfError,
    NotFound,
    Refused,
    Unreachable,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._hashing import hash_files
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import FileEntry, Manifest, digest
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_dir import ModelDirectory, check_directory
from ansible_collections.modelshelf.fleet.plugins.module_utils._names import check_version, model_slug, version_prefix
from ansible_collections.modelshelf.fleet.plugins.module_utils._progress import Progress
from ansible_collections.modelshelf.fleet.plugins.module_utils._publish import (
    Found,
    Plan,
    carry_out,
    find,
    make_plan,
    read_manifest,
    refuse_other_content,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3 import Store, part_size_for
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection, connection_from

DEFAULT_EXCLUDE = [
    ".git",
    ".gitattributes",
    ".gitignore",
    ".gitmodules",
    ".cache",
    "__pycache__",
    ".ipynb_checkpoints",
    ".DS_Store",
    ".huggingface",
]
"""What a clone or a download leaves beside a model. An empty .gitkeep is kept: somebody put it there."""

_MOST_WORKERS = 64
_DRY_RUN_SECONDS = 5

Say = Callable[[str], None]


def publish_version(params: Mapping[str, Any], *, check_mode: bool, say: Say, warn: Say) -> dict[str, Any]:
    """Publishes a directory, or in check mode says what that would do. Raises ModelshelfError."""
    slug, version = _names(params)
    if not 1 <= params["concurrency"] <= _MOST_WORKERS:
        raise ModelshelfError(f"concurrency is {params['concurrency']}; expected 1 to {_MOST_WORKERS}")
    prefix = version_prefix(slug, version)
    store = Store(_connection(params, check_mode), params["concurrency"])
    directory = check_directory(params["directory"], exclude=params["exclude"], allow_missing=params["allow_missing"])
    seen = _look(store, prefix, check_mode, warn)
    found = seen or Found({})
    where = store.connection.url(f"{prefix}/")
    refuse_other_content(found, directory.files, where)
    missing = sum(item.size for item in directory.files if found.objects.get(item.path) != item.size)
    quota = _quota(store, warn) if seen is not None and missing else None
    _refuse_beyond(quota, missing, where)  # before hours of hashing, by the sizes alone
    wanted = _describe(directory, params, slug, version, say)
    plan = make_plan(store, wanted, found, prefix)
    part_size = part_size_for(max((entry.size for entry in plan.upload), default=0), params["part_size"])
    if part_size > params["part_size"]:
        warn(f"part_size was raised to {part_size} bytes: S3 takes at most 10,000 parts of at least 5 MiB")
    _refuse_beyond(quota, _sum(plan.upload)["bytes"] + len(plan.manifest.to_json()) * plan.commit, where)
    if plan.strangers:
        warn(f"{where} has objects that its manifest does not know: {', '.join(plan.strangers)}")
    manifest = plan.manifest
    if plan.changes and not check_mode:
        manifest = carry_out(store, plan, directory, part_size, say)
    return _result(plan, manifest, found)


def list_versions(params: Mapping[str, Any], *, check_mode: bool, warn: Say) -> dict[str, Any]:
    """The versions on the shelf as model_version_info returns them. Raises ModelshelfError.

    In check mode a store that does not answer, or has no such bucket, is taken for empty: a bare fleet has none yet.
    """
    try:
        return _list_versions(params, check_mode, warn)
    except (Unreachable, NotFound) as error:
        if not check_mode:
            raise
        warn(f"{error}. The store was taken for empty")
        return {"changed": False, "versions": [], **({"available": []} if params["model"] else {})}


def _list_versions(params: Mapping[str, Any], check_mode: bool, warn: Say) -> dict[str, Any]:
    store = Store(_connection(params, check_mode))
    asked = _names(params) if params["version"] else (_slug(params), "")
    manifests: list[Manifest] = []
    for slug in [asked[0]] if asked[0] else store.list_folders(""):
        for version in store.list_folders(f"{slug}/"):
            try:
                manifests.append(read_manifest(store, f"{slug}/{version}"))
            except NotFound:
                continue  # an upload that is under way, or was given up
            except DamagedManifest as error:
                warn(str(error))
    listed = [_line(manifest) for manifest in sorted(manifests, key=lambda item: (item.model, item.version))]
    result: dict[str, Any] = {"changed": False, "versions": listed}
    if asked[0]:
        result["available"] = [line["version"] for line in listed]
    if asked[1]:
        result["versions"] = [line for line in listed if line["version"] == asked[1]]
        result["exists"] = bool(result["versions"])
    return result


def _slug(params: Mapping[str, Any]) -> str:
    try:
        return model_slug(params["model"]) if params["model"] else ""
    except ValueError as error:
        raise ModelshelfError(str(error)) from error


def _names(params: Mapping[str, Any]) -> tuple[str, str]:
    try:
        return model_slug(params["model"]), check_version(params["version"])
    except ValueError as error:
        raise ModelshelfError(str(error)) from error


def _look(store: Store, prefix: str, check_mode: bool, warn: Say) -> Found | None:
    """What the store has. A dry run on a bare fleet comes before the store and its bucket: then None."""
    try:
        return find(store, prefix)
    except (Unreachable, NotFound) as error:
        if not check_mode:
            raise
        warn(f"{error}. The store was taken for empty")
        return None


def _connection(params: Mapping[str, Any], check_mode: bool) -> Connection:
    """Where the store is. A dry run does not wait long for one that may not be there yet."""
    connection = connection_from(params)
    return replace(connection, timeout=min(connection.timeout, _DRY_RUN_SECONDS)) if check_mode else connection


def _quota(store: Store, warn: Say) -> Quota | None:
    """The bucket's quota, None where none is known. That is no failure: the key may not be allowed to ask."""
    try:
        return store.quota()
    except Unreachable as error:
        warn(f"{error}. Whether the version fits below the quota of the bucket is not known")
        return None


def _refuse_beyond(quota: Quota | None, needed: int, where: str) -> None:
    """Raises Refused when so many bytes do not fit below the quota.

    The server itself takes all parts of an upload, and refuses it only when it is to be completed.
    """
    if quota is not None and needed > quota.left:
        raise Refused(
            f"{where} needs {needed} bytes more, and the quota of the bucket leaves {quota.left}: the limit is"
            f" {quota.limit} bytes, of which {quota.used} are used. Nothing was sent. Remove old versions, or raise"
            " the quota"
        )


def _describe(directory: ModelDirectory, params: Mapping[str, Any], slug: str, version: str, say: Say) -> Manifest:
    """The manifest that the directory will have on the shelf. Reads every file."""
    total = sum(item.size for item in directory.files)
    say(f"{slug}/{version}: hashing {len(directory.files)} files, {total} bytes")
    progress = Progress(f"{slug}/{version}: hashed", total, say)
    files = hash_files(directory, params["concurrency"], progress.add)
    return Manifest(
        model=slug,
        display_name=params["model"],
        version=version,
        kind=directory.kind,
        created=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        files=files,
        bytes=total,
        digest=digest(files),
        source={"type": "directory"},
        config=directory.config,
        exclude=tuple(params["exclude"]),
    )


def _result(plan: Plan, manifest: Manifest, found: Found) -> dict[str, Any]:
    there = [size for path, size in found.objects.items() if path in {entry.path for entry in plan.manifest.files}]
    before = {"digest": found.manifest.digest if found.manifest else "", "files": len(there), "bytes": sum(there)}
    after = {"digest": manifest.digest, "files": len(manifest.files), "bytes": manifest.bytes}
    return {
        "changed": plan.changes,
        "manifest": manifest.as_dict(),
        "prefix": plan.prefix,
        "uploaded": _sum(plan.upload),
        "reused": _sum(plan.skip),
        "diff": {"before_header": plan.prefix, "after_header": plan.prefix, "before": before, "after": after},
    }


def _sum(files: tuple[FileEntry, ...]) -> dict[str, int]:
    return {"files": len(files), "bytes": sum(entry.size for entry in files)}


def _line(manifest: Manifest) -> dict[str, Any]:
    keys = ("model", "display_name", "version", "kind", "bytes", "digest", "created")
    return {**{key: getattr(manifest, key) for key in keys}, "files": len(manifest.files)}
