# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions: a deletion hides, only a deletion by id removes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.s3_server import Server, Shelf
from tests.contract.test_s3_objects import refused


@pytest.fixture
def versioned(server: Server, shelf: Shelf) -> Shelf:
    set_versioning(server, shelf, "Enabled")
    return shelf


def set_versioning(server: Server, shelf: Shelf, status: str) -> None:
    server.client().put_bucket_versioning(Bucket=shelf.bucket, VersioningConfiguration={"Status": status})


def listed(server: Server, shelf: Shelf, **options: Any) -> list[tuple[str, str, str, bool]]:
    pages = server.client().get_paginator("list_object_versions").paginate(Bucket=shelf.bucket, **options)
    found = []
    for page in pages:
        for kind in ("Versions", "DeleteMarkers"):
            for entry in page.get(kind, ()):
                found.append((entry["Key"], kind, entry["VersionId"], entry["IsLatest"]))
    return found


def test_every_write_is_kept(server: Server, versioned: Shelf) -> None:
    client, where = server.client(), {"Bucket": versioned.bucket, "Key": "k"}
    first = client.put_object(**where, Body=b"one")["VersionId"]
    second = client.put_object(**where, Body=b"two")["VersionId"]
    assert client.get_object(**where)["VersionId"] == second
    assert client.get_object(**where, VersionId=first)["Body"].read() == b"one"
    assert listed(server, versioned) == [("k", "Versions", second, True), ("k", "Versions", first, False)]
    missing = "00000000-0000-4000-8000-000000000000"
    assert refused(client.get_object, **where, VersionId=missing)[0] == 404


def test_a_deletion_is_a_marker_that_can_be_taken_back(server: Server, versioned: Shelf) -> None:
    client, where = server.client(), {"Bucket": versioned.bucket, "Key": "k"}
    kept = client.put_object(**where, Body=b"one")["VersionId"]
    gone = client.delete_object(**where)
    assert gone["DeleteMarker"] is True
    assert refused(client.get_object, **where) == (404, "NoSuchKey")
    assert refused(client.get_object, **where, VersionId=gone["VersionId"])[0] == 405
    assert versioned.keys() == {}
    assert refused(client.delete_bucket, Bucket=versioned.bucket) == (409, "BucketNotEmpty")
    client.put_object(**where, Body=b"again", IfNoneMatch="*")
    newest = client.get_object(**where)["VersionId"]
    client.delete_object(**where, VersionId=newest)
    client.delete_object(**where, VersionId=gone["VersionId"])
    assert client.get_object(**where)["VersionId"] == kept
    client.delete_object(**where, VersionId=kept)
    assert listed(server, versioned) == []
    client.delete_bucket(Bucket=versioned.bucket)


def test_what_was_there_before_is_the_version_null(server: Server, shelf: Shelf) -> None:
    client, where = server.client(), {"Bucket": shelf.bucket, "Key": "k"}
    client.put_object(**where, Body=b"before")
    set_versioning(server, shelf, "Enabled")
    client.put_object(**where, Body=b"after")
    assert client.get_object(**where, VersionId="null")["Body"].read() == b"before"
    set_versioning(server, shelf, "Suspended")
    answer = client.put_object(**where, Body=b"suspended")
    assert "VersionId" not in answer
    assert client.get_object(**where, VersionId="null")["Body"].read() == b"suspended"
    assert listed(server, shelf)[0][1:] == ("Versions", "null", True)
    assert len(listed(server, shelf)) == 2
    client.delete_object(**where)
    assert ("k", "DeleteMarkers", "null", True) in listed(server, shelf)
    assert len(listed(server, shelf)) == 2


def test_versions_are_listed_page_by_page(server: Server, versioned: Shelf) -> None:
    client = server.client()
    for key in ("a", "b/1", "c"):
        for _ in range(3):
            client.put_object(Bucket=versioned.bucket, Key=key, Body=b"x")
    client.delete_object(Bucket=versioned.bucket, Key="b/1")
    whole = listed(server, versioned)
    assert len(whole) == 10
    for size in (1, 2, 4):
        assert sorted(listed(server, versioned, PaginationConfig={"PageSize": size})) == sorted(whole)
    assert {entry[0] for entry in listed(server, versioned, Prefix="b/")} == {"b/1"}


def test_many_deletions_in_one_call(server: Server, versioned: Shelf) -> None:
    client, bucket = server.client(), versioned.bucket
    version = client.put_object(Bucket=bucket, Key="a", Body=b"")["VersionId"]
    client.put_object(Bucket=bucket, Key="b", Body=b"")
    objects = [{"Key": "a", "VersionId": version}, {"Key": "b"}]
    done = client.delete_objects(Bucket=bucket, Delete={"Objects": objects})["Deleted"]
    by_key = {entry["Key"]: entry for entry in done}
    assert by_key["a"]["VersionId"] == version
    assert by_key["b"]["DeleteMarker"] is True
    assert [entry[1] for entry in listed(server, versioned)] == ["Versions", "DeleteMarkers"]


def test_many_deletions_of_what_is_not_there(server: Server, shelf: Shelf) -> None:
    server.client().put_object(Bucket=shelf.bucket, Key="a", Body=b"")
    body = b"<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>"
    answer = server.ask("POST", f"/{shelf.bucket}", {"delete": ""}, body)
    assert (answer.status, answer.body.count(b"<Deleted>"), answer.body.count(b"<Error>")) == (200, 2, 0)
    quiet = server.ask(
        "POST", f"/{shelf.bucket}", {"delete": ""}, body.replace(b"</Delete>", b"<Quiet>true</Quiet></Delete>")
    )
    assert (quiet.status, quiet.body.count(b"<Deleted>")) == (200, 0)
