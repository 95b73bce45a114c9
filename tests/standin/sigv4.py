# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signature version 4: who signed a request, and whether the signature is right.

The rules are those of the server (rustfs.md 1.1): any region, service `s3` or `sts`, at most 15 minutes of skew, the
decoded path tried before the path as sent.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from .wire import ApiError

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
SKEW = 900  # seconds
LONGEST_PRESIGNED = 604800  # seconds
EMPTY = hashlib.sha256(b"").hexdigest()
HEADER = re.compile(r"\s*Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]+)\s*")


@dataclass(frozen=True)
class Signature:
    """What a request says about its signature. `payload` is the value of x-amz-content-sha256."""

    access_key: str
    date: str
    region: str
    service: str
    time: str
    signed_headers: tuple[str, ...]
    signature: str
    payload: str
    presigned: bool

    @property
    def scope(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/aws4_request"

    def key(self, secret: str) -> bytes:
        """The signing key of this scope."""
        key = f"AWS4{secret}".encode()
        for part in (self.date, self.region, self.service, "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        return key


def find(headers: Mapping[str, str], query: list[tuple[str, str]]) -> Signature | None:
    """The signature of a request, in its header or (presigned) its query; None for an anonymous one.

    Raises ApiError when it cannot be read, is for another service, or is out of time.
    """
    values = dict(query)
    header = headers.get("authorization")
    if header is not None:
        found = HEADER.fullmatch(header.removeprefix(ALGORITHM)) if header.startswith(ALGORITHM) else None
        if not found:
            raise ApiError(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.")
        credential, signed, signature = found.groups()
        moment, payload = headers.get("x-amz-date", ""), headers.get("x-amz-content-sha256")
    elif values.get("X-Amz-Signature"):
        credential, signed = values.get("X-Amz-Credential", ""), values.get("X-Amz-SignedHeaders", "")
        signature, moment = values["X-Amz-Signature"], values.get("X-Amz-Date", "")
        payload = headers.get("x-amz-content-sha256", UNSIGNED)
    else:
        return None
    parts = credential.rsplit("/", 4)
    if len(parts) != 5 or parts[4] != "aws4_request":
        raise ApiError(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.")
    access_key, date, region, service, _ = parts
    if service not in ("s3", "sts"):
        message = f"unknown service '{service}' in credential scope; expected 's3' or 'sts'"
        raise ApiError(501, "NotImplemented", message)
    if payload is None:
        raise ApiError(400, "InvalidRequest", "missing header: x-amz-content-sha256")
    _check_time(moment, date, values.get("X-Amz-Expires") if header is None else None)
    names = tuple(signed.split(";"))
    return Signature(access_key, date, region, service, moment, names, signature, payload, header is None)


def _check_time(moment: str, date: str, expires: str | None) -> None:
    try:
        signed = datetime.datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.UTC).timestamp()
        lifetime = None if expires is None else int(expires)
    except ValueError:
        raise ApiError(403, "AccessDenied", "invalid or missing x-amz-date") from None
    if not moment.startswith(date):
        raise ApiError(403, "SignatureDoesNotMatch", "the scope's date is not the request's")
    age = time.time() - signed
    if (lifetime is None and abs(age) > SKEW) or (lifetime is not None and age < -SKEW):
        raise ApiError(403, "RequestTimeTooSkewed", "request time is too far from server time")
    if lifetime is not None and (not 0 < lifetime <= LONGEST_PRESIGNED or age > lifetime):
        raise ApiError(403, "AccessDenied", "Request has expired")


def verify(
    signature: Signature,
    secret: str,
    method: str,
    paths: tuple[str, str],
    query: list[tuple[str, str]],
    headers: Mapping[str, str],
) -> None:
    """Raises ApiError 403 SignatureDoesNotMatch unless `secret` made this signature. `paths`: decoded, as sent."""
    pairs = sorted((_quoted(name), _quoted(value)) for name, value in query if name != "X-Amz-Signature")
    canonical_query = "&".join(f"{name}={value}" for name, value in pairs)
    lines = "".join(f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in signature.signed_headers)
    key = signature.key(secret)
    for path in (quote(paths[0], safe="/-_.~"), paths[1]):
        names = ";".join(signature.signed_headers)
        canonical = f"{method}\n{path}\n{canonical_query}\n{lines}\n{names}\n{signature.payload}"
        text = f"{ALGORITHM}\n{signature.time}\n{signature.scope}\n{hashlib.sha256(_bytes(canonical)).hexdigest()}"
        if hmac.compare_digest(hmac.new(key, text.encode(), "sha256").hexdigest(), signature.signature):
            return
    raise does_not_match()


def does_not_match() -> ApiError:
    """The answer to a wrong secret."""
    message = "The request signature we calculated does not match the signature you provided."
    return ApiError(403, "SignatureDoesNotMatch", f"{message} Check your key and signing method.")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")  # a header may be anything


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")
