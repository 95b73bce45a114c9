# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an answer of the store means, and which failures are worth another try.

The S3 calls and the admin calls share this. RustFS answers both with S3's XML errors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    AlreadyThere,
    BadSignature,
    ClockSkew,
    InUse,
    KeyDisabled,
    NotFound,
    NotPermitted,
    Refused,
    StoreError,
    Unavailable,
    UnknownKey,
    Unreachable,
    Unsupported,
)

T = TypeVar("T")

PHRASES: tuple[tuple[str, type[StoreError]], ...] = (
    ("does not exist", NotFound),
    ("not exist", NotFound),
    ("user not found", NotFound),
    ("bucket not found", NotFound),
    ("already in use", AlreadyThere),
    ("policy in use", InUse),
    ("group not empty", InUse),
    ("group is not empty", InUse),
    ("system policy can not be deleted", Refused),
    ("invalid secret key length", Refused),
    ("invalid access key length", Refused),
    ("reserved characters", Refused),
    ("invalid arguments specified", Refused),
    ("action not allowed", Refused),
    ("policy too large", Refused),
    ("withaccesskey", Refused),
    ("withsecretkey", Refused),
    ("update service account failed", Refused),
)
"""Parts of messages, in lower case, that tell what a 400 or a 500 of an admin call means. The first that fits counts.

RustFS 1.0.0-rc.3 answers 500 InternalError for much that is the caller's doing; only the message tells.
"""

_SKEWED = ("RequestTimeTooSkewed", "RequestExpired")
_NOT_PERMITTED = ("AccessDenied", "Forbidden", "UnauthorizedAccess", "401", "403")
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "BucketAlreadyExists", "BucketAlreadyOwnedByYou")
_IN_USE = ("BucketNotEmpty",)
_UNSUPPORTED = ("NotImplemented", "MethodNotAllowed", "501", "405")
_BUSY = ("SlowDown", "ServiceUnavailable", "TooManyRequests", "429", "502", "503", "504")
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0
"""Seconds between two tries, at first and at most; each pause is twice as long as the one before it."""


def error_for(
    status: int,
    code: str,
    message: str,
    *,
    doing: str,
    where: str,
    access_key: str,
    server: str = "",
    bucket: str = "",
) -> StoreError:
    """The error that an answer stands for, to be raised by the caller.

    `status` and `code` are those of the answer; the code may be empty, or the status as text, as botocore has it for
    an answer without a body. `doing` and `where` complete "could not {doing} {where}". `access_key` signed the
    request. `server` names the server and its version where known, `bucket` the bucket that was asked for.

    Who asks is judged by the code before anything else: the text for an unknown key says "does not exist" as well.
    """
    said = f"{code or status}: {message}" if message else str(code or status)
    kind, advice = (
        not_accepted(code, message, access_key) or _not_permitted(code, access_key) or _meaning(status, code, message)
    )
    if message.lstrip()[:14].lower().startswith(("<!doctype html", "<html")):
        said = str(status)
        if status < 500 or status == 501:  # a proxy in front of a store has pages for the others
            kind, advice = StoreError, "a web page, from a server that is no store: check the endpoint"
    if kind is NotFound and code == "NoSuchBucket" and bucket:
        advice = f"there is no bucket {bucket!r}. Create it first, or correct its name"
    if kind is Unsupported:
        said, advice = f"the server ({server or 'version unknown'}) does not support it", said
    return kind(f"could not {doing} {where}: {said}" + (f": {advice}" if advice else ""))


def retried(
    call: Callable[[], T],
    deadline_s: float,
    *,
    again: type[Unreachable] = Unreachable,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """What `call` returns, tried again while the store cannot be reached or answers 429, 502, 503 or 504.

    The pauses grow from 0.2 s to 5 s; no try begins later than `deadline_s` seconds after the first. Then the last
    error is raised, saying for how long it was tried. All other errors, other 500s among them, pass at once, and with
    Unavailable as `again` connection errors, too.
    """
    start = time.monotonic()
    pause, tries = FIRST_PAUSE, 1
    while True:
        try:
            return call()
        except again as error:
            spent = time.monotonic() - start
            if spent + pause > deadline_s:
                raise type(error)(f"{error} (tried {tries} times in {spent:.0f} s)") from error
        sleep(pause)
        pause, tries = min(pause * 2, LONGEST_PAUSE), tries + 1


def not_accepted(
    code: str, message: str, access_key: str, *, read_only: bool = False
) -> tuple[type[StoreError], str] | None:
    """The class and the words for an answer that does not accept the signature; None where it is accepted.

    `read_only`: nothing but the signature can be wrong with the request, so that InvalidRequest is about it. Texts name
    the access key, never a secret.
    """
    if code in _SKEWED:
        return ClockSkew, "the clocks of this machine and of the store differ too much. Set them right"
    if code == "InvalidAccessKeyId":
        return UnknownKey, f"the server does not know the key: check the access key {access_key!r} and the endpoint"
    if code == "SignatureDoesNotMatch":
        return BadSignature, f"the secret is not that of the key: check the access key {access_key!r} and its secret"
    if message.strip() == "ErrAccessKeyDisabled":
        return KeyDisabled, f"the access key {access_key!r} is switched off: enable it, or use another"
    if message.strip() == "check key failed" or (read_only and code == "InvalidRequest"):
        # Some handlers say this of every key, whatever is wrong with it.
        return NotPermitted, f"the access key {access_key!r} is wrong, deleted, expired or switched off: use another"
    return None


def _not_permitted(code: str, access_key: str) -> tuple[type[StoreError], str] | None:
    if code in _NOT_PERMITTED:
        return NotPermitted, f"check the access key {access_key!r}, its secret and its policy"
    return None


def _meaning(status: int, code: str, message: str) -> tuple[type[StoreError], str]:
    """The class of an answer to somebody who may ask, and the words for it (empty: what the server said)."""
    text = message.lower()
    if "checksum" in text and status not in (200, 404) and code != "BadDigest":
        return Unsupported, ""
    if code in _UNSUPPORTED or status in (405, 426, 501):
        return Unsupported, ""
    if code in _BUSY or status in (429, 502, 503, 504):
        return Unavailable, "the server cannot now"
    if code in _TAKEN or status == 412:
        return AlreadyThere, "it is there already"
    if code in _IN_USE:
        return InUse, ""
    if code.startswith("NoSuch") or code in ("NotFound", "404") or status == 404:
        return NotFound, "it is not there"
    if status in (401, 403):
        return NotPermitted, "check the access key, its secret and its policy"
    for phrase, kind in PHRASES:
        if phrase in text and status in (400, 409, 500):
            return kind, ""
    if status == 409:
        return InUse, ""
    return (Refused, "") if 400 <= status < 500 else (StoreError, "")
