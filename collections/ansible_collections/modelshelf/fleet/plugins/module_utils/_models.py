# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory says about models, checked, with every derived name filled in.

With `_instances` the one home of paths, prefixes and unit names: roles, modules and tests take them from here.
Raises ValueError whose message names the offending entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._names import check_version, model_slug, version_prefix

WEIGHTS_ROOT = "/srv/modelshelf/weights"
SOURCES = ("rclone", "nfs", "local", "stream")
MAY_LACK = ("tokenizer",)
"""What a model may lack when its `allow_missing` names it."""

_KEYS = ("name", "version", "source", "directory", "allow_missing")


def resolve_models(models: Any, weights_root: str = WEIGHTS_ROOT) -> list[dict[str, Any]]:
    """Every model of the inventory with its slug, prefix, mount point, unit and remote.

    The remote is a section in rclone's settings. `prefix` is below the bucket and has no final slash. Refuses unknown
    keys and sources, unusable versions, and two models whose slugs are the same.
    """
    resolved: list[dict[str, Any]] = []
    for entry in entries("modelshelf_models", models):
        where = f"modelshelf_models: {entry.get('name', entry)!r}"
        check_keys(where, entry, _KEYS, required=("name", "version"))
        try:
            slug, version = model_slug(entry["name"]), check_version(entry["version"])
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        source = entry.get("source") or "rclone"
        if source not in SOURCES:
            raise ValueError(f"{where}: the source {source!r} is not one of {', '.join(SOURCES)}")
        allow_missing = strings(where, "allow_missing", entry.get("allow_missing"))
        unknown = [item for item in allow_missing if item not in MAY_LACK]
        if unknown:
            raise ValueError(f"{where}: allow_missing has {', '.join(unknown)}; known: {', '.join(MAY_LACK)}")
        for other in resolved:
            if other["slug"] == slug:
                raise ValueError(
                    f"modelshelf_models: {other['name']!r} and {entry['name']!r} both become {slug!r} in paths and"
                    " unit names. Rename one of them"
                )
        resolved.append(
            {
                "name": str(entry["name"]),
                "slug": slug,
                "version": str(version),
                "source": str(source),
                "directory": str(entry.get("directory") or ""),
                "allow_missing": allow_missing,
                "prefix": version_prefix(slug, version),
                "mountpoint": f"{_root(weights_root)}/{slug}",
                "unit": f"modelshelf-weights-{slug}.service",
                "remote": f"shelf-{slug}",
            }
        )
    return resolved


def entries(variable: str, value: Any) -> list[Mapping[str, Any]]:
    """The mappings of a list that the inventory gives; none when the variable is null."""
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise ValueError(f"{variable} is not a list but {type(value).__name__}")
    for entry in value:
        if not isinstance(entry, Mapping):
            raise ValueError(f"{variable}: {entry!r} is not a mapping with the keys name, ...")
    return list(value)


def check_keys(where: str, entry: Mapping[str, Any], known: Iterable[str], required: Iterable[str]) -> None:
    """Refuses keys outside `known`, and the absence or emptiness of `required` ones."""
    unknown = sorted(str(key) for key in entry if key not in known)
    if unknown:
        raise ValueError(f"{where}: unknown key {', '.join(unknown)}; known are {', '.join(known)}")
    absent = [key for key in required if entry.get(key) in (None, "")]
    if absent:
        raise ValueError(f"{where}: {', '.join(absent)} is missing")


def strings(where: str, key: str, value: Any) -> list[str]:
    """The list of strings under `key`; empty when null."""
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{where}: {key} is not a list of strings: {value!r}")
    return [str(item) for item in value]


def _root(weights_root: str) -> str:
    if not str(weights_root).startswith("/") or not str(weights_root).strip("/"):
        raise ValueError(f"the weights root {weights_root!r} is not an absolute path below /")
    return str(weights_root).rstrip("/")
