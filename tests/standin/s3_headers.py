# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The headers that an object keeps."""

from __future__ import annotations

from urllib.parse import parse_qsl

from .s3_call import Call
from .s3_names import content_type
from .s3_versions import NULL
from .wire import ApiError

KEPT = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "expires",
    "x-amz-object-lock-mode",
    "x-amz-object-lock-retain-until-date",
    "x-amz-object-lock-legal-hold",
    "x-amz-website-redirect-location",
)
LARGEST_METADATA = 2048  # bytes


def stored_headers(call: Call, *, multipart: bool = False) -> dict[str, str]:
    """What a write says about its object. Raises ApiError when the metadata are too large."""
    asked = call.request.headers
    kept = {name: asked[name] for name in KEPT if name in asked}
    metadata = {name: value for name, value in asked.items() if name.startswith("x-amz-meta-")}
    if sum(len(name) + len(value.encode("utf-8", "replace")) for name, value in metadata.items()) > LARGEST_METADATA:
        raise ApiError(400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size.")
    if "content-encoding" in kept:
        codings = [one.strip() for one in kept["content-encoding"].split(",") if one.strip().lower() != "aws-chunked"]
        kept["content-encoding"] = ",".join(codings)
        if not codings:
            del kept["content-encoding"]
    default = "binary/octet-stream" if multipart else content_type(call.key)
    return {**kept, **metadata, "content-type": asked.get("content-type") or default}


def stored_tags(call: Call) -> dict[str, str] | None:
    """The tags that come with a write."""
    given = call.request.headers.get("x-amz-tagging")
    return dict(parse_qsl(given, keep_blank_values=True)) if given else None


def version_headers(version: str) -> dict[str, str]:
    """The header that names a version; none for the one without an id."""
    return {} if version == NULL else {"x-amz-version-id": version}
