# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls for users and groups (rustfs/src/admin/handlers/{user,group}.rs)."""

from __future__ import annotations

from urllib.parse import unquote

from .admin_call import Call, Handler, done, iam_error, internal
from .iam_policies import Policies
from .iam_store import GROUP_POLICIES, KEY, IamError, has_space, split_names
from .policy_text import clean, matches
from .wire import ApiError, Response, json_response


def list_users(call: Call) -> Response:
    """Every user; with a bucket those with a policy of their own or of a group that names it."""
    call.require("admin:ListUsers")
    bucket = call.query("bucket")["bucket"]
    users = call.identities.users.all()
    if bucket:
        shown = {}
        for name, user in users.items():
            names = _policies_about(call.identities.policies, _mapped(call, user), bucket)
            if names:
                shown[name] = {**user, "policyName": ",".join(names)}
        users = shown
    return json_response(users)


def _mapped(call: Call, user: dict[str, object]) -> list[str]:
    names = split_names(str(user.get("policyName", "")))
    groups = user.get("memberOf")
    for group in groups if names and isinstance(groups, list) else ():
        names += split_names((call.identities.store.get(GROUP_POLICIES, group) or {"policies": ""})["policies"])
    return names


def _policies_about(policies: Policies, names: list[str], bucket: str) -> list[str]:
    known = policies.all()
    found = []
    for name in names:
        arns = [arn for one in known.get(name, {"Statement": []})["Statement"] for arn in one.get("Resource", ())]
        if any(matches(arn.partition(":::")[2], clean(bucket)) for arn in arns):
            found.append(name)
    return found


def user_info(call: Call) -> Response:
    name = call.access_key()
    if name != call.caller.access_key or not call.identities.may_on_itself(call.caller, "admin:GetUser"):
        call.require("admin:GetUser")
    try:
        return json_response(call.identities.users.info(name))
    except IamError as error:
        raise iam_error(error) from error


def add_user(call: Call) -> Response:
    """Create a user, or overwrite its secret and status without a word."""
    name = call.access_key()
    body = call.read_json()
    secret, enabled = body.text("secretKey"), body.choice("status", "enabled", "disabled") == "enabled"
    body.optional_text("policy")
    identities = call.identities
    if not secret:
        raise ApiError(400, "InvalidArgument", "secret key is required")
    if name == identities.root:
        raise ApiError(400, "InvalidArgument", "cannot create a user with the system access key")
    if not identities.exists(name) and has_space(name):
        raise ApiError(400, "InvalidArgument", "access key contains spaces")
    if name == call.caller.user != call.caller.access_key:
        raise ApiError(400, "InvalidArgument", "cannot change the credentials of the parent user of this session")
    if name != call.caller.access_key or not identities.may_on_itself(call.caller, "admin:CreateUser"):
        call.require("admin:CreateUser")
    try:
        identities.users.put(name, secret, enabled)
    except IamError as error:
        if error.kind == "AccessKeyAlreadyExists":
            raise iam_error(error) from error
        raise internal(f"failed to create user: {error.message}") from error
    return done()


def set_user_status(call: Call) -> Response:
    name = call.access_key()
    if name == call.caller.access_key:
        raise ApiError(400, "InvalidArgument", "cannot change the status of the current user")
    call.require("admin:EnableUser")
    status = call.request.argument("status") or ""
    if status not in ("enabled", "disabled"):
        raise ApiError(400, "InvalidArgument", f"invalid account status: {status}")
    try:
        call.identities.users.set_status(name, status == "enabled")
    except IamError as error:
        raise internal(f"failed to set user status: {error.message}") from error
    return done()


def remove_user(call: Call) -> Response:
    call.require("admin:DeleteUser")
    name = call.access_key()
    if name in (call.identities.root, call.caller.access_key, call.caller.user):
        raise ApiError(400, "InvalidArgument", "cannot remove the current user")
    if call.identities.store.get(KEY, name):
        raise ApiError(400, "InvalidArgument", "cannot remove a service account")
    try:
        call.identities.users.remove(name)
    except IamError as error:
        raise internal(f"failed to query temporary user state: {error.message}") from error
    return done()


def list_groups(call: Call) -> Response:
    call.require("admin:ListGroups")
    return json_response(call.identities.groups.names())


def group_info(call: Call) -> Response:
    call.require("admin:GetGroup")
    try:
        return json_response(call.identities.groups.info(call.query("group")["group"]))
    except IamError as error:
        raise iam_error(error) from error


def update_members(call: Call) -> Response:
    """Add or remove members. `groupStatus` must be there and is not applied."""
    call.require("admin:AddUserToGroup")
    body = call.read_json()
    group, members = body.text("group"), body.texts("members")
    body.choice("groupStatus", "enabled", "disabled", "")
    groups = call.identities.groups
    try:
        (groups.remove if body.flag("isRemove") else groups.add)(group, members)
    except IamError as error:
        raise iam_error(error) from error
    return done()


def set_group_status(call: Call) -> Response:
    call.require("admin:EnableGroup")
    query = call.query("group", optional=("status",))
    if not query["group"]:
        raise ApiError(400, "InvalidArgument", "group is required")
    if query["status"] not in ("enabled", "disabled"):
        raise ApiError(400, "InvalidArgument", "invalid status" if query["status"] else "status is required")
    try:
        call.identities.groups.set_status(query["group"], query["status"] == "enabled")
    except IamError as error:
        raise iam_error(error) from error
    return done()


def delete_group(call: Call) -> Response:
    """Delete an empty group, named in the path."""
    call.require("admin:RemoveUserFromGroup")
    group = unquote(call.tail).strip()
    if not group or len(group.encode()) > 256:
        raise ApiError(400, "InvalidArgument", "invalid group name")
    if set(group) & set("/\\\0"):
        raise ApiError(400, "InvalidArgument", "group name contains invalid characters")
    try:
        call.identities.groups.remove(group, [])
    except IamError as error:
        if error.kind == "GroupNotEmpty":
            raise ApiError(400, "InvalidRequest", "group is not empty") from error
        raise iam_error(error) from error
    return done()


CALLS: dict[tuple[str, str], Handler] = {
    ("GET", "list-users"): list_users,
    ("GET", "user-info"): user_info,
    ("PUT", "add-user"): add_user,
    ("PUT", "set-user-status"): set_user_status,
    ("DELETE", "remove-user"): remove_user,
    ("GET", "groups"): list_groups,
    ("GET", "group"): group_info,
    ("PUT", "update-group-members"): update_members,
    ("PUT", "set-group-status"): set_group_status,
    ("DELETE", "group/"): delete_group,
}
