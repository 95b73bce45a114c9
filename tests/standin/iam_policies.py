# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Canned policies and to whom they are mapped (crates/iam/src/manager.rs of RustFS)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .iam_store import GROUP, GROUP_POLICIES, POLICY, USER, USER_POLICIES, Change, IamError, IamStore, now, split_names
from .policy_document import VERSION
from .policy_text import clean, matches

Policy = dict[str, Any]


def _allow(actions: str, *resources: str) -> Policy:
    family = actions.partition(":")[0]
    names = [f"{family}:{name}" for name in actions.partition(":")[2].split()]
    return {"Effect": "Allow", "Action": names, **({"Resource": list(resources)} if resources else {})}


def _built_in(*statements: Policy) -> Policy:
    return {"Version": VERSION, "Statement": [*statements, _allow("sts:AssumeRole")]}


_BUCKETS, _KMS_KEYS = "arn:aws:s3:::*", "arn:aws:kms:::*"
_DIAGNOSTICS = "Profiling ServerTrace ConsoleLog ServerInfo TopLocksInfo OBDInfo Prometheus BandwidthMonitor"
_KEY_LIFE = "DescribeKey ListKeys EnableKey DisableKey RotateKey DeleteKey"
BUILT_IN = {
    "readwrite": _built_in(_allow("s3:*", _BUCKETS)),
    "readonly": _built_in(_allow("s3:GetBucketLocation GetObject GetBucketQuota", _BUCKETS)),
    "writeonly": _built_in(_allow("s3:PutObject", _BUCKETS)),
    "diagnostics": _built_in(_allow(f"admin:{_DIAGNOSTICS}", _BUCKETS)),
    "consoleAdmin": _built_in(_allow("admin:*"), _allow("kms:*"), _allow("s3:*", _BUCKETS)),
    "KMSKeyAdministrator": _built_in(_allow(f"kms:{_KEY_LIFE}", _KMS_KEYS)),
    "KMSKeyUser": _built_in(_allow("kms:GenerateDataKey Decrypt DescribeKey", _KMS_KEYS)),
    "KMSAuditor": _built_in(_allow("kms:DescribeKey ListKeys", _KMS_KEYS)),
}
"""What every server has. A stored policy of the same name stands before it."""


class Policies:
    """The canned policies of a store."""

    def __init__(self, store: IamStore) -> None:
        self._store = store

    def all(self, bucket: str = "") -> dict[str, Policy]:
        """Every policy by its name, built-in ones too; with a bucket those with a resource that fits it."""
        stored = {name: document["policy"] for name, document in self._store.all(POLICY).items()}
        known = {**BUILT_IN, **stored}
        return {name: policy for name, policy in known.items() if not bucket or _concerns(policy, bucket)}

    def document(self, name: str) -> dict[str, Any]:
        """{policy, created, updated}; the dates are None for a built-in one. Raises IamError."""
        if stored := self._store.get(POLICY, name):
            return stored
        if name in BUILT_IN:
            return {"policy": BUILT_IN[name], "created": None, "updated": None}
        raise IamError("NoSuchPolicy", "policy does not exist")

    def put(self, name: str, policy: Policy) -> None:
        """Create or overwrite. Raises IamError for a policy without statements."""
        if not name or not policy["Statement"]:
            raise IamError("InvalidArgument", "invalid arguments specified")
        with self._store.change() as change:
            moment = now()
            found = change.get(POLICY, name)
            created = found["created"] if found else moment
            change.put(POLICY, name, {"policy": policy, "created": created, "updated": moment})

    def remove(self, name: str) -> None:
        """Remove, also one that is not there. Raises IamError for a built-in one and for one in use.

        Mappings of users who are gone do not count.
        """
        if name in BUILT_IN:
            raise IamError("Io", "io error: system policy can not be deleted")
        with self._store.change() as change:
            users, groups = change.all(USER_POLICIES), change.all(GROUP_POLICIES)
            used = any(
                name in split_names(mapping["policies"]) for user, mapping in users.items() if change.get(USER, user)
            )
            if used or any(name in split_names(mapping["policies"]) for mapping in groups.values()):
                raise IamError("PolicyInUse", "policy in use")
            change.delete(POLICY, name)

    def merged(self, names: Iterable[str]) -> Policy:
        """The statements of these policies in one; unknown names are passed over."""
        known = self.all()
        statements: list[Policy] = []
        for name in names:
            for statement in known.get(name, {"Statement": []})["Statement"]:
                if statement not in statements:
                    statements.append(statement)
        return {"Version": VERSION, "Statement": statements}

    def map(self, name: str, policies: str, *, group: bool, change: Change | None = None) -> str:
        """Give a user or group exactly these policies ("": none); the time of it. Raises IamError."""
        if change is None:
            with self._store.change() as change:
                return self.map(name, policies, group=group, change=change)
        if not name:
            raise IamError("InvalidArgument", "invalid arguments specified")
        kind, moment = GROUP_POLICIES if group else USER_POLICIES, now()
        if not policies:
            change.delete(kind, name)
            return moment
        for policy in split_names(policies):
            if policy not in BUILT_IN and change.get(POLICY, policy) is None:
                raise IamError("NoSuchPolicy", "policy does not exist")
        change.put(kind, name, {"policies": policies, "updated": moment})
        return moment

    def of_user(self, user: str) -> list[str]:
        """The names that count for a user: its own and its groups'. None at all while one of its groups is disabled."""
        names = split_names((self._store.get(USER_POLICIES, user) or {"policies": ""})["policies"])
        for name, group in self._store.all(GROUP).items():
            if user in group["members"]:
                if group["status"] == "disabled":
                    return []
                names += split_names((self._store.get(GROUP_POLICIES, name) or {"policies": ""})["policies"])
        return list(dict.fromkeys(names))


def _concerns(policy: Policy, bucket: str) -> bool:
    patterns = [arn.partition(":::")[2] for one in policy["Statement"] for arn in one.get("Resource", ())]
    return any(matches(pattern, clean(bucket)) for pattern in patterns)
