# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What putting an archive of identities back changes on a store, told by names alone: archives are full of secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FILES = {
    "users": ("users.json", "user_mappings.json"),
    "groups": ("groups.json", "group_mappings.json"),
    "policies": ("policies.json",),
    "access keys": ("svcaccts.json",),
}
"""The kinds of identities with the files of an archive that say something of them; the first one makes them."""

OTHER = "other than in the file"
"""What a diff says of an identity that is there already, but not as the archive has it."""


def names(parts: Mapping[str, Any], kind: str) -> list[str]:
    """The names of one kind in an archive, as identities() gives it."""
    return sorted(parts.get(FILES[kind][0]) or {})


def who_signs(parts: Mapping[str, Any]) -> list[str]:
    """The users, groups and access keys of an archive, each as `user reader`; policies alone are nobody's."""
    return [f"{kind[:-1]} {name}" for kind in ("users", "groups", "access keys") for name in names(parts, kind)]


def without_policies(wanted: Mapping[str, Any], there: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kind and name of the users and groups of `wanted` that have no policies in it, and some in `there`.

    RustFS's import-iam leaves them what they have.
    """
    return [
        (kind, name)
        for kind in ("users", "groups")
        for name in names(wanted, kind)
        if FILES[kind][1] in wanted and not _has_policies(wanted, kind, name) and _has_policies(there, kind, name)
    ]


def told_changes(wanted: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """`changed`, `results` and `diff` of a module that puts `wanted` onto a store with the identities `there`.

    Nothing is removed: what the archive does not name stays, and so do the members of groups.
    """
    results: list[dict[str, Any]] = []
    stripped = without_policies(wanted, there)
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for kind, files in FILES.items():
        had, given = _by_name(there, files), _by_name(wanted, files)
        actions = {
            name: _actions(files, had.get(name, {}), given[name]) or ["update"] * ((kind, name) in stripped)
            for name in sorted(given)
        }
        results += [
            {"kind": kind, "name": name, "changed": bool(found), "actions": found} for name, found in actions.items()
        ]
        updated = [name for name, found in actions.items() if found == ["update"]]
        before[kind] = [f"{name} ({OTHER})" if name in updated else name for name in sorted(had)]
        after[kind] = sorted({*had, *given})
    changed = any(item["changed"] for item in results)
    return {"changed": changed, "results": results, "diff": {"before": before, "after": after}}


def _has_policies(parts: Mapping[str, Any], kind: str, name: str) -> bool:
    return bool(((parts.get(FILES[kind][1]) or {}).get(name) or {}).get("policy"))


def _by_name(parts: Mapping[str, Any], files: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """What the files say of each identity that one of them names."""
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        for name, content in (parts.get(file) or {}).items():
            found.setdefault(name, {})[file] = content
    return found


def _actions(files: tuple[str, ...], had: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    if files[0] in given and files[0] not in had:
        return ["create"]
    return ["update"] if any(_alters(file, had.get(file), content) for file, content in given.items()) else []


def _alters(file: str, had: Any, given: Any) -> bool:
    """Members of a group are added, and a group is switched off; neither is taken back (RustFS: import-iam)."""
    if file == "groups.json" and had:
        joins = set(given.get("members") or ()) - set(had.get("members") or ())
        return bool(joins) or (given.get("status") == "disabled" and had.get("status") != "disabled")
    return bool(had != given)
