# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same exchanges with other names: users, keys, secrets, policies, groups, buckets, prefixes and objects.

A name is taken apart into words of letters and digits; each word gets another of the same length. What was equal stays
equal, what began alike begins alike, and the order of two names stays: letters become letters of the same case and
digits digits, chosen so that they grow with those that they stand for. Names that mean something to the server stay.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable, Iterator
from typing import Any

RESERVED = frozenset(
    """
    readonly readwrite writeonly diagnostics consoleAdmin KMSKeyAdministrator KMSKeyUser KMSAuditor
    rustfs minio null 192.168.1.1
    """.split()
)
_KEPT = (
    r"\$\{[^}]*\}|%[0-9A-F]{2}|\{[a-z0-9]+\}|\.[A-Za-z0-9]+"  # variables, encoded bytes, captured values, extensions
)
_PIECES = re.compile(rf"{_KEPT}|[A-Za-z0-9]+")
_ARN = "arn:aws:s3:::"
_CLASSES = (string.digits, string.ascii_uppercase, string.ascii_lowercase)
_QUERY = frozenset("accessKey access-key name userOrGroup user users group bucket prefix start-after marker".split())
_FIELDS = frozenset(
    """
    accessKey secretKey targetUser user group name members policies description newSecretKey newName newDescription
    """.split()
)
_TAGS = r"Key|Prefix|Name|Bucket|Marker|NextMarker|StartAfter|KeyMarker|NextKeyMarker"
_ELEMENT = re.compile(rf"(<(?:{_TAGS})>)([^<]*)(</)")
_LOCATION = re.compile(r"(<Location>https?://[^/]*)([^<]*)(</)")


class Words:
    """A table of words, built once from all of them so that order and common beginnings stay."""

    def __init__(self, words: set[str], kept: set[str], seed: int) -> None:
        self._random = random.Random(seed)
        self.table: dict[str, str] = {}
        # Beginnings that are open: what they became, the words that begin so, and the kept ones among them.
        pending = [("", "", words | kept, kept)]
        while pending:
            before, after, below, pinned = pending.pop()
            if before in below:
                self.table[before] = after
            place = len(before)
            followers = sorted({word[place] for word in below if len(word) > place})
            fixed = {word[place] for word in pinned if len(word) > place}
            for alphabet in _CLASSES:
                letters = [letter for letter in followers if letter in alphabet]
                for letter, chosen in zip(letters, self._chosen(letters, fixed, alphabet), strict=True):
                    longer = before + letter
                    rest, fixed_rest = ({word for word in some if word.startswith(longer)} for some in (below, pinned))
                    pending.append((longer, after + chosen, rest, fixed_rest))

    def _chosen(self, letters: list[str], pinned: set[str], alphabet: str) -> list[str]:
        """As many letters of the alphabet as given, growing; a pinned one stands for itself."""
        chosen: list[str] = []
        low, group = -1, 0
        for letter in [*letters, None]:
            if letter is not None and letter not in pinned:
                group += 1
                continue
            high = alphabet.index(letter) if letter is not None else len(alphabet)
            free = range(low + 1, high)
            chosen += [alphabet[place] for place in sorted(self._random.sample(free, group))]
            if letter is not None:
                chosen.append(letter)
                low, group = high, 0
        return chosen

    def rename(self, name: str) -> str:
        """A name with its words replaced."""
        return name if name in RESERVED else _PIECES.sub(lambda piece: self.table.get(piece[0], piece[0]), name)


def renamed(topic: dict[str, Any], seed: int) -> dict[str, Any]:
    """A recording with other names throughout: requests, identities and answers."""
    names = set(_names(topic)) - {""}
    words = {piece for name in names - RESERVED for piece in _PIECES.findall(name) if piece[0].isalnum()}
    kept = {piece for name in RESERVED for piece in _PIECES.findall(name) if piece[0].isalnum()}
    table = Words(words, kept, seed)

    def rename(text: str) -> str:
        parts = text.split(",")
        if text.startswith(_ARN):
            return _ARN + table.rename(text.removeprefix(_ARN))
        if text in names or all(part.strip() in names | RESERVED for part in parts):
            return ",".join(table.rename(part) for part in parts)
        if text.startswith("{"):
            return _in_json(text, rename)
        return text

    identities = {who: [table.rename(part) for part in pair] for who, pair in topic["identities"].items()}
    exchanges = [_exchange(exchange, table.rename, rename) for exchange in topic["exchanges"]]
    return {**topic, "identities": identities, "exchanges": exchanges}


