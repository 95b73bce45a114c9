# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RustFS's admin API below /rustfs/admin/v3: JSON both ways, errors in S3's XML, signed like S3 requests.

botocore signs and sends. Proxies of the environment are not used: a store is in one's own network.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

from ansible_collections.modelshelf.fleet.plugins.module_utils._answers import error_for, retried
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    BadSignature,
    KeyDisabled,
    NotPermitted,
    NotTrusted,
    StoreError,
    Unavailable,
    UnknownKey,
    Unreachable,
    Unsupported,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import BOTOCORE_ERROR, Admin

if BOTOCORE_ERROR is None:
    import botocore.exceptions
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    from botocore.httpsession import URLLib3Session

ADMIN = "/rustfs/admin/v3/"
_CONNECT_TIMEOUT = 10

SINCE = {
    "quota": "1.0.0-alpha.80",
    "idp/builtin/policy/attach": "1.0.0-alpha.87",
    "idp/builtin/policy/detach": "1.0.0-alpha.87",
    "idp/builtin/policy-entities": "1.0.0-alpha.87",
    "add-service-account": "1.0.0-alpha.87",
    "delete-service-account": "1.0.0-alpha.87",
    "list-access-keys-bulk": "1.0.0-alpha.87",
    "import-iam": "1.0.0-beta.9",
}
"""The versions of RustFS from which on it has the calls that older ones lack."""


class KeyState(Enum):
    """What the server answers to a request that a key signs."""

    GOOD = "signs"
    WRONG_SECRET = "the secret is another one"
    UNKNOWN = "the server does not know the key"
    DISABLED = "switched off"
    REFUSED = "not accepted"
    """The secret is right, but its user is disabled, or the key has expired."""


