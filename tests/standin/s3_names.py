# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which names the server takes for buckets, keys and prefixes (crates/ecstore/src/bucket/utils.rs), and what it makes
of a name's ending."""

from __future__ import annotations

import mimetypes
import re

from .wire import ApiError

BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
IP_ADDRESS = re.compile(r"(\d+\.){3}\d+")
TYPES = mimetypes.MimeTypes()  # Python's own, not this host's
LONGEST_KEY = 1024  # bytes
LONGEST_SEGMENT = 255  # bytes: a folder's or file's name
MARKER_SUFFIX = len("__XLDIR__")  # what the name of a folder marker gets on the disk


def check_bucket(name: str) -> None:
    """Raises ApiError for a name that no bucket can have."""
    if not BUCKET.fullmatch(name) or IP_ADDRESS.fullmatch(name) or any(part in name for part in ("..", ".-", "-.")):
        raise ApiError(400, "InvalidBucketName")


def check_new_bucket(name: str) -> None:
    """Raises ApiError for a name that a new bucket cannot have."""
    check_bucket(name)
    if name == "rustfs":
        raise ApiError(400, "InvalidBucketName", "The specified bucket is not valid.")


def check_length(key: str) -> None:
    """Raises ApiError for a key that S3 has no room for."""
    if len(key.encode()) > LONGEST_KEY:
        raise ApiError(400, "KeyTooLongError")


def check_prefix(prefix: str) -> None:
    """Raises ApiError for what cannot be the start of a key."""
    segments = re.split(r"[/\\]", prefix.lstrip("/\\"))
    if "//" in prefix or "\0" in prefix or any(segment.strip() in (".", "..") for segment in segments):
        raise ApiError(400, "InvalidArgument", "Invalid argument")


def check_key(key: str) -> None:
    """Raises ApiError for a key that cannot be a path on a disk."""
    check_prefix(key)
    segments = key.rstrip("/").split("/")
    room = [LONGEST_SEGMENT] * len(segments)
    if key.endswith("/"):
        room[-1] -= MARKER_SUFFIX
    fits = all(len(segment.encode()) <= most for segment, most in zip(segments, room, strict=True))
    if key.startswith("/") or not fits:
        raise ApiError(400, "InvalidArgument", "Invalid argument")


def content_type(key: str) -> str:
    """What an object is taken for when nobody says."""
    if key.lower().endswith(".parquet"):
        return "application/vnd.apache.parquet"
    kind, packed = TYPES.guess_type(key.rpartition("/")[2])
    if packed:
        return f"application/{packed}"
    return kind or "application/octet-stream"


def after(prefix: str) -> str | None:
    """The first text after everything that starts with `prefix`; None when there is nothing after it."""
    while prefix:
        last = ord(prefix[-1]) + 1
        if last == 0xD800:
            last = 0xE000
        if last <= 0x10FFFF:
            return prefix[:-1] + chr(last)
        prefix = prefix[:-1]
    return None
