# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Listings: a page is a range of the index, and a common prefix one step in it, whatever lies below."""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Generator
from dataclasses import dataclass

from .s3_call import Call
from .s3_names import after, check_prefix
from .s3_xml import OWNER, document, element, etag, moment, url
from .wire import ApiError, Response

MOST = 1000
OBJECTS = (
    "SELECT key, version, marker, latest, sequence, size, etag, modified FROM versions INDEXED BY listing"
    " WHERE bucket = :bucket AND latest = 1 AND key {operator} :start AND (:end IS NULL OR key < :end) AND marker = 0"
    " ORDER BY key"
)
VERSIONS = (
    "SELECT key, version, marker, latest, sequence, size, etag, modified FROM versions INDEXED BY versions_by_key"
    " WHERE bucket = :bucket AND key {operator} :start AND (:end IS NULL OR key < :end)"
    " AND (key > :same OR sequence < :below OR :same IS NULL) ORDER BY key, sequence DESC"
)


@dataclass
class Page:
    """Rows and common prefixes in the order of their keys; `last` is where the next page goes on."""

    rows: list[sqlite3.Row]
    prefixes: list[str]
    truncated: bool
    last: str


@dataclass(frozen=True)
class Wanted:
    """What a listing is asked for. It starts after `marker`; with `below`, within the versions of the marker's key."""

    bucket: str
    prefix: str
    delimiter: str
    marker: str
    most: int
    below: int | None = None


def page(connection: sqlite3.Connection, query: str, wanted: Wanted) -> Page:
    """One page. The cost is that of what is on it."""
    found = Page([], [], False, "")
    if not wanted.most:
        return found
    items = _items(connection, query, wanted)
    for item in items:
        if len(found.rows) + len(found.prefixes) == wanted.most:
            found.truncated = True
            break
        if isinstance(item, str):
            found.prefixes.append(item)
            found.last = item
        else:
            found.rows.append(item)
            found.last = item["key"]
    items.close()  # an open query would hold this thread's connection on an old state
    return found


def _items(connection: sqlite3.Connection, query: str, wanted: Wanted) -> Generator[sqlite3.Row | str, None, None]:
    prefix, delimiter, end = wanted.prefix, wanted.delimiter, after(wanted.prefix)
    start, operator, same = max(prefix, wanted.marker), ">=", None
    if wanted.marker >= prefix and wanted.marker:
        operator = ">"
        group = _group(wanted.marker, prefix, delimiter)
        if group == wanted.marker:  # the marker is a common prefix: all below it was on the page before
            skipped = after(group)
            if skipped is None:
                return
            start, operator = skipped, ">="
        elif wanted.below is not None:
            operator, same = ">=", wanted.marker
    while True:
        values = {"bucket": wanted.bucket, "start": start, "end": end, "same": same, "below": wanted.below}
        names = {name: value for name, value in values.items() if f":{name}" in query}
        rows = connection.execute(query.format(operator=operator), names)
        for row in rows:
            group = _group(row["key"], prefix, delimiter)
            if not group:
                yield row
                continue
            yield group
            rows.close()
            skipped = after(group)
            if skipped is None:
                return
            start, operator, same = skipped, ">=", None
            break
        else:
            return


def _group(key: str, prefix: str, delimiter: str) -> str:
    place = key.find(delimiter, len(prefix)) if delimiter and key.startswith(prefix) else -1
    return key[: place + len(delimiter)] if place >= 0 else ""