class Client:
    """Signed calls to one server. All methods raise StoreError or a narrower class of it.

    `calls` counts requests by method and path, tries after a failure not counted. `server_date` is the Date header of
    the last answer, empty where it had none. A `hasty` client does not wait for a server that does not answer at all.
    """

    def __init__(self, admin: Admin, *, hasty: bool = False) -> None:
        if admin.ca_file and not Path(admin.ca_file).is_file():
            raise StoreError(f"ca_file is {admin.ca_file}: there is no such file on the machine that runs the module")
        self.admin = admin
        self.calls: Counter[str] = Counter()
        self.server_date = ""
        self._by_the_key = False
        self.hasty = hasty
        settings: dict[str, Any] = {
            "verify": (admin.ca_file or True) if admin.validate_certs else False,
            "timeout": (min(_CONNECT_TIMEOUT, admin.deadline), admin.deadline),
        }
        self._session: Any = URLLib3Session(**settings)

    def get(self, path: str, query: Mapping[str, str] | None = None, *, doing: str) -> Any:
        """What the server answers, parsed; None for an empty answer. `path` is relative to /rustfs/admin/v3.

        `doing` completes the sentence "could not ..." of a message, with the name of the object.
        """
        return self._parsed(self.raw("GET", path, query, doing=doing), doing)

    def put(self, path: str, query: Mapping[str, str] | None = None, body: Any = None, *, doing: str) -> Any:
        """Like get(). `body` is bytes, or what JSON can hold."""
        return self._parsed(self.raw("PUT", path, query, body, doing=doing), doing)

    def post(self, path: str, query: Mapping[str, str] | None = None, body: Any = None, *, doing: str) -> Any:
        """Like put()."""
        return self._parsed(self.raw("POST", path, query, body, doing=doing), doing)

    def delete(self, path: str, query: Mapping[str, str] | None = None, body: Any = None, *, doing: str) -> Any:
        """Like put()."""
        return self._parsed(self.raw("DELETE", path, query, body, doing=doing), doing)

    def raw(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None, *, doing: str
    ) -> bytes:
        """The bytes of a successful answer (any 2xx), for what is no JSON."""
        self.calls[f"{method} {path}{' (by the key itself)' if self._by_the_key else ''}"] += 1
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        try:
            return retried(
                lambda: self._once(method, ADMIN + path, query or {}, sent, doing),
                self.admin.deadline,
                again=Unavailable if self.hasty else Unreachable,
            )
        except Unsupported as error:
            raise Unsupported(f"{error}{self._needed(path)}") from error

    def signed_by(self, access_key: str, secret_key: str) -> Client:
        """The same server, the same count of calls, but requests are signed with this pair."""
        other = Client.__new__(Client)
        other.__dict__.update(self.__dict__)
        other.admin = replace(self.admin, access_key=access_key, secret_key=secret_key)
        other._by_the_key = True
        return other

    def signs(self, access_key: str, secret_key: str) -> KeyState:
        """Whether a pair signs requests, tried by signing one that every key may send.

        The server compares signatures before it looks at the state of a key: DISABLED and REFUSED say that the secret
        is right. A secret can be checked in no other way, since none is ever given out.
        """
        doing = f"check the secret of {access_key!r}"
        try:
            self.signed_by(access_key, secret_key).get("is-admin", doing=doing)
        except NotPermitted as error:
            return key_state(error)
        return KeyState.GOOD

    def version(self) -> str:
        """The version that the server gives without a signature, such as 1.0.0-rc.3; empty where it gives none."""
        try:
            answer = self._send("GET", f"{self.admin.endpoint}/health", b"", {})
            found = json.loads(answer.content).get("version", "")
        except (StoreError, ValueError, AttributeError):
            return ""
        return str(found)

    def refusal(self, path: str, *, doing: str) -> tuple[int, str, str]:
        """Status, code and message of the answer to one GET; code and message are empty when it is no error."""
        url = self.admin.endpoint + ADMIN + path

        def asked() -> Any:
            answer = self._send("GET", url, b"", self._signature("GET", url, b""), doing)
            if answer.status_code in (429, 502, 503, 504):
                raise Unavailable(f"could not {doing} {self.admin.where}: {answer.status_code}")
            return answer

        answer = retried(asked, self.admin.deadline)
        said = ("", "") if answer.status_code < 300 else _error_of(answer.content)
        return answer.status_code, *said

    def _needed(self, path: str) -> str:
        needed = next((SINCE[known] for known in SINCE if path == known or path.startswith(f"{known}/")), "")
        return f". It needs RustFS {needed} or newer" if needed else ""

    def _once(self, method: str, path: str, query: Mapping[str, str], body: bytes, doing: str) -> bytes:
        url = self.admin.endpoint + quote(path, safe="/-_.~")
        if query:
            url += "?" + urlencode(query, quote_via=quote, safe="-_.~")
        answer = self._send(method, url, body, self._signature(method, url, body), doing)
        if 200 <= answer.status_code < 300:
            return bytes(answer.content)
        code, message = _error_of(answer.content)
        version = self.version() if answer.status_code == 501 else ""
        raise error_for(
            answer.status_code,
            code,
            message,
            doing=doing,
            where=self.admin.where,
            access_key=self.admin.access_key,
            server=f"RustFS {version}" if version else "",
        )

    def _signature(self, method: str, url: str, body: bytes) -> dict[str, str]:
        request: Any = AWSRequest(method=method, url=url, data=body, headers={"Content-Type": "application/json"})
        S3SigV4Auth(Credentials(self.admin.access_key, self.admin.secret_key), "s3", self.admin.region).add_auth(
            request
        )
        return {str(name): str(value) for name, value in request.headers.items()}

    def _send(self, method: str, url: str, body: bytes, headers: Mapping[str, str], doing: str = "ask") -> Any:
        where = f"could not {doing} {self.admin.where}"
        try:
            answer: Any = self._session.send(AWSRequest(method=method, url=url, data=body, headers=headers).prepare())
        except botocore.exceptions.SSLError as error:
            raise NotTrusted(
                f"{where}: no TLS connection: {error}. Give the certificate authority of the server as ca_file, or"
                " correct the endpoint"
            ) from error
        except (
            botocore.exceptions.ConnectionError,
            botocore.exceptions.ReadTimeoutError,
            botocore.exceptions.ConnectTimeoutError,
            botocore.exceptions.ConnectionClosedError,
        ) as error:
            raise Unreachable(f"{where}: no answer: {error}") from error
        except (botocore.exceptions.BotoCoreError, OSError, ValueError) as error:
            raise StoreError(f"{where}: {error}") from error
        self.server_date = str(answer.headers.get("Date", ""))
        return answer

    def _parsed(self, content: bytes, doing: str) -> Any:
        if not content:
            return None
        try:
            return json.loads(content)
        except ValueError as error:
            raise StoreError(f"could not {doing} {self.admin.where}: the answer is no JSON: {error}") from error


def key_state(error: NotPermitted) -> KeyState:
    """What a refusal says about the key that signed."""
    kinds = {BadSignature: KeyState.WRONG_SECRET, UnknownKey: KeyState.UNKNOWN, KeyDisabled: KeyState.DISABLED}
    return next((state for kind, state in kinds.items() if isinstance(error, kind)), KeyState.REFUSED)


def _error_of(content: bytes) -> tuple[str, str]:
    """Code and message of an error in S3's XML; what is none becomes a message."""
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError:
        return "", re.sub(r"\s+", " ", content.decode(errors="replace")).strip()[:200]
    fields = {element.tag.rpartition("}")[2]: (element.text or "").strip() for element in root.iter()}
    return fields.get("Code", ""), fields.get("Message", "")
