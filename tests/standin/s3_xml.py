# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The XML of S3, read and written."""

from __future__ import annotations

import datetime
import xml.etree.ElementTree as ElementTree
from urllib.parse import quote

from .wire import ApiError, Response, xml_response, xml_text

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
OWNER_ID = "c19050dbcee97fda828689dda99097a6321af2248fa760517237346e5d9c8a66"  # of everything on every RustFS
NAMED = f"<DisplayName>rustfs</DisplayName><ID>{OWNER_ID}</ID>"
OWNER = f"<Owner>{NAMED}</Owner>"
INITIATOR = f"<Initiator>{NAMED}</Initiator>"


def element(name: str, value: object) -> str:
    """One element with text; nothing for None."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{name}>{xml_text(text)}</{name}>"


def etag(value: str) -> str:
    """An entity tag in its quotes, which are left as they are."""
    return f'<ETag>"{xml_text(value)}"</ETag>'


def document(name: str, *parts: str, plain: bool = False) -> Response:
    """The answer `<name>...</name>`; `plain` without the namespace."""
    start = f"<{name}>" if plain else f'<{name} xmlns="{NAMESPACE}">'
    return xml_response(f"{start}{''.join(parts)}</{name}>")


def moment(seconds: float) -> str:
    """A time as S3 writes it in XML."""
    when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z"


def url(text: str, *, slashes: bool = True) -> str:
    """A key under `encoding-type=url`."""
    return quote(text, safe="/-_.~" if slashes else "-_.~")


def parsed(body: bytes, root: str) -> ElementTree.Element:
    """The root element without namespaces. Raises ApiError unless it is `root`."""
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise malformed()
    try:
        found = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        raise malformed() from None
    for node in found.iter():
        node.tag = node.tag.rpartition("}")[2]
    if found.tag != root:
        raise malformed()
    return found


def text_of(node: ElementTree.Element, path: str) -> str | None:
    """The text of a descendant, "" for an empty one, None for none."""
    found = node.find(path)
    return None if found is None else found.text or ""


def malformed() -> ApiError:
    """The answer to a body that is not what it should be."""
    reason = "The XML you provided was not well-formed or did not validate against our published schema."
    return ApiError(400, "MalformedXML", reason)


def tags_of(body: bytes) -> dict[str, str]:
    """The tags of a `Tagging` document. Raises ApiError."""
    tags: dict[str, str] = {}
    for node in parsed(body, "Tagging").iterfind("TagSet/Tag"):
        name, value = text_of(node, "Key"), text_of(node, "Value")
        if not name or value is None or len(name) > 128 or len(value) > 256 or name in tags:
            raise ApiError(400, "InvalidTag", "The tag provided was not a valid tag.")
        tags[name] = value
    return tags


def tagging(tags: dict[str, str]) -> Response:
    """A `Tagging` document."""
    inside = "".join(f"<Tag>{element('Key', name)}{element('Value', value)}</Tag>" for name, value in tags.items())
    return document("Tagging", f"<TagSet>{inside}</TagSet>")
