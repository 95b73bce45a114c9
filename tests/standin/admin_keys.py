# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls for service accounts (rustfs/src/admin/handlers/service_account.rs)."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from .admin_call import Body, Call, Handler, done, iam_error, internal
from .iam_keys import optional
from .iam_store import KEY, USER, USER_POLICIES, IamError, has_space, parse_moment
from .policy_document import VERSION, parse_policy
from .policy_text import PolicyError
from .wire import ApiError, Response, json_response

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_UNREADABLE = "Policy format is invalid. Please check the JSON structure and ensure it follows the IAM policy format."
_NOTHING = {"Effect": "Deny", "Action": ["s3:*"], "Resource": ["arn:aws:s3:::*"]}
_LISTS = {"all": (True, True), "users-only": (False, False), "sts-only": (True, False), "svcacc-only": (False, True)}
Policy = dict[str, Any]


def _check(name: str | None, description: str | None, expiration: str | None) -> None:
    if name and len(name.encode()) > 32:
        raise ApiError(400, "InvalidRequest", "name must not be longer than 32 characters")
    if name and not _NAME.fullmatch(name):
        rule = "name must contain only ASCII letters, digits, underscores and hyphens and must start with a letter"
        raise ApiError(400, "InvalidRequest", rule)
    if description and len(description.encode()) > 256:
        raise ApiError(400, "InvalidRequest", "description must be at most 256 bytes long")
    if expiration and parse_moment(expiration) < datetime.now(UTC):
        raise ApiError(400, "InvalidRequest", "the expiration time should be in the future")


def _expiration(body: Body, field: str) -> str | None:
    """The end of a key; None for none, which the start of 1970 is, too."""
    found = body.optional_text(field)
    if found is None:
        return None
    try:
        moment = parse_moment(found)
    except ValueError as error:
        raise body.refused(f"Error({error})") from error
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment.timestamp() else None


def _policy(body: Body, field: str) -> Policy | None:
    """A policy, given as an object or as a text; None when there is none. Raises ApiError."""
    found = body.members.get(field)
    if found is None:
        return None
    document = found if isinstance(found, str) else json.dumps(found)
    try:
        return parse_policy(document.encode())
    except PolicyError as error:
        text = f"invalid service account policy: {error.message}" if error.rule else _UNREADABLE
        raise ApiError(400, "InvalidArgument", text) from error


def _new_policy(policy: Policy | None) -> Policy | None:
    """The policy of a new key: nothing in it means the parent's, no statement means that all is denied."""
    if policy is None or not (policy["Statement"] or policy["Version"] or policy.get("ID")):
        return None
    return {**policy, "Version": VERSION, "Statement": policy["Statement"] or [_NOTHING]}


def add(call: Call) -> Response:
    body = call.read_json("unmarshal body failed, e: ")
    name, secret = body.text("accessKey", ""), body.text("secretKey", "")
    comment = "comment" if body.members.get("description") is None else "description"
    details = {"name": body.optional_text("name"), "description": body.optional_text(comment)}
    expiration, target = _expiration(body, "expiration"), body.optional_text("targetUser")
    if has_space(name):
        raise ApiError(400, "InvalidRequest", "access key has spaces")
    _check(details["name"], details["description"], expiration)
    policy, identities, caller = _new_policy(_policy(body, "policy")), call.identities, call.caller
    if name == identities.root:
        raise ApiError(400, "InvalidArgument", "can't create user with system access key")
    target = caller.access_key if target is None else target
    call.require("admin:CreateServiceAccount", message="access denied")
    if target != caller.access_key and not identities.exists(target):
        raise ApiError(400, "InvalidRequest", "target user not exist")
    if not caller.owner and target not in (caller.access_key, caller.user):
        raise ApiError(403, "AccessDenied", "service account parent is outside requester scope")
    parent = caller.user if target in (caller.access_key, caller.user) else target
    try:
        name, secret = identities.keys.add(parent, name, secret, policy=policy, expiration=expiration, **details)
    except IamError as error:
        if error.kind == "IAMActionNotAllowed":
            raise ApiError(403, "AccessDenied", "access denied") from error
        if error.kind in ("InvalidAccessKeyLength", "InvalidSecretKeyLength", "AccessKeyAlreadyExists"):
            raise iam_error(error) from error
        raise internal(f"create service account failed, e: {error.kind}") from error
    end = {"expiration": expiration} if expiration else {}
    return json_response({"credentials": {"accessKey": name, "secretKey": secret, **end}})


def update(call: Call) -> Response:
    """Change what the body names. An empty policy gives the parent's back; a status that is not known is off."""
    name = call.access_key()
    body = call.read_json("unmarshal body failed, e: ")
    fields = {"secret": "newSecretKey", "status": "newStatus", "name": "newName", "description": "newDescription"}
    changes: dict[str, Any] = {field: body.optional_text(given) for field, given in fields.items()}
    changes["expiration"] = _expiration(body, "newExpiration")
    _check(changes["name"], changes["description"], changes["expiration"])
    call.require("admin:UpdateServiceAccount", message="access denied")
    changes = {field: value for field, value in changes.items() if value is not None}
    try:
        parent = call.identities.keys.get(name)["parent"]
        if not call.caller.owner and parent != call.caller.user:
            raise ApiError(403, "AccessDenied", "access denied")
        policy = _policy(body, "newPolicy")
        if policy is not None and policy["Version"] and policy["Statement"]:
            changes["policy"] = policy
        elif policy is not None and not policy["Version"] and not policy["Statement"]:
            changes["policy"] = None
        if "status" in changes:
            changes["status"] = "on" if changes["status"] in ("on", "enabled") else "off"
        call.identities.keys.update(name, **changes)
    except IamError as error:
        if error.kind == "NoSuchServiceAccount":
            raise iam_error(error) from error
        raise internal("update service account failed") from error
    return done(204)