def _is_admin(exchange: dict[str, Any]) -> bool:
    return str(exchange["path"]).startswith(("/rustfs/admin/", "/minio/admin/"))


def _is_s3(exchange: dict[str, Any]) -> bool:
    return not _is_admin(exchange) and not str(exchange["path"]).startswith(("/health", "/minio/health"))


def _named_in_path(exchange: dict[str, Any]) -> tuple[str, str]:
    """The part of a path before a name, and the name."""
    path = str(exchange["path"])
    if _is_s3(exchange):
        return "", path
    found = re.fullmatch(r"(.*/(?:group|quota)/)(.+)", path)
    return (found[1], found[2]) if found else (path, "")


def _names(topic: dict[str, Any]) -> Iterator[str]:
    for pair in topic["identities"].values():
        yield from pair
    for exchange in topic["exchanges"]:
        yield _named_in_path(exchange)[1]
        yield exchange.get("sign", {}).get("secret", "")
        yield from (value for name, value in exchange.get("headers", {}).items() if name == "x-amz-copy-source")
        for name, value in exchange.get("query", ()):
            if name in _QUERY or (name == "policy" and value):
                yield value
            elif name == "policyName":
                yield from value.split(",")
        body = exchange.get("body", "")
        if body.startswith("<"):
            yield from (found[2] for found in _ELEMENT.finditer(body))
        elif body.startswith("{") and (_is_admin(exchange) or _is_policy(exchange)):
            try:
                yield from _names_in(json.loads(body), "")
            except ValueError:
                continue


def _is_policy(exchange: dict[str, Any]) -> bool:
    return any(name == "policy" for name, _ in exchange.get("query", ()))


def _names_in(value: Any, field: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _names_in(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from _names_in(member, field)
    elif isinstance(value, str) and value.startswith(_ARN):
        yield value.removeprefix(_ARN)
    elif isinstance(value, str) and value.startswith("{"):
        yield from _names_in(json.loads(value), field)
    elif isinstance(value, str) and field in (*_FIELDS, "s3:prefix"):
        yield value


def _in_json(text: str, rename: Callable[[str], str]) -> str:
    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {rename(name): walk(member) for name, member in value.items()}
        if isinstance(value, list):
            return [walk(member) for member in value]
        return rename(value) if isinstance(value, str) else value

    try:
        return json.dumps(walk(json.loads(text)), ensure_ascii=False)
    except ValueError:
        return text


def _exchange(
    exchange: dict[str, Any], rename_all: Callable[[str], str], rename_known: Callable[[str], str]
) -> dict[str, Any]:
    """`rename_all` is for what is a name by its place, `rename_known` for what may be one."""
    changed = dict(exchange)
    before, name = _named_in_path(exchange)
    changed["path"] = before + rename_all(name)
    if "query" in exchange:
        changed["query"] = [
            [key, rename_known(value) if key in (*_QUERY, "policyName", "policy") else value]
            for key, value in exchange["query"]
        ]
    if "headers" in exchange:
        changed["headers"] = {
            key: rename_all(value) if key == "x-amz-copy-source" else value
            for key, value in exchange["headers"].items()
        }
    if "secret" in exchange.get("sign", {}):
        changed["sign"] = {**exchange["sign"], "secret": rename_all(exchange["sign"]["secret"])}
    changed["response"] = dict(exchange["response"])
    named_json = _is_admin(exchange) or _is_policy(exchange)
    for holder in (changed, changed["response"]):
        body = holder.get("body") or ""
        if body.startswith("<"):
            body = _ELEMENT.sub(lambda piece: f"{piece[1]}{rename_all(piece[2])}{piece[3]}", body)
            holder["body"] = _LOCATION.sub(lambda piece: f"{piece[1]}{rename_all(piece[2])}{piece[3]}", body)
        elif body.startswith(("{", "[")) and named_json:
            holder["body"] = _in_json(body, rename_known)
    return changed
