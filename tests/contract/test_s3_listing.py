# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Listings: every key once, in the order of its bytes, and no more than the prefix says."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.s3_server import Server, Shelf

KEYS = ["a", "a/1", "a/2/x", "a/2/y", "a-b/1", "a0", "b/", "b/1", "ü/1", "日/1", "z%20 +&<"]


@pytest.fixture
def filled(server: Server, shelf: Shelf) -> Shelf:
    client = server.client()
    for key in KEYS:
        client.put_object(Bucket=shelf.bucket, Key=key, Body=b"x")
    return shelf


def names(page: dict[str, Any]) -> list[str]:
    keys = [item["Key"] for item in page.get("Contents", ())]
    return keys + [item["Prefix"] for item in page.get("CommonPrefixes", ())]


def in_order(keys: list[str]) -> list[str]:
    return sorted(keys, key=str.encode)


@pytest.mark.parametrize("call", ["list_objects_v2", "list_objects"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("delimiter", ["", "/"])
def test_pages_add_up(server: Server, filled: Shelf, call: str, size: int, delimiter: str) -> None:
    pages = (
        server.client()
        .get_paginator(call)
        .paginate(Bucket=filled.bucket, Delimiter=delimiter, PaginationConfig={"PageSize": size})
    )
    seen = [names(page) for page in pages]
    assert all(0 < len(page) <= size for page in seen)
    expected = in_order(KEYS)
    if delimiter:
        expected = list(dict.fromkeys(key[: key.index("/") + 1] if "/" in key else key for key in expected))
    assert in_order([name for page in seen for name in page]) == in_order(expected)
    flat = [name for page in seen for name in in_order(page)]
    assert flat == in_order(expected)


@pytest.mark.parametrize(
    ("prefix", "delimiter", "expected"),
    [
        ("a/", "/", ["a/1", "a/2/"]),
        ("a", "/", ["a", "a0", "a-b/", "a/"]),
        ("a/2", "/", ["a/2/"]),
        ("a/2/", "", ["a/2/x", "a/2/y"]),
        ("b/", "/", ["b/", "b/1"]),
        ("none/", "/", []),
        ("a", "-", ["a", "a/1", "a/2/x", "a/2/y", "a0", "a-"]),
    ],
)
def test_prefix_and_delimiter(server: Server, filled: Shelf, prefix: str, delimiter: str, expected: list[str]) -> None:
    page = server.client().list_objects_v2(Bucket=filled.bucket, Prefix=prefix, Delimiter=delimiter)
    assert (names(page), page["KeyCount"], page["IsTruncated"]) == (expected, len(expected), False)


def test_a_deep_tree_is_one_entry(server: Server, shelf: Shelf) -> None:
    client = server.client()
    for number in range(40):
        client.put_object(Bucket=shelf.bucket, Key=f"deep/{number % 4}/{number}", Body=b"")
    page = client.list_objects_v2(Bucket=shelf.bucket, Prefix="deep/", Delimiter="/", MaxKeys=2)
    assert (names(page), page["IsTruncated"]) == (["deep/0/", "deep/1/"], True)
    token = page["NextContinuationToken"]
    rest = client.list_objects_v2(Bucket=shelf.bucket, Prefix="deep/", Delimiter="/", ContinuationToken=token)
    assert names(rest) == ["deep/2/", "deep/3/"]


def test_start_after_and_limits(server: Server, filled: Shelf) -> None:
    client, bucket = server.client(), filled.bucket
    assert names(client.list_objects_v2(Bucket=bucket, StartAfter="b/")) == ["b/1", "z%20 +&<", "ü/1", "日/1"]
    nothing = client.list_objects_v2(Bucket=bucket, MaxKeys=0)
    assert (names(nothing), nothing["IsTruncated"]) == ([], False)
    many = server.ask("GET", f"/{bucket}", {"list-type": "2", "max-keys": "5000"})
    assert b"<MaxKeys>1000</MaxKeys>" in many.body
    wrong = server.ask("GET", f"/{bucket}", {"list-type": "2", "max-keys": "-1"})
    assert (wrong.status, wrong.code) == (400, "InvalidArgument")


@pytest.mark.parametrize("prefix", ["a/../b/", "a//b"])
def test_prefixes_that_no_key_has(server: Server, shelf: Shelf, prefix: str) -> None:
    answer = server.ask("GET", f"/{shelf.bucket}", {"list-type": "2", "prefix": prefix})
    assert (answer.status, answer.code) == (400, "InvalidArgument")


def test_keys_in_the_encoding_of_urls(server: Server, filled: Shelf) -> None:
    query = {"list-type": "2", "prefix": "z", "encoding-type": "url"}
    body = server.ask("GET", f"/{filled.bucket}", query).body
    assert b"<Key>z%2520%20%2B%26%3C</Key>" in body
    assert b"<EncodingType>url</EncodingType>" in body


def test_no_bucket(server: Server) -> None:
    with pytest.raises(ClientError, match="NoSuchBucket"):
        server.client().list_objects_v2(Bucket=f"none-{secrets.token_hex(4)}")


def test_more_keys_than_a_page_and_all_deleted_in_one_call(server: Server, shelf: Shelf) -> None:
    client = server.client()
    keys = [f"many/{number:04}" for number in range(1005)]
    for key in keys:
        client.put_object(Bucket=shelf.bucket, Key=key, Body=b"")
    first = client.list_objects_v2(Bucket=shelf.bucket)
    assert (len(first["Contents"]), first["IsTruncated"]) == (1000, True)
    assert list(shelf.keys()) == keys
    client.delete_objects(Bucket=shelf.bucket, Delete={"Objects": [{"Key": key} for key in keys[:1000]]})
    assert list(shelf.keys()) == keys[1000:]
