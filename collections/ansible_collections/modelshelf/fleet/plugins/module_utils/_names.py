# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for the names that models, versions and prefixes carry.

Standard library and Python 3.9 only: the serving hosts use this file too.
"""

from __future__ import annotations

import re

_SLUG_LENGTH = 200
"""Characters. A slug is part of unit names and paths, which the kernel and systemd limit to 255 bytes."""

_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def model_slug(name: str) -> str:
    """The form of a model's name that units, paths and prefixes carry: letters a to z, digits and single dashes.

    `Qwen2.5_7B/Instruct` becomes `qwen2-5-7b-instruct`. Raises ValueError when nothing usable is left.
    """
    if not isinstance(name, str):
        raise ValueError(f"a model's name is a string, not {name!r}: put it in quotes")
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not slug:
        raise ValueError(f"the model name {name!r} has no letter a-z and no digit, so no path can be named after it")
    if len(slug) > _SLUG_LENGTH:
        raise ValueError(f"the model name {name!r} is too long: {len(slug)} characters, at most {_SLUG_LENGTH} fit")
    return slug


def check_version(version: str) -> str:
    """`version` itself, when it can name an immutable release. Raises ValueError otherwise, `latest` included."""
    if not isinstance(version, str):
        raise ValueError(f"a version is a string, not {version!r}: put it in quotes")
    if not _VERSION.fullmatch(version):
        raise ValueError(
            f"the version {version!r} is not usable: expected 1 to 64 characters of A-Z a-z 0-9 . _ -,"
            " the first a letter or a digit"
        )
    if version.lower() == "latest":
        raise ValueError("the version 'latest' is not usable: a version is one content for ever. Choose one such as v1")
    return version


def normalise_prefix(prefix: str) -> str:
    """A key prefix without leading, trailing and repeated slashes; empty when nothing else was in it.

    Publishing, policies, mounts and rollback all go through here, so that they agree. Segments `.` and `..` raise
    ValueError: S3 servers refuse them or, worse, resolve them.
    """
    segments = [segment for segment in prefix.split("/") if segment]
    for segment in segments:
        if segment in (".", ".."):
            raise ValueError(f"the prefix {prefix!r} has the segment {segment!r}: write the path without it")
        if any(ord(character) < 0x20 or ord(character) == 0x7F for character in segment):
            raise ValueError(f"the prefix {prefix!r} has a control character in it")
    return "/".join(segments)


def version_prefix(slug: str, version: str) -> str:
    """The key prefix of one version of a model, without a final slash."""
    return normalise_prefix(f"{slug}/{check_version(version)}")
