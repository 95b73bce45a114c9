# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain HTTP/1.1 client that signs as the recordings say (tests/contract/recorded/README.md), without any SDK."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import http.client
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
TIMEOUT = 30.0  # seconds


@dataclass(frozen=True)
class Answer:
    """What a server answered. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Plan:
    """A request to send. `path` is unencoded unless `raw` says that it goes out as it is."""

    method: str
    path: str
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    raw: bool = False


def _quoted(text: str, safe: str = "") -> str:
    return quote(text, safe=f"-_.~{safe}")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Client:
    """Sends requests to one server, each on a connection of its own."""

    def __init__(self, endpoint: str) -> None:
        self._host = urlsplit(endpoint).netloc

    def send(self, plan: Plan, identity: tuple[str, str] | None, sign: Mapping[str, Any] | None = None) -> Answer:
        """The answer to a request, signed with an access key and its secret, or not at all.

        `sign` differs from the usual as in the recordings: service, payload, skew (seconds), secret.
        """
        path = plan.path if plan.raw else _quoted(plan.path, "/")
        query = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in plan.query)
        headers = {"host": self._host, **plan.headers}
        if identity:
            headers |= self._signature(plan, path, headers, identity, sign or {})
        connection = http.client.HTTPConnection(self._host, timeout=TIMEOUT)
        try:
            body = plan.body if plan.body or plan.method in ("PUT", "POST") else None
            connection.request(plan.method, f"{path}?{query}" if query else path, body, headers)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    @staticmethod
    def _signature(
        plan: Plan, path: str, headers: Mapping[str, str], identity: tuple[str, str], sign: Mapping[str, Any]
    ) -> dict[str, str]:
        access_key, secret = identity
        moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=sign.get("skew", 0))
        time, date = f"{moment:%Y%m%dT%H%M%SZ}", f"{moment:%Y%m%d}"
        payload = {"unsigned": "UNSIGNED-PAYLOAD", "none": _hash(plan.body)}.get(
            sign.get("payload", "none"), sign.get("payload", "")
        )
        added = {"x-amz-date": time}
        if sign.get("payload") != "none":
            added["x-amz-content-sha256"] = payload
        signed = {name.lower(): " ".join(value.split()) for name, value in {**headers, **added}.items()}
        names = sorted(name for name in signed if name == "host" or name.startswith("x-amz-"))
        canonical = "\n".join(
            [
                plan.method,
                path,
                "&".join(sorted(f"{_quoted(name)}={_quoted(value)}" for name, value in plan.query)),
                *(f"{name}:{signed[name]}" for name in names),
                "",
                ";".join(names),
                payload,
            ]
        )
        scope = f"{date}/us-east-1/{sign.get('service', 's3')}/aws4_request"
        text = "\n".join([ALGORITHM, time, scope, _hash(canonical.encode())])
        key = f"AWS4{sign.get('secret', secret)}".encode()
        for part in (*scope.split("/"), text):
            key = hmac.digest(key, part.encode(), "sha256")
        credential = f"Credential={access_key}/{scope}"
        added["authorization"] = f"{ALGORITHM} {credential}, SignedHeaders={';'.join(names)}, Signature={key.hex()}"
        return added
