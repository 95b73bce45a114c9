# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin API: which call is meant, whether this server has it, and its answer (rustfs/src/admin/router.rs)."""

from __future__ import annotations

from . import admin_info, admin_keys, admin_people, admin_policies
from .admin_call import Call, Handler, Quotas
from .iam_access import Identities
from .settings import Settings
from .wire import ApiError, Request, Response

PREFIXES = ("/rustfs/admin/", "/minio/admin/")
CALLS: dict[tuple[str, str], Handler] = {
    **admin_people.CALLS,
    **admin_policies.CALLS,
    **admin_keys.CALLS,
    **admin_info.CALLS,
}
# These two hide why a key was refused.
_HIDING = ("list-service-accounts", "delete-service-account", "delete-service-accounts")


def handle(request: Request, identities: Identities, quotas: Quotas, settings: Settings) -> Response:
    """The answer to a call below one of PREFIXES. Raises ApiError.

    What is not there, or named in the setting STANDIN_LACKS, is 501 NotImplemented; another version of the API 426.
    """
    if request.caller is None:
        raise ApiError(403, "AccessDenied", "Signature is required")
    version, _, path = _below_prefix(request.path).partition("/")
    if version == "v4":
        return Response(426, {"content-length": "0"})
    if version != "v3" or any(path == lack or path.startswith(f"{lack}/") for lack in settings.lacks):
        raise ApiError(501, "NotImplemented")
    call = Call(request, request.caller, identities, quotas, settings)
    if handler := CALLS.get((request.method, path)):
        return handler(call)
    name, slash, _ = path.partition("/")
    _, _, raw = _below_prefix(request.raw_path.partition("?")[0]).partition("/")
    tail = raw.partition("/")[2]
    if slash and tail and "/" not in tail and (handler := CALLS.get((request.method, f"{name}/"))):
        return handler(Call(request, request.caller, identities, quotas, settings, tail))
    if answer := quotas.handle(request, identities):
        return answer
    raise ApiError(501, "NotImplemented")


def _below_prefix(path: str) -> str:
    return next(path.removeprefix(prefix) for prefix in PREFIXES if path.startswith(prefix))


def refused_key(path: str, error: ApiError) -> ApiError:
    """What the call at `path` answers when the signature is right and the account may not be used."""
    name = path.rpartition("/")[2]
    return ApiError(500, "InternalError", "check key failed") if name in _HIDING else error
