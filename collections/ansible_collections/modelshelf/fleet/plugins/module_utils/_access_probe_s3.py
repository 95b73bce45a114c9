# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests of an access probe, sent with the reader's key, and the removal of what wrongly succeeded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe import (
    BATCH_DELETE,
    DELETE,
    DELETE_VERSION,
    GET,
    GET_VERSION,
    LIST,
    LIST_FOLDERS,
    LIST_UPLOADS,
    LIST_VERSIONS,
    PUT,
    START_UPLOAD,
    TAG,
    Answer,
    Probe,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound, StoreError
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import (
    BOTO3_ERROR,
    Connection,
    make_client,
    translated,
)

if BOTO3_ERROR is None:
    from botocore.exceptions import ClientError

_OPERATIONS = {
    LIST: "list_objects_v2",
    LIST_FOLDERS: "list_objects_v2",
    LIST_VERSIONS: "list_object_versions",
    LIST_UPLOADS: "list_multipart_uploads",
    GET: "get_object",
    GET_VERSION: "get_object",
    PUT: "put_object",
    START_UPLOAD: "create_multipart_upload",
    TAG: "put_object_tagging",
    DELETE: "delete_object",
    DELETE_VERSION: "delete_object",
    BATCH_DELETE: "delete_objects",
}
_LISTINGS = (LIST, LIST_FOLDERS, LIST_VERSIONS, LIST_UPLOADS)
_CONTENT = b"made by a probe of modelshelf\n"


class Reader:
    """The store as the reader's key sees it. `connection` has the bucket under test."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.client: Any = make_client(connection)

    def ask(self, probe: Probe) -> Answer:
        """What the server says to a probe. Raises Unreachable when it says nothing, naming action and key."""
        return self.ask_for(probe)[0]

    def ask_for(self, probe: Probe, **more: Any) -> tuple[Answer, dict[str, Any]]:
        """The same with the content of the answer, as boto3 has it; empty for an error."""
        where = replace(self.connection, bucket=probe.bucket)
        with translated(where, f"probe the {probe.action} of", probe.key or ""):
            try:
                found = getattr(self.client, _OPERATIONS[probe.action])(**_arguments(probe), **more)
            except ClientError as error:
                status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
                said = error.response.get("Error", {})
                return Answer(status, str(said.get("Code", "")), message=str(said.get("Message", ""))), {}
        if "Body" in found:
            found["Body"].close()
        status = found["ResponseMetadata"]["HTTPStatusCode"]
        refused = [str(item.get("Code", "")) for item in found.get("Errors", ())]
        return Answer(status, refused[0] if refused else "", in_batch=probe.action == BATCH_DELETE), found

    def smallest_object(self, listing: dict[str, Any]) -> tuple[str, int] | None:
        """Key and size in bytes of an object of a listing; None for an empty one. Folder markers do not count.

        A policy for `prefix/*` does not cover the marker `prefix/`: the server drops its slash before it compares.
        """
        objects = [(item["Size"], item["Key"]) for item in listing.get("Contents", ()) if item["Key"][-1:] != "/"]
        return (min(objects)[1], min(objects)[0]) if objects else None


class Cleaner:
    """Removes what probes made, by the keys that they alone used."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.client: Any = make_client(connection)

    def check(self, prefix: str) -> None:
        """Raises StoreError when this key cannot even list, so that nothing is written that it could not find."""
        for operation in ("list_object_versions", "list_multipart_uploads"):
            with translated(self.connection, "use the cleanup key to list", f"{prefix}/"):
                getattr(self.client, operation)(Bucket=self.connection.bucket, Prefix=f"{prefix}/")

    def remove(self, key: str) -> tuple[bool, str]:
        """Removes object, versions, delete markers and open uploads of a key.

        Returns whether there was any, and what is left, which is nothing or names the key and the reason.
        """
        try:
            versions, uploads = self._versions(key), self._uploads(key)
            for version in versions:
                with suppress(NotFound), translated(self.connection, "remove again", key):
                    self.client.delete_object(Bucket=self.connection.bucket, Key=key, VersionId=version)
            for upload in uploads:
                with suppress(NotFound), translated(self.connection, "give up the upload of", key):
                    self.client.abort_multipart_upload(Bucket=self.connection.bucket, Key=key, UploadId=upload)
            made = bool(versions or uploads)
            left = [*self._versions(key), *self._uploads(key)] if made else []
        except StoreError as error:
            return True, f"{key} ({error})"
        return made, f"{key} ({', '.join(left)})" if left else ""

    def _versions(self, key: str) -> list[str]:
        listed = self._pages("list_object_versions", key)
        found = (item for page in listed for kind in ("Versions", "DeleteMarkers") for item in page.get(kind, ()))
        return [str(item["VersionId"]) for item in found if item["Key"] == key]

    def _uploads(self, key: str) -> list[str]:
        listed = self._pages("list_multipart_uploads", key)
        return [str(item["UploadId"]) for page in listed for item in page.get("Uploads", ()) if item["Key"] == key]

    def _pages(self, operation: str, key: str) -> Iterator[Any]:
        with translated(self.connection, "look for what is left of", key):
            yield from self.client.get_paginator(operation).paginate(Bucket=self.connection.bucket, Prefix=key)


def _arguments(probe: Probe) -> dict[str, Any]:
    arguments: dict[str, Any] = {"Bucket": probe.bucket}
    if probe.action in _LISTINGS:
        if probe.key is not None:
            arguments["Prefix"] = probe.key
        if probe.action == LIST_FOLDERS:
            arguments["Delimiter"] = "/"
        return arguments
    if probe.action == BATCH_DELETE:
        return {**arguments, "Delete": {"Objects": [{"Key": probe.key}]}}
    arguments["Key"] = probe.key
    if probe.version:
        arguments["VersionId"] = probe.version
    if probe.action == PUT:
        arguments["Body"] = _CONTENT
    if probe.action == TAG:
        arguments["Tagging"] = {"TagSet": []}
    return arguments
