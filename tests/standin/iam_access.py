# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who somebody is, and what they may do (rustfs/src/{auth,storage/access}.rs and crates/iam/src/sys.rs of RustFS)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from .database import Database
from .iam_keys import Keys
from .iam_people import Groups, Users
from .iam_policies import Policies
from .iam_store import GROUP, KEY, USER, IamStore, expired, now
from .policy_evaluation import Question, bucket_policy_allows, bucket_policy_denies, policy_allows
from .policy_names import LISTINGS
from .wire import ApiError, Caller

_OF_LISTINGS = frozenset({"prefix", "delimiter", "max-keys"})
# Root may always see and repair a bucket policy that shuts it out.
_SPARED = frozenset({"s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy"})


class Identities:
    """The identities of one server and the rights that they have. The root keys are the server's, not documents."""

    def __init__(self, database: Database, root_access_key: str, root_secret_key: str) -> None:
        self.root = root_access_key
        self._root_secret = root_secret_key
        self.store = IamStore(database)
        self.policies = Policies(self.store)
        self.users, self.groups = Users(self.store), Groups(self.store)
        self.keys = Keys(self.store, self.policies)

    def secret_for(self, access_key: str) -> str:
        """The secret to check a signature with, whatever the state of the account. Raises ApiError for nobody's key."""
        if access_key == self.root:
            return self._root_secret
        found = self.store.get(KEY, access_key) or self.store.get(USER, access_key)
        if found is None:
            message = "The Access Key Id you provided does not exist in our records."
            raise ApiError(403, "InvalidAccessKeyId", message)
        secret: str = found["secret"]
        return secret

    def caller(self, access_key: str) -> Caller:
        """Who signed, once the signature is right. Raises ApiError for an account that is switched off or expired."""
        self.secret_for(access_key)
        if access_key == self.root:
            return Caller(access_key, owner=True, user=access_key)
        key = self.store.get(KEY, access_key)
        found = key or self.store.get(USER, access_key) or {}
        if found["status"] == "off":
            raise ApiError(400, "InvalidRequest", "ErrAccessKeyDisabled")
        if key is None:
            return Caller(access_key, owner=False, user=access_key)
        if expired(key):
            raise ApiError(400, "InvalidRequest", "check key failed")
        return Caller(access_key, owner=key["parent"] == self.root and key["policy"] is None, user=key["parent"])

    def exists(self, name: str) -> bool:
        """Whether a name is an access key of any kind."""
        return name == self.root or bool(self.store.get(KEY, name) or self.store.get(USER, name))

    def allowed(
        self,
        caller: Caller | None,
        action: str,
        bucket: str,
        key: str = "",
        conditions: Mapping[str, Sequence[str]] | None = None,
        bucket_policy: Mapping[str, Any] | None = None,
    ) -> bool:
        """Whether the caller (None: nobody signed) may do `action`, a name with its family, on a bucket or a key of it.

        `conditions` are values of the request by the name of a condition key without its family. What the bucket's
        policy denies is denied, to root too; then the caller's own policies count, and the bucket's at last.
        """
        question = self._question(caller, action, bucket, key, conditions or {})
        spared = caller is not None and caller.owner and action in _SPARED
        if bucket and not spared and bucket_policy_denies(bucket_policy, question):
            return False
        asked = [action, "s3:ListBucket"] if action == "s3:ListBucketVersions" else [action]
        if caller and any(self._own_policies_allow(caller, question.about(name)) for name in asked):
            return True
        if action == "s3:ListAllMyBuckets":
            return False
        return any(bucket_policy_allows(bucket_policy, question.about(name)) for name in asked)

    def require(
        self,
        caller: Caller | None,
        action: str,
        bucket: str,
        key: str = "",
        conditions: Mapping[str, Sequence[str]] | None = None,
        bucket_policy: Mapping[str, Any] | None = None,
    ) -> None:
        """Raises 403 AccessDenied unless `allowed`."""
        if not self.allowed(caller, action, bucket, key, conditions, bucket_policy):
            raise ApiError(403, "AccessDenied", "Access Denied")

    def may_on_itself(self, caller: Caller, action: str) -> bool:
        """Whether a user may do an admin action to itself: it may unless a policy denies it.

        That holds for users who have a policy, and never for service accounts (should_check_deny_only in user.rs).
        """
        if caller.owner:
            return True
        if self.store.get(KEY, caller.access_key):
            return False
        policy = self._parents_policy(caller)
        # One more statement that allows everything: then a refusal can only come from a Deny.
        everything = {"Effect": "Allow", "Action": ["admin:*"]}
        extended = {"Statement": [*policy["Statement"], everything]}
        return bool(policy["Statement"]) and policy_allows(extended, self._question(caller, action, "", "", {}))

    def _question(
        self, caller: Caller | None, action: str, bucket: str, key: str, conditions: Mapping[str, Sequence[str]]
    ) -> Question:
        user = caller.user if caller else ""
        groups = [name for name, group in self.store.all(GROUP).items() if user in group["members"]]
        own = self.store.get(KEY, caller.access_key) if caller else None
        kind = "AssumedRole" if own else "Account" if user == self.root else "User" if user else "Anonymous"
        moment, epoch = now(), str(int(time.time()))
        values = {
            **{name: value for name, value in conditions.items() if name not in _OF_LISTINGS or action in LISTINGS},
            **{"userid": [user], "username": [user], "principaltype": [kind]},
            **{"CurrentTime": [moment], "EpochTime": [epoch]},
            **({"groups": groups} if groups else {}),
        }
        variables = {
            "aws:username": user,
            **({"aws:userid": user} if own else {}),
            "aws:PrincipalType": "ServiceAccount" if own and own["policy"] else "User",
            # The server's resolver does not know how the request came, and says so (variables.rs).
            "aws:SecureTransport": "false",
            "aws:CurrentTime": moment,
            "aws:EpochTime": epoch,
            "aws:AccountId": caller.access_key if caller else "",
        }
        return Question(caller.access_key if caller else "", action, bucket, key, values, variables)

    def _parents_policy(self, caller: Caller) -> dict[str, Any]:
        """What a caller's user may do; nothing while the user is off."""
        user = self.store.get(USER, caller.user)
        on = user is not None and user["status"] == "on"
        return self.policies.merged(self.policies.of_user(caller.user) if on else [])

    def _own_policies_allow(self, caller: Caller, question: Question) -> bool:
        if caller.owner:
            return True
        if caller.user != self.root and not policy_allows(self._parents_policy(caller), question):
            return False
        key = self.store.get(KEY, caller.access_key)
        # The policy of a key narrows what its parent may do, never widens it.
        return key is None or key["policy"] is None or policy_allows(key["policy"], question)
