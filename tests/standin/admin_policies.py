# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The admin calls for canned policies and for attaching them (rustfs/src/admin/handlers/policies.rs)."""

from __future__ import annotations

from typing import Any

from .admin_call import Call, Handler, done, iam_error, internal
from .iam_store import GROUP, GROUP_POLICIES, KEY, USER, USER_POLICIES, IamError, has_space, now, readable, split_names
from .policy_document import parse_policy
from .policy_text import PolicyError
from .wire import ApiError, Response, json_response


def list_policies(call: Call) -> Response:
    """Every policy; with a bucket those that name it."""
    call.require("admin:ListUserPolicies")
    return json_response(call.identities.policies.all(call.query("bucket")["bucket"]))


def _name(call: Call) -> str:
    name = call.query("name")["name"]
    if not name:
        raise ApiError(400, "InvalidArgument", "policy name is required")
    return name


def policy_info(call: Call) -> Response:
    call.require("admin:GetPolicy")
    name = _name(call)
    if len(split_names(name)) != 1:
        raise ApiError(400, "InvalidArgument", "too many policies")
    try:
        found = call.identities.policies.document(name)
    except IamError as error:
        raise internal(error.message) from error
    dates = {"create_date": found["created"], "update_date": found["updated"]}
    shown = {field: readable(date) for field, date in dates.items() if date}
    return json_response({"policy_name": name, "policy": found["policy"], **shown})


def put_policy(call: Call) -> Response:
    """Create or overwrite a policy."""
    call.require("admin:CreatePolicy")
    name = _name(call)
    if has_space(name):
        raise ApiError(400, "InvalidArgument", "policy name contains spaces")
    try:
        policy = parse_policy(call.request.body.read_all())
    except PolicyError as error:
        text = error.message if error.rule else f"io error: {error.message}"
        raise ApiError(400, "InvalidRequest", text) from error
    if not policy["Version"]:
        raise ApiError(400, "InvalidArgument", "policy version is required")
    try:
        call.identities.policies.put(name, policy)
    except IamError as error:
        raise internal(error.message) from error
    return done()


def remove_policy(call: Call) -> Response:
    call.require("admin:DeletePolicy")
    try:
        call.identities.policies.remove(_name(call))
    except IamError as error:
        raise internal(error.message) from error
    return done()


def set_policies(call: Call) -> Response:
    """Give a user or a group exactly the named policies."""
    call.require("admin:AttachUserOrGroupPolicy")
    query = call.query(
        "userOrGroup",
        "isGroup",
        optional=("policyName",),
        policy="policyName",
        user_or_group="userOrGroup",
        is_group="isGroup",
    )
    if query["isGroup"] not in ("true", "false") and call.request.query:
        raise ApiError(400, "InvalidArgument", "failed to decode query")
    name, group = query["userOrGroup"], query["isGroup"] == "true"
    if not name:
        raise ApiError(400, "InvalidArgument", "user or group is required")
    store = call.identities.store
    if group:
        if store.get(GROUP, name) is None:
            raise ApiError(404, "NoSuchResource", f"group '{name}' does not exist")
    elif name == call.identities.root:
        raise ApiError(400, "InvalidArgument", "cannot set a policy for the system user")
    elif store.get(KEY, name):
        raise ApiError(400, "InvalidArgument", "temp user can't set policy")
    elif store.get(USER, name) is None:
        raise ApiError(400, "InvalidArgument", "user not found")
    try:
        call.identities.policies.map(name, query["policyName"], group=group)
    except IamError as error:
        raise internal(error.message) from error
    return done()


