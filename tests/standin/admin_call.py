# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the admin calls have in common: their query, their body, the right to make them, and their errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .iam_access import Identities
from .iam_store import IamError
from .settings import Settings
from .wire import JSON, ApiError, Caller, Request, Response

NOT_FOUND = ("NoSuchUser", "NoSuchServiceAccount", "NoSuchGroup", "NoSuchPolicy")
BAD_INPUT = (
    "InvalidAccessKeyLength",
    "InvalidSecretKeyLength",
    "AccessKeyAlreadyExists",
    "GroupNameContainsReservedChars",
    "Whitespace",
)


class Quotas(Protocol):
    """What the admin API needs of the buckets."""

    def handle(self, request: Request, identities: Identities) -> Response | None:
        """The answer to a quota call; None for any other."""

    def buckets(self) -> list[dict[str, Any]]:
        """name, created, usage and objects of every bucket."""

    def space(self) -> tuple[int, int, int]:
        """Total, used and free bytes of the volume."""


@dataclass(frozen=True)
class Call:
    """One admin call that somebody signed. `tail` is what follows the fixed part of its path, still encoded."""

    request: Request
    caller: Caller
    identities: Identities
    quotas: Quotas
    settings: Settings
    tail: str = ""

    def require(self, *actions: str, message: str = "Access Denied") -> None:
        """Raises 403 AccessDenied unless one of these admin actions is allowed."""
        if not self.may(*actions):
            raise ApiError(403, "AccessDenied", message)

    def may(self, *actions: str) -> bool:
        """Whether one of these admin actions is allowed."""
        values = {
            "SourceIp": [self.request.address],
            "SecureTransport": [str(self.request.secure).lower()],
            **{name: [value] for name, value in self.request.headers.items()},
        }
        return any(self.identities.allowed(self.caller, action, "", "", values) for action in actions)

    def query(self, *required: str, optional: tuple[str, ...] = (), **aliases: str) -> dict[str, str]:
        """The query as the server decodes it: what is required may be missing only when there is no query at all.

        `aliases` are other spellings: alias="name", with `_` for `-`. Raises 400 InvalidArgument.
        """
        found: dict[str, str] = {}
        spelled = {alias.replace("_", "-"): name for alias, name in aliases.items()}
        for given, value in self.request.query:
            name = spelled.get(given, given)
            if name in found and name in (*required, *optional):
                raise ApiError(400, "InvalidArgument", "failed to decode query")
            found[name] = value
        if found and any(name not in found for name in required):
            raise ApiError(400, "InvalidArgument", "failed to decode query")
        return {**dict.fromkeys((*required, *optional), ""), **found}

    def access_key(self) -> str:
        """The `accessKey` of the query, by either spelling. Raises 400 InvalidArgument when it is not there."""
        found = self.query(optional=("accessKey",), access_key="accessKey")["accessKey"]
        if not found:
            raise ApiError(400, "InvalidArgument", "access key is empty")
        return found

    def read_json(self, problem: str = "invalid JSON: ") -> Body:
        """The body, a JSON object. Raises 400 InvalidRequest with `problem` before the reason."""
        try:
            found = json.loads(self.request.body.read_all().decode())
        except ValueError as error:
            raise ApiError(400, "InvalidRequest", f"{problem}{error}") from error
        if not isinstance(found, dict):
            raise ApiError(400, "InvalidRequest", f"{problem}invalid type: expected a map")
        return Body(found, problem)


@dataclass(frozen=True)
class Body:
    """The members of a JSON object, of the types that the server expects."""

    members: Mapping[str, Any]
    problem: str

    def text(self, name: str, default: str | None = None) -> str:
        """A string; without a default it must be there."""
        if name not in self.members and default is None:
            raise self.refused(f"missing field `{name}`")
        found = self.members.get(name, default)
        if not isinstance(found, str):
            raise self.refused(f"invalid type for `{name}`, expected a string")
        return found

    def optional_text(self, name: str) -> str | None:
        """A string, or None for null and for nothing."""
        return None if self.members.get(name) is None else self.text(name)

    def choice(self, name: str, *choices: str) -> str:
        """One of some strings; it must be there."""
        found = self.text(name)
        if found not in choices:
            raise self.refused(f"unknown variant `{found}`, expected {' or '.join(f'`{one}`' for one in choices)}")
        return found

    def flag(self, name: str) -> bool:
        """A truth value; it must be there."""
        if name not in self.members:
            raise self.refused(f"missing field `{name}`")
        found = self.members[name]
        if not isinstance(found, bool):
            raise self.refused(f"invalid type for `{name}`, expected a boolean")
        return found

    def texts(self, name: str, default: list[str] | None = None) -> list[str]:
        """A list of strings; without a default it must be there."""
        if name not in self.members and default is None:
            raise self.refused(f"missing field `{name}`")
        found = self.members.get(name, default)
        if not isinstance(found, list) or not all(isinstance(value, str) for value in found):
            raise self.refused(f"invalid type for `{name}`, expected a sequence of strings")
        return found

    def refused(self, reason: str) -> ApiError:
        """The error of a body that does not fit."""
        return ApiError(400, "InvalidRequest", f"{self.problem}{reason}")


Handler = Callable[[Call], Response]


def done(status: int = 200) -> Response:
    """The answer of a call that changed something."""
    return Response(status, {"content-type": JSON})


def iam_error(error: IamError) -> ApiError:
    """The usual answer to an error of the identity layer (iam_error.rs)."""
    if error.kind in NOT_FOUND:
        return ApiError(404, "NoSuchResource", error.message)
    if error.kind in BAD_INPUT:
        return ApiError(400, "InvalidArgument", error.message)
    return internal(error.message)


def internal(message: str) -> ApiError:
    """500, which only its message tells apart."""
    return ApiError(500, "InternalError", message)
