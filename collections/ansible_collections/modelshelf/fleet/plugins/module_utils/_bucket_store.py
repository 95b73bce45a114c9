# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The buckets of a server and what they are told, read and written over S3 and, for quotas, the admin API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_quota import patient, read_limit, write_limit
from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_rules import canonical_bucket_policy
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import (
    connection_of,
    make_client,
    translated,
)

FIELDS = ("versioning", "quota", "object_lock", "tags", "policy")


class Buckets:
    """One server's buckets. All methods raise StoreError or a narrower class of it.

    Requests are counted in the client's `calls`.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self._s3 = make_client(connection_of(client.admin, ""), hasty=client.hasty)
        self._s3.meta.events.register("before-call.s3", self._count)

    def list_all(self) -> dict[str, str]:
        """The buckets that the key sees, with the time at which each was made (UTC, as the server has it)."""
        found = self._ask("list the buckets", "", self._s3.list_buckets)
        return {item["Name"]: item["CreationDate"].isoformat() for item in found.get("Buckets", ())}

    def read(self, name: str, fields: tuple[str, ...] = FIELDS) -> dict[str, Any]:
        """Those settings of a bucket: versioning (empty: never set), quota in bytes (0: none), tags, policy."""
        readers: dict[str, Callable[[str], Any]] = {
            "versioning": self._versioning,
            "quota": lambda bucket: read_limit(self.client, bucket),
            "object_lock": self._object_lock,
            "tags": self._tags,
            "policy": self._policy,
        }
        return {field: readers[field](name) for field in FIELDS if field in fields}

    def content(self, name: str) -> tuple[int, bool, int]:
        """How many versions of objects, delete markers included, are in it; whether there are more; open uploads."""
        versions = self._ask("look into", name, lambda: self._s3.list_object_versions(Bucket=name))
        uploads = self._ask("look for uploads in", name, lambda: self._s3.list_multipart_uploads(Bucket=name))
        count = len(versions.get("Versions", ())) + len(versions.get("DeleteMarkers", ()))
        return count, bool(versions.get("IsTruncated")), len(uploads.get("Uploads", ()))

    def create(self, name: str, object_lock: bool) -> None:
        """Makes a bucket. Raises AlreadyThere where it belongs to somebody else."""
        locked = {"ObjectLockEnabledForBucket": True} if object_lock else {}
        self._ask("create the bucket", name, lambda: self._s3.create_bucket(Bucket=name, **locked))

    def remove(self, name: str) -> None:
        """Removes an empty bucket. Raises InUse for another one."""
        self._ask("remove the bucket", name, lambda: self._s3.delete_bucket(Bucket=name))

    def set_versioning(self, name: str, versioning: str) -> None:
        """`enabled` or `suspended`."""
        settings = {"Status": versioning.capitalize()}
        self._ask(
            f"set versioning to {versioning} on",
            name,
            lambda: self._s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=settings),
        )

    def set_quota(self, name: str, size: int) -> None:
        """The most bytes that the bucket takes; 0 for no limit. Waits for a server that has just started."""
        write_limit(patient(self.client), name, size)

    def set_tags(self, name: str, tags: Mapping[str, str]) -> None:
        """Exactly these tags; without any, the bucket has none."""
        if not tags:
            self._ask("remove the tags of", name, lambda: self._s3.delete_bucket_tagging(Bucket=name))
            return
        listed = [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
        self._ask("set the tags of", name, lambda: self._s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": listed}))

    def set_policy(self, name: str, document: Mapping[str, Any]) -> None:
        """This bucket policy; an empty one removes it."""
        if not document:
            self._ask("remove the policy of", name, lambda: self._s3.delete_bucket_policy(Bucket=name))
            return
        text = json.dumps(document)
        self._ask("set the policy of", name, lambda: self._s3.put_bucket_policy(Bucket=name, Policy=text))

    def _versioning(self, name: str) -> str:
        found = self._ask("read the versioning of", name, lambda: self._s3.get_bucket_versioning(Bucket=name))
        return str(found.get("Status", "")).lower()

    def _object_lock(self, name: str) -> bool:
        found = self._unless_absent(
            "read the object lock of", name, lambda: self._s3.get_object_lock_configuration(Bucket=name)
        )
        return bool(found.get("ObjectLockConfiguration", {}).get("ObjectLockEnabled") == "Enabled")

    def _tags(self, name: str) -> dict[str, str]:
        found = self._unless_absent("read the tags of", name, lambda: self._s3.get_bucket_tagging(Bucket=name))
        return {str(tag["Key"]): str(tag["Value"]) for tag in found.get("TagSet", ())}

    def _policy(self, name: str) -> dict[str, Any]:
        found = self._unless_absent("read the policy of", name, lambda: self._s3.get_bucket_policy(Bucket=name))
        return canonical_bucket_policy(json.loads(found["Policy"])) if found.get("Policy") else {}

    def _unless_absent(self, doing: str, name: str, call: Callable[[], Any]) -> Any:
        """An answer; empty where the bucket has no such setting."""
        try:
            return self._ask(doing, name, call)
        except NotFound as error:
            if getattr(error.__cause__, "response", {}).get("Error", {}).get("Code") == "NoSuchBucket":
                raise
            return {}

    def _ask(self, doing: str, name: str, call: Callable[[], Any]) -> Any:
        with translated(connection_of(self.client.admin, name), doing):
            return call()

    def _count(self, model: Any, **_others: Any) -> None:
        self.client.calls[f"S3 {model.name}"] += 1
