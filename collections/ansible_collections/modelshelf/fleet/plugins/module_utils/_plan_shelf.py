# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the shelf, as a plan needs it. Raises ValueError for what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import mapping, whole
from ansible_collections.modelshelf.fleet.plugins.module_utils._models import entries
from ansible_collections.modelshelf.fleet.plugins.module_utils._names import model_slug


class Version(NamedTuple):
    """A version of a model, by slug."""

    model: str
    version: str

    def __str__(self) -> str:
        return f"{self.model} {self.version}"


@dataclass(frozen=True)
class Coming:
    """A version that would be published first, from a directory; `fault` says why that one cannot be."""

    directory: str
    fault: str


@dataclass(frozen=True)
class Shelf:
    """The size in bytes and the digest of every version, those in `coming` included, which are not there yet.

    `known` is False when the store was not asked, or did not answer: then `fault` may say why.
    """

    sizes: Mapping[Version, int]
    digests: Mapping[Version, str]
    known: bool
    fault: str = ""
    coming: Mapping[Version, Coming] = field(default_factory=dict)

    def versions(self, model: str) -> list[str]:
        """The versions of a model, in the order given."""
        return [found.version for found in self.sizes if found.model == model]


def read_version(release: Mapping[str, Any]) -> Version:
    """The version that a release.json or an entry of a list names. Raises ValueError when it names none."""
    if not isinstance(release, Mapping) or not release.get("model") or not release.get("version"):
        raise ValueError(f"{release!r} has no model and version: give a release.json")
    return Version(str(release["model"]), str(release["version"]))


def read_shelf(value: Any, publish: Any = None, fault: str = "") -> Shelf:
    """The shelf from `{model: {version: {bytes, digest}}}` or a list of versions; null when the store was not asked.

    `publish` are the versions that would be published first, where they are not there.
    """
    sizes: dict[Version, int] = {}
    digests: dict[Version, str] = {}
    for version, facts in _stock(value):
        sizes[version] = whole(f"shelf: the size of {version}", facts.get("bytes"))
        if facts.get("digest"):
            digests[version] = str(facts["digest"])
    coming: dict[Version, Coming] = {}
    for entry in entries("the versions to publish", publish):
        version = read_version(entry)
        if version not in sizes:
            coming[version] = Coming(str(entry.get("directory") or ""), str(entry.get("fault") or ""))
            if not coming[version].fault:
                sizes[version] = whole(f"the size of {version} in its directory", entry.get("bytes"))
    return Shelf(sizes, digests, value is not None, fault, coming)


def _stock(value: Any) -> Iterator[tuple[Version, Mapping[str, Any]]]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        for entry in entries("shelf", value):
            yield read_version(entry), entry
        return
    for model, versions in mapping("shelf", value).items():
        for name, given in mapping(f"shelf: {model}", versions).items():
            facts = given if isinstance(given, Mapping) else {"bytes": given}
            yield Version(model_slug(model), str(name)), facts
