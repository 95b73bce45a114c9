# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest of a version: every file with its size and hash. A version exists exactly when its manifest does.

Standard library and Python 3.9 only: the serving hosts use this file too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MANIFEST_PATH = ".modelshelf/manifest.json"
"""Where a version keeps its manifest, below the prefix of the version."""

FORMAT = 1
"""The newest format that this code can read. A reader ignores unknown fields and refuses a higher format."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class ManifestError(ValueError):
    """A text that is not a manifest, or a manifest that contradicts itself."""


@dataclass(frozen=True)
class FileEntry:
    """One file of a version. `size` is in bytes, `sha256` in lower case hexadecimal."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a version consists of. `bytes` is the sum of all sizes, `created` an ISO 8601 time in UTC."""

    model: str
    display_name: str
    version: str
    kind: str
    created: str
    files: tuple[FileEntry, ...]
    bytes: int
    digest: str
    source: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The manifest as plain data, in the order in which it is written."""
        return {
            "format": FORMAT,
            "model": self.model,
            "display_name": self.display_name,
            "version": self.version,
            "kind": self.kind,
            "created": self.created,
            "source": dict(self.source),
            "files": [{"path": entry.path, "size": entry.size, "sha256": entry.sha256} for entry in self.files],
            "bytes": self.bytes,
            "digest": self.digest,
            "config": dict(self.config),
            "exclude": list(self.exclude),
        }

    def to_json(self) -> str:
        """The text of the manifest as it is stored."""
        return json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n"


def sort_files(files: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """The files in the order of a manifest: by the bytes of the path."""
    return tuple(sorted(files, key=lambda entry: entry.path.encode()))


def digest(files: Iterable[FileEntry]) -> str:
    """`sha256:` and the hash of what `sha256sum` prints for the files, sorted by the bytes of the path."""
    listing = "".join(f"{entry.sha256}  {entry.path}\n" for entry in sort_files(files))
    return "sha256:" + hashlib.sha256(listing.encode()).hexdigest()


def check_path(path: str) -> str:
    """`path` itself, when it is a plain relative path that stays below the version. Raises ManifestError otherwise.

    Backslashes and control characters are refused too: `sha256sum` prints such names in an escaped form.
    """
    if not path or any(segment in ("", ".", "..") for segment in path.split("/")):
        raise ManifestError(f"{path!r} is not a plain relative path")
    if "\\" in path or any(ord(character) < 0x20 or ord(character) == 0x7F for character in path):
        raise ManifestError(f"{path!r} has a backslash or a control character in its name")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ManifestError(f"the name {path!r} is not valid UTF-8") from None
    return path


def parse_manifest(text: str | bytes) -> Manifest:
    """The manifest that `text` holds, checked: paths, sizes, sum and digest agree with each other.

    Raises ManifestError, whose message says what is wrong.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ManifestError(f"the manifest is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ManifestError("the manifest is not a JSON object")
    found_format = _value(data, "format", int)
    if found_format > FORMAT:
        raise ManifestError(
            f"the manifest has format {found_format}, newer than {FORMAT}: read it with a newer Modelshelf"
        )
    files = sort_files(_file_entry(item) for item in _value(data, "files", list))
    paths = [entry.path for entry in files]
    repeated = sorted({path for path in paths if paths.count(path) > 1}) if len(set(paths)) != len(paths) else []
    if repeated:
        raise ManifestError(f"the manifest names a file more than once: {', '.join(repeated)}")
    manifest = Manifest(
        model=_value(data, "model", str),
        display_name=_value(data, "display_name", str, default=_value(data, "model", str)),
        version=_value(data, "version", str),
        kind=_value(data, "kind", str),
        created=_value(data, "created", str, default=""),
        files=files,
        bytes=_value(data, "bytes", int),
        digest=_value(data, "digest", str),
        source=_value(data, "source", dict, default={}),
        config=_value(data, "config", dict, default={}),
        exclude=tuple(_strings(_value(data, "exclude", list, default=[]))),
    )
    total = sum(entry.size for entry in files)
    if total != manifest.bytes:
        raise ManifestError(f"the manifest says {manifest.bytes} bytes, but its files add up to {total}")
    if digest(files) != manifest.digest:
        raise ManifestError(f"the manifest says digest {manifest.digest}, but its files give {digest(files)}")
    return manifest


def _value(data: Mapping[str, Any], key: str, kind: type, default: Any = None) -> Any:
    value = data.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ManifestError(f"the manifest's field {key!r} is missing or not of type {kind.__name__}")
    return value


def _strings(values: Sequence[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise ManifestError("the manifest has a list of strings with something else in it")
    return list(values)


def _file_entry(item: Any) -> FileEntry:
    if not isinstance(item, dict):
        raise ManifestError("the manifest's field 'files' has an item that is not an object")
    entry = FileEntry(
        path=_value(item, "path", str), size=_value(item, "size", int), sha256=_value(item, "sha256", str)
    )
    check_path(entry.path)
    if entry.size < 0 or not _SHA256.fullmatch(entry.sha256):
        raise ManifestError(f"the manifest's entry for {entry.path!r} has no usable size and sha256")
    return entry