def _associate(call: Call, field: str) -> Response:
    call.require("admin:AttachUserOrGroupPolicy")
    body = call.read_json("unmarshal policy association body failed, e: ")
    policies, user, group = body.texts("policies", []), body.text("user", ""), body.text("group", "")
    if not policies:
        raise ApiError(400, "InvalidArgument", "no policy names were given")
    if "" in policies:
        raise ApiError(400, "InvalidArgument", "an empty policy name was given")
    if not user and not group:
        raise ApiError(400, "InvalidArgument", "no user or group association was given")
    if user and group:
        raise ApiError(400, "InvalidArgument", "either a group or a user association must be given, not both")
    found = [name.strip() for name in split_names(_attached(call, user, group))]
    if field == "policiesAttached":
        changed = [name for name in dict.fromkeys(policies) if name not in found]
        updated = [*found, *changed]
    else:
        changed = [name for name in found if name in policies]
        updated = [name for name in found if name not in policies]
    try:
        moment = call.identities.policies.map(user or group, ",".join(updated), group=bool(group))
    except IamError as error:
        raise internal(error.message) from error
    return json_response({**({field: changed} if changed else {}), "updatedAt": moment})


def _attached(call: Call, user: str, group: str) -> str:
    """What a user or group has by now. Raises ApiError when it is not there."""
    store = call.identities.store
    if group:
        if store.get(GROUP, group) is None:
            raise ApiError(404, "NoSuchResource", f"group '{group}' does not exist")
    elif store.get(KEY, user):
        raise ApiError(400, "InvalidArgument", "temp user can't set policy")
    elif user == call.identities.root:
        raise ApiError(400, "InvalidArgument", "can't set policy for system user")
    elif store.get(USER, user) is None:
        raise ApiError(400, "InvalidArgument", "user not exist")
    mapping = store.get(GROUP_POLICIES if group else USER_POLICIES, group or user)
    return str(mapping["policies"]) if mapping else ""


def attach(call: Call) -> Response:
    return _associate(call, "policiesAttached")


def detach(call: Call) -> Response:
    return _associate(call, "policiesDetached")


def entities(call: Call) -> Response:
    """Who has which policy. Without a filter, by policy; unknown names are missing from the answer."""
    call.require("admin:ListGroups", "admin:ListUsers", "admin:ListUserPolicies")
    wanted: dict[str, list[str]] = {"user": [], "group": [], "policy": []}
    for name, value in call.request.query:
        wanted.get(name, []).append(value)
    try:
        known = call.identities.groups
        groups = {name: split_names(known.info(name)["policy"]) for name in known.names()}
    except IamError as error:
        raise iam_error(error) from error
    groups = {name: policies for name, policies in groups.items() if policies}
    users = call.identities.users.all()
    of_users = {name: split_names(user.get("policyName", "")) for name, user in users.items()}
    answer: dict[str, Any] = {"timestamp": now()}
    by_user = []
    for name in sorted(set(wanted["user"]) & set(users)):
        member_of = [
            {"group": group, "policies": groups[group]}
            for group in sorted(users[name].get("memberOf", ()))
            if group in groups
        ]
        if of_users[name] or member_of:
            more = {"memberOfMappings": member_of} if member_of else {}
            by_user.append({"user": name, "policies": of_users[name], **more})
    by_group = [{"group": name, "policies": groups[name]} for name in sorted(set(wanted["group"]) & set(groups))]
    by_policy = []
    if wanted["policy"] or not call.request.query:
        for policy in sorted({name for names in (*of_users.values(), *groups.values()) for name in names}):
            if not wanted["policy"] or policy in wanted["policy"]:
                holders = sorted(name for name, names in of_users.items() if policy in names)
                in_groups = sorted(name for name, names in groups.items() if policy in names)
                by_policy.append({"policy": policy, "users": holders, "groups": in_groups})
    for field, found in (("userMappings", by_user), ("groupMappings", by_group), ("policyMappings", by_policy)):
        if found:
            answer[field] = found
    return json_response(answer)


CALLS: dict[tuple[str, str], Handler] = {
    ("GET", "list-canned-policies"): list_policies,
    ("GET", "info-canned-policy"): policy_info,
    ("PUT", "add-canned-policy"): put_policy,
    ("DELETE", "remove-canned-policy"): remove_policy,
    ("PUT", "set-user-or-group-policy"): set_policies,
    ("PUT", "set-policy"): set_policies,
    ("POST", "idp/builtin/policy/attach"): attach,
    ("POST", "idp/builtin/policy/detach"): detach,
    ("GET", "idp/builtin/policy-entities"): entities,
}
