# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of an instance that vllm_generation brings about, each with what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_content import (
    Content,
    difference,
    wanted_content,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._retention import kept_generations, remove
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import WeightsFault, read_manifest

DESCRIPTION = ("model", "version", "weights_path", "config", "engine", "unit")
"""The parameters without which nothing can be described."""

_MANIFEST_TIMEOUT = 60.0


def present(
    instance: Instance, asked: Mapping[str, Any], environment: Mapping[str, Any], *, check_mode: bool
) -> dict[str, Any]:
    """Write the next generation unless one is what is asked for: the current one first, then the newest.

    That one is `staged`. The digest of the weights is `manifest_digest` of `asked`, or read from their manifest where
    that is empty.

    Raises ValueError and GenerationError for what cannot be used, WeightsFault for weights that cannot be read; in
    check mode they, and the engine, need not be there yet.
    """
    if empty := [key for key in DESCRIPTION if not asked[key]]:
        raise ValueError(f"nothing is given for {', '.join(empty)}")
    now, numbers = instance.linked("current"), instance.numbers()
    searched = sorted(numbers, key=lambda number: (number != now, -number))
    contents = {number: instance.content(number) for number in searched}
    nearest = contents[searched[0]] if searched else None
    wanted = wanted_content(
        instance=instance.name,
        manifest_digest=asked["manifest_digest"]
        or _digest(asked["weights_path"], list(contents.values()), check_mode=check_mode),
        environment=environment,
        **{key: asked[key] for key in DESCRIPTION},
    )
    same = next((number for number, content in contents.items() if content == wanted), None)
    number = same or (numbers[-1] if numbers else 0) + 1
    staged = instance.linked("staged")
    diff = difference(nearest, wanted)
    if staged != number:
        link = f"{instance.path / 'staged'} -> generations"
        diff["after"]["staged"] = f"{link}/{number}"
        if nearest:
            diff["before"]["staged"] = f"{link}/{staged}" if staged else ""
    if same is None and not check_mode:
        instance.check_engine(wanted)
        instance.write(number, wanted, asked["created_by"])
    if staged != number and not check_mode:
        instance.stage(number)
    return {"changed": staged != number, "diff": diff, **_report(instance, number)}


def current(instance: Instance, number: int, *, check_mode: bool) -> dict[str, Any]:
    """Make `current` name a generation. Raises GenerationError when it does not exist.

    In check mode it need not: it may be one that the same play would have written.
    """
    before, links = instance.linked("current"), _links(instance)
    if not check_mode:
        instance.flip(number)
    report = _report(instance, number)
    if check_mode and before != number:
        report.update(current=number, previous=before, restart_needed=False)
    after = {"current": report["current"], "previous": report["previous"]}
    return {"changed": before != number, "diff": {"before": links, "after": after}, **report}


def pruned(instance: Instance, keep: int, *, check_mode: bool, warn: Callable[[str], None]) -> dict[str, Any]:
    """Remove the generations that `kept_generations` does not name. Raises ValueError and JournalError as it does."""
    numbers, kept = instance.numbers(), kept_generations(instance, keep)
    unused = [str(number) for number in numbers if number not in kept]
    removed = sorted(map(int, remove(instance.generations, unused, check_mode=check_mode, warn=warn)))
    before = sorted({*numbers, *removed})
    after = [number for number in before if number not in removed]
    diff = {"before": {"generations": before}, "after": {"generations": after}}
    return {"changed": bool(removed), "removed": removed, "diff": diff, **_links(instance)}


def _digest(weights_path: str, known: Iterable[Content | None], *, check_mode: bool) -> str | None:
    try:
        return read_manifest(weights_path, timeout=_MANIFEST_TIMEOUT).digest
    except WeightsFault:
        if not check_mode:
            raise
    # A version never changes: what could be read of it once is right still.
    releases = (content.release for content in known if content)
    return next((release["manifest_digest"] for release in releases if release["weights_path"] == weights_path), None)


def _links(instance: Instance) -> dict[str, int | None]:
    return {link: instance.linked(link) for link in ("current", "previous")}


def _report(instance: Instance, number: int) -> dict[str, Any]:
    links = _links(instance)
    return {
        "generation": number,
        **links,
        "path": str(instance.directory(number)),
        "restart_needed": links["current"] != number,
    }