def info(call: Call) -> Response:
    name = call.access_key()
    try:
        shown = call.identities.keys.shown(name)
    except IamError as error:
        raise iam_error(error) from error
    if call.caller.user != shown["parentUser"]:
        call.require("admin:ListServiceAccounts", message="access denied")
    return json_response(shown)


def info_of_any(call: Call) -> Response:
    """A key of whatever kind; the caller's own when none is named."""
    query = call.query(optional=("accessKey",), access_key="accessKey")
    name, store, caller = query["accessKey"] or call.caller.access_key, call.identities.store, call.caller
    key, user = store.get(KEY, name), store.get(USER, name)
    owner = key["parent"] if key else name
    signed_by_key = store.get(KEY, caller.access_key) is not None
    own = bool(key or user) and owner == caller.user and not signed_by_key
    if not own or not call.identities.may_on_itself(caller, "admin:ListServiceAccounts"):
        call.require("admin:ListServiceAccounts", message="access denied")
    if key:
        shown, kind = call.identities.keys.shown(name), "Service Account"
    elif user:
        mapping = store.get(USER_POLICIES, name)
        shown = {
            "parentUser": "",
            "accountStatus": "enabled" if user["status"] == "on" else "disabled",
            "impliedPolicy": False,
            **({"policy": mapping["policies"]} if mapping else {}),
        }
        kind = "User"
    else:
        raise ApiError(400, "InvalidRequest", "access key not exist")
    return json_response({"accessKey": name, **shown, "userType": kind, "userProvider": "builtin"})


def _compatible(call: Call) -> bool:
    return call.request.path.startswith("/minio/")


def _listed(call: Call, name: str, key: dict[str, Any], **more: Any) -> dict[str, Any]:
    none = "1970-01-01T00:00:00Z" if _compatible(call) else None
    head = {"parentUser": "", "accountStatus": "", "impliedPolicy": False, **more, "accessKey": name}
    return {**head, **optional(key), "expiration": key["expiration"] or none}


def list_of_user(call: Call) -> Response:
    """The keys beneath a user, the caller without one; an empty list for somebody who has none or is nobody."""
    user = call.query(optional=("user",))["user"] if call.request.has("user") else call.caller.access_key
    if user != call.caller.access_key:
        call.require("admin:ListServiceAccounts", message="access denied")
    parent = call.caller.user if user == call.caller.access_key else user
    accounts = [
        _listed(
            *(call, name, key),
            parentUser=key["parent"],
            accountStatus=key["status"],
            impliedPolicy=key["policy"] is None,
        )
        for name, key in call.identities.keys.of(parent).items()
    ]
    return json_response({"accounts": accounts})


def list_bulk(call: Call) -> Response:
    """The keys beneath some users or all. Their parents and states are left empty, as the server does."""
    users = [value for name, value in call.request.query if name == "users" and value]
    everybody = call.request.argument("all") in ("true", "1", "on", "yes")
    if everybody and users:
        raise ApiError(400, "InvalidRequest", "either specify users or all, not both")
    own = not everybody and users in ([], [call.caller.access_key], [call.caller.user])
    if everybody:
        call.require("admin:ListUsers", message="access denied")
    if not own or not call.identities.may_on_itself(call.caller, "admin:ListServiceAccounts"):
        call.require("admin:ListServiceAccounts", message="access denied")
    kind = call.request.argument("listType") or "all"
    if kind not in _LISTS:
        raise ApiError(400, "InvalidRequest", "invalid list type")
    temporary, accounts = _LISTS[kind]
    if everybody:
        users = [*call.identities.users.all(), call.identities.root]
    found = {}
    for user in users or [call.caller.user]:
        keys = call.identities.keys.of(user) if accounts else {}
        # Asked for one kind alone, users who have none of it are left out.
        if keys or temporary == accounts:
            found[user] = {"serviceAccounts": [_listed(call, name, key) for name, key in keys.items()], "stsKeys": []}
    return json_response(found)


def delete(call: Call) -> Response:
    name = call.access_key()
    key = call.identities.store.get(KEY, name)
    if key is None or not (key["parent"] == call.caller.user or call.may("admin:RemoveServiceAccount")):
        raise ApiError(400, "InvalidRequest", "service account not exist")
    call.identities.keys.remove(name)
    return done(204 if _compatible(call) else 200)


CALLS: dict[tuple[str, str], Handler] = {
    ("PUT", "add-service-account"): add,
    ("PUT", "add-service-accounts"): add,
    ("POST", "update-service-account"): update,
    ("GET", "info-service-account"): info,
    ("GET", "info-access-key"): info_of_any,
    ("GET", "list-service-accounts"): list_of_user,
    ("GET", "list-access-keys-bulk"): list_bulk,
    ("DELETE", "delete-service-account"): delete,
    ("DELETE", "delete-service-accounts"): delete,
}
