# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of the policy engine share: JSON as the server reads it, wildcards, cleaned paths."""

from __future__ import annotations

import json
import posixpath
import re
from functools import lru_cache
from typing import Any


class PolicyError(Exception):
    """A document that the server refuses. `rule` tells a broken rule from a text that could not be read at all."""

    def __init__(self, message: str, *, rule: bool = False) -> None:
        super().__init__(message)
        self.message, self.rule = message, rule


class Members(dict[str, Any]):
    """A JSON object that remembers members written twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._names = [name for name, _ in pairs]

    def repeated(self) -> str | None:
        """The first name that stands twice."""
        return next((name for place, name in enumerate(self._names) if name in self._names[:place]), None)


def read_json(document: bytes) -> Any:
    """A JSON text with its objects as Members. Raises PolicyError."""
    try:
        return json.loads(document.decode(), object_pairs_hook=Members, parse_constant=_no_constant)
    except ValueError as error:
        raise PolicyError(f"{'EOF while parsing a value' if not document.strip() else error}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"expected value: {name}")


@lru_cache(maxsize=4096)
def _pattern(pattern: str, *, optional: bool) -> re.Pattern[str]:
    one = ".?" if optional else "."
    pieces = [".*" if letter == "*" else one if letter == "?" else re.escape(letter) for letter in pattern]
    return re.compile("".join(pieces), re.DOTALL)


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern fits a whole text: `*` is anything, slashes too, `?` is one character."""
    return _pattern(pattern, optional=False).fullmatch(text) is not None


def matches_principal(pattern: str, text: str) -> bool:
    """The same for a principal, where `?` may also be nothing."""
    return _pattern(pattern, optional=True).fullmatch(text) is not None


def clean(path: str) -> str:
    """A path as Go's path.Clean makes it: no double slash, no final one, dots resolved; "." when nothing is left."""
    return posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path or ".")
