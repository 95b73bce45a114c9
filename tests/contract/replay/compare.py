# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two answers mean the same: status, error code and content; not times, ids, tokens or texts of errors."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._answers import PHRASES
from tests.contract.replay.client import Answer

# What is another each time: compared only by being there.
TIMES_AND_IDS = frozenset(
    """
    updatedAt timestamp create_date update_date version
    LastModified CreationDate Initiated UploadId VersionId VersionIdMarker ContinuationToken NextContinuationToken ID
    """.split()
)
HEADERS = ("content-type", "etag", "accept-ranges", "content-range", "x-amz-version-id", "x-amz-delete-marker")
CHECKSUMS = ("x-amz-checksum-sha256", "x-amz-checksum-crc32")


def differences(exchange: dict[str, Any], answer: Answer) -> list[str]:
    """What differs from the recorded answer of an exchange, in words."""
    recorded = exchange["response"]
    if recorded["status"] != answer.status:
        text = answer.body[:300].decode(errors="replace")
        return [f"status: {recorded['status']} was recorded, found {answer.status} {text}"]
    if exchange.get("loose"):
        return []
    found: list[str] = []
    for name in (*HEADERS, *CHECKSUMS):
        wanted, given = recorded["headers"].get(name), answer.headers.get(name)
        if name == "x-amz-version-id":
            wanted, given = _masked(wanted), _masked(given)
        # An answer without content has no type worth a comparison.
        if wanted != given and not (name == "content-type" and not recorded.get("body")):
            found.append(f"header {name}: {wanted!r} was recorded, found {given!r}")
    if exchange["method"] == "HEAD":
        wanted, given = recorded["headers"].get("content-length"), answer.headers.get("content-length")
        if wanted is not None and wanted != given:
            found.append(f"header content-length: {wanted} was recorded, found {given}")
        return found
    if "body" in recorded:
        expected, actual = meaning(recorded["body"].encode()), meaning(answer.body)
        if expected != actual:
            found.append(f"content: {expected!r} was recorded, found {actual!r}")
    return found


def meaning(body: bytes) -> Any:
    """An answer's content as a value: errors by their code, JSON without an order of lists, XML by its elements."""
    text = body.decode(errors="replace")
    if text.startswith("<?xml"):
        return _xml_meaning(text)
    try:
        return _json_meaning(json.loads(text))
    except ValueError:
        return text


def _xml_meaning(text: str) -> Any:
    root = ElementTree.fromstring(text)
    if root.tag == "Error":
        # Texts differ, but for what the client tells apart by them.
        message = (root.findtext("Message") or "").lower()
        return ("Error", root.findtext("Code"), *(phrase for phrase, _ in PHRASES if phrase in message))
    return _element(root)


def _element(element: ElementTree.Element) -> Any:
    tag = element.tag.rpartition("}")[2]
    if len(element):
        # Elements of one name stay in their order, which is what a listing is about.
        return (tag, sorted((_element(child) for child in element), key=lambda child: child[0]))
    text = element.text or ""
    if tag == "Location":
        text = re.sub(r"^https?://[^/]*", "", text)
    return (tag, _masked(text) if tag in TIMES_AND_IDS else text)


def _json_meaning(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _json_meaning(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return sorted(
            (_json_meaning(member, name) for member in value), key=lambda one: json.dumps(one, sort_keys=True)
        )
    if name in TIMES_AND_IDS and isinstance(value, str):
        return _masked(value)
    if name == "policy" and isinstance(value, str) and value.startswith("{"):
        return _json_meaning(json.loads(value))
    return value


def _masked(text: str | None) -> str | None:
    return text if text in (None, "", "null") else "*"
