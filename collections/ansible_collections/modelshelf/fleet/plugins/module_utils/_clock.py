# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a store says to anybody who asks: its time and its version. Standard library only: hosts ask too."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.parse
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ClockSkew, NotTrusted, Unreachable

HEALTH = "/health"
"""RustFS answers it without a signature. Other S3 servers answer it with an error that has a Date as well."""

WARN_SECONDS = 5 * 60
FAIL_SECONDS = 14 * 60
"""Signatures are refused from 15 minutes on (RustFS: 900 s), so a clock that still works is told before it does not."""


@dataclass(frozen=True)
class Greeting:
    """`version` is empty for a server that is no RustFS. `store_time` and `local_time` are seconds since the epoch.

    `store_time` is None when the answer had no usable Date.
    """

    status: int
    version: str
    store_time: float | None
    local_time: float

    @property
    def difference(self) -> int | None:
        """By how many seconds the local clock is ahead of the store's (negative: behind)."""
        return None if self.store_time is None else round(self.local_time - self.store_time)


def greet(endpoint: str, *, ca_file: str = "", validate_certs: bool = True, timeout: float = 10) -> Greeting:
    """Asks an endpoint (`http(s)://host:port`) for its health, without a key.

    `timeout` is in seconds. Raises Unreachable, and NotTrusted for a certificate that this machine does not know.
    """
    address = urllib.parse.urlsplit(endpoint)
    try:
        with closing(_connection(address, ca_file, validate_certs, timeout)) as connection:
            connection.request("GET", HEALTH, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            body = answer.read(65536)
            now = time.time()
    except ssl.SSLError as error:
        raise NotTrusted(
            f"could not ask {endpoint} for its time: {error}: check ca_file and the certificate"
        ) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(f"could not ask {endpoint} for its time: no answer: {error}") from error
    return Greeting(answer.status, _version(body), _seconds(answer.getheader("Date")), now)


def judge(greeting: Greeting, endpoint: str) -> str:
    """A warning about the local clock; empty when it is right, or when the store does not tell its time.

    Raises ClockSkew from 14 minutes on.
    """
    difference, store_time = greeting.difference, greeting.store_time
    if difference is None or store_time is None or abs(difference) <= WARN_SECONDS:
        return ""
    text = (
        f"the clock of this machine is {abs(difference)} s {'ahead of' if difference > 0 else 'behind'} that of the"
        f" store at {endpoint}: here it is {_text(greeting.local_time)}, there {_text(store_time)}"
    )
    if abs(difference) > FAIL_SECONDS:
        raise ClockSkew(f"{text}. From 15 minutes on, no signature is accepted. Set the clocks right")
    return f"{text}. From 15 minutes on, no signature is accepted"


def _connection(
    address: urllib.parse.SplitResult, ca_file: str, validate_certs: bool, timeout: float
) -> http.client.HTTPConnection:
    host = address.hostname or ""
    if address.scheme != "https":
        return http.client.HTTPConnection(host, address.port, timeout=timeout)
    context = ssl.create_default_context(cafile=ca_file or None)
    if not validate_certs:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, address.port, timeout=timeout, context=context)


def _seconds(date: str | None) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() if date else None
    except (TypeError, ValueError):
        return None


def _version(body: bytes) -> str:
    try:
        answer = json.loads(body)
    except ValueError:
        return ""
    version = answer.get("version") if isinstance(answer, dict) else None
    return version if isinstance(version, str) else ""


def _text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