def list_objects(call: Call) -> Response:
    """ListObjects and ListObjectsV2."""
    call.require("s3:ListBucket", key="")
    asked, second = call.request, call.request.argument("list-type") == "2"
    prefix, delimiter = asked.argument("prefix") or "", asked.argument("delimiter") or ""
    most = call.number("max-keys", MOST, MOST, "Invalid max keys")
    check_prefix(prefix)
    call.here()
    token, first = asked.argument("continuation-token"), asked.argument("start-after")
    marker = (_marker(token) if token else first or "") if second else asked.argument("marker") or ""
    wanted = Wanted(call.bucket, prefix, delimiter, marker, most)
    found = page(call.store.database.read(), OBJECTS, wanted)
    encode = asked.argument("encoding-type") == "url"
    shown = url if encode else str
    owner = OWNER if not second or asked.argument("fetch-owner") == "true" else ""
    contents = (
        f"<Contents>{etag(row['etag'])}{element('Key', shown(row['key']))}"
        f"{element('LastModified', moment(row['modified']))}{owner if second else ''}{element('Size', row['size'])}"
        f"{element('StorageClass', 'STANDARD')}</Contents>"
        for row in found.rows
    )
    common = (f"<CommonPrefixes>{element('Prefix', shown(one))}</CommonPrefixes>" for one in found.prefixes)
    ends = element("Delimiter", delimiter or None), element("EncodingType", "url" if encode else None)
    names = element("Name", call.bucket), element("Prefix", prefix)
    keys = element("MaxKeys", most)
    if not second:
        following = element("NextMarker", shown(found.last) if found.truncated else None)
        marked = element("Marker", shown(marker))
        cut = element("IsTruncated", found.truncated)
        return document("ListBucketResult", *names, marked, keys, cut, *contents, *common, *ends, following)
    return document(
        "ListBucketResult",
        *names,
        keys,
        element("KeyCount", len(found.rows) + len(found.prefixes)),
        element("ContinuationToken", token),
        element("IsTruncated", found.truncated),
        element("NextContinuationToken", _token(found.last) if found.truncated else None),
        *contents,
        *common,
        *ends,
        element("StartAfter", first),
    )


def _token(last: str) -> str:
    return base64.b64encode(last.encode()).decode()


def _marker(token: str) -> str:
    try:
        return base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ApiError(400, "InvalidArgument", "The continuation token provided is incorrect") from None


def list_versions(call: Call) -> Response:
    """ListObjectVersions: the newest of a key first, delete markers among them."""
    call.require("s3:ListBucketVersions", key="")
    asked = call.request
    prefix, delimiter = asked.argument("prefix") or "", asked.argument("delimiter") or ""
    marker, version = asked.argument("key-marker") or "", asked.argument("version-id-marker") or ""
    most = call.number("max-keys", MOST, MOST, "Invalid max keys")
    check_prefix(prefix)
    call.here()
    connection, below = call.store.database.read(), None
    if version:
        at = connection.execute(
            "SELECT sequence FROM versions WHERE bucket = ? AND key = ? AND version = ?", (call.bucket, marker, version)
        ).fetchone()
        below = at["sequence"] if at else None
    found = page(connection, VERSIONS, Wanted(call.bucket, prefix, delimiter, marker, most, below))
    encode = asked.argument("encoding-type") == "url"
    last = found.rows[-1] if found.rows and found.last == found.rows[-1]["key"] else None

    def shown(text: str) -> str:
        return url(text, slashes=False) if encode else text

    entries = []
    for row in found.rows:
        kind = "DeleteMarker" if row["marker"] else "Version"
        size = "" if row["marker"] else element("Size", row["size"]) + element("StorageClass", "STANDARD")
        entries.append(
            f"<{kind}>{'' if row['marker'] else etag(row['etag'])}{element('IsLatest', bool(row['latest']))}"
            f"{element('Key', shown(row['key']))}{element('LastModified', moment(row['modified']))}{size}"
            f"{element('VersionId', row['version'])}</{kind}>"
        )
    return document(
        "ListVersionsResult",
        "".join(f"<CommonPrefixes>{element('Prefix', shown(one))}</CommonPrefixes>" for one in found.prefixes),
        element("Delimiter", shown(delimiter) if delimiter else None),
        element("EncodingType", "url" if encode else None),
        element("IsTruncated", found.truncated),
        element("KeyMarker", shown(marker)),
        element("MaxKeys", most),
        element("Name", call.bucket),
        element("NextKeyMarker", shown(found.last) if found.truncated else None),
        element("NextVersionIdMarker", last["version"] if found.truncated and last else None),
        element("Prefix", shown(prefix)),
        element("VersionIdMarker", version),
        *entries,
    )
