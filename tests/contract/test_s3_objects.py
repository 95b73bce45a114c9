# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects: what is written is read back, in whole and in part, and only under the conditions that were given."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.s3_server import Server, Shelf
from tests.standin.s3_checksums import ALGORITHMS, encoded, header, running


def refused(call: Any, **arguments: Any) -> tuple[int, str]:
    """Status and code of a call that must fail."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    answer = caught.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]


def test_put_get_head(server: Server, shelf: Shelf) -> None:
    client, where = server.client(), {"Bucket": shelf.bucket, "Key": "m/1/config.json"}
    put = client.put_object(**where, Body=b'{"a":1}', Metadata={"sha256": "abc"}, CacheControl="no-cache")
    assert put["ETag"] == f'"{hashlib.md5(b"""{"a":1}""").hexdigest()}"'
    got = client.get_object(**where)
    assert (got["Body"].read(), got["ContentType"], got["Metadata"]) == (
        b'{"a":1}',
        "application/json",
        {"sha256": "abc"},
    )
    head = client.head_object(**where)
    assert (head["ContentLength"], head["ETag"], head["CacheControl"]) == (7, put["ETag"], "no-cache")
    assert "x-amz-version-id" not in head["ResponseMetadata"]["HTTPHeaders"]


def test_what_is_not_there(server: Server, shelf: Shelf) -> None:
    client = server.client()
    assert refused(client.get_object, Bucket=shelf.bucket, Key="none") == (404, "NoSuchKey")
    assert refused(client.head_object, Bucket=shelf.bucket, Key="none") == (404, "404")
    assert refused(client.get_object, Bucket="no-such-bucket", Key="none") == (404, "NoSuchBucket")
    assert refused(client.put_object, Bucket="no-such-bucket", Key="k", Body=b"") == (404, "NoSuchBucket")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("0-2", b"012"), ("3-5", b"345"), ("4-", b"456789"), ("-2", b"89"), ("7-900", b"789"), ("-900", b"0123456789")],
)
def test_ranges(server: Server, shelf: Shelf, asked: str, expected: bytes) -> None:
    client = server.client()
    client.put_object(Bucket=shelf.bucket, Key="k", Body=b"0123456789")
    got = client.get_object(Bucket=shelf.bucket, Key="k", Range=f"bytes={asked}")
    start = b"0123456789".index(expected)
    assert got["Body"].read() == expected
    assert got["ContentRange"] == f"bytes {start}-{start + len(expected) - 1}/10"


@pytest.mark.parametrize(
    ("asked", "content", "expected"),
    [
        ("bytes=100-200", b"0123", (416, "InvalidRange")),
        ("bytes=0-", b"", (416, "InvalidRange")),
        ("bytes=0-1,3-4", b"0123", (400, "InvalidArgument")),
    ],
)
def test_ranges_that_cannot_be(
    server: Server, shelf: Shelf, asked: str, content: bytes, expected: tuple[int, str]
) -> None:
    client = server.client()
    client.put_object(Bucket=shelf.bucket, Key="k", Body=content)
    assert refused(client.get_object, Bucket=shelf.bucket, Key="k", Range=asked) == expected


def test_a_write_only_if_absent_or_unchanged(server: Server, shelf: Shelf) -> None:
    client, where = server.client(), {"Bucket": shelf.bucket, "Key": "manifest.json"}
    tag = client.put_object(**where, Body=b"one", IfNoneMatch="*")["ETag"]
    assert refused(client.put_object, **where, Body=b"two", IfNoneMatch="*") == (412, "PreconditionFailed")
    wrong = f'"{"0" * 32}"'
    assert refused(client.put_object, **where, Body=b"two", IfMatch=wrong) == (412, "PreconditionFailed")
    assert client.get_object(**where)["Body"].read() == b"one"
    client.put_object(**where, Body=b"three", IfMatch=tag)
    assert client.get_object(**where)["Body"].read() == b"three"
    assert refused(client.put_object, Bucket=shelf.bucket, Key="other", Body=b"", IfMatch=wrong) == (404, "NoSuchKey")


def test_conditional_reads(server: Server, shelf: Shelf) -> None:
    client, where = server.client(), {"Bucket": shelf.bucket, "Key": "k"}
    tag = client.put_object(**where, Body=b"one")["ETag"]
    assert refused(client.get_object, **where, IfNoneMatch=tag)[0] == 304
    assert refused(client.get_object, **where, IfMatch=f'"{"0" * 32}"') == (412, "PreconditionFailed")
    assert client.get_object(**where, IfMatch=tag)["Body"].read() == b"one"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_checksums_are_verified(server: Server, shelf: Shelf, algorithm: str) -> None:
    whole = running(algorithm)
    whole.update(b"hello")
    name, value = header(algorithm), encoded(whole.digest())
    path = f"/{shelf.bucket}/k"
    bad = server.ask("PUT", path, body=b"hellO", headers={name: value})
    assert (bad.status, bad.code) == (400, "BadDigest")
    assert server.ask("HEAD", path).status == 404
    good = server.ask("PUT", path, body=b"hello", headers={name: value})
    assert (good.status, good.headers[name]) == (200, value)
    head = server.ask("HEAD", path, headers={"x-amz-checksum-mode": "ENABLED"})
    assert (head.status, head.headers[name]) == (200, value)
    assert name not in server.ask("HEAD", path).headers


def test_a_wrong_content_md5_is_a_500(server: Server, shelf: Shelf) -> None:
    md5 = base64.b64encode(bytes(16)).decode()
    answer = server.ask("PUT", f"/{shelf.bucket}/k", body=b"hello", headers={"content-md5": md5})
    assert (answer.status, answer.code) == (500, "InternalError")
    assert shelf.keys() == {}


@pytest.mark.parametrize(
    ("key", "status", "code"),
    [
        ("a//b", 400, "InvalidArgument"),
        ("s" * 256, 400, "InvalidArgument"),
        ("k" * 1025, 400, "KeyTooLongError"),
        ("s" * 255, 200, ""),
        ("name with blank +%?&=#~", 200, ""),
        ("ünï/文件.bin", 200, ""),
    ],
)
def test_key_names(server: Server, shelf: Shelf, key: str, status: int, code: str) -> None:
    answer = server.ask("PUT", f"/{shelf.bucket}/{key}", body=b"x")
    assert (answer.status, answer.code) == (status, code)
    assert shelf.keys() == ({key: 1} if status == 200 else {})


def test_an_object_and_a_folder_of_one_name_and_a_marker(server: Server, shelf: Shelf) -> None:
    client = server.client()
    for key in ("m/3/a", "m/3", "m/3/a/under", "m/1/sub/"):
        client.put_object(Bucket=shelf.bucket, Key=key, Body=key.encode() if not key.endswith("/") else b"")
    assert shelf.keys() == {"m/1/sub/": 0, "m/3": 3, "m/3/a": 5, "m/3/a/under": 11}
    assert refused(client.get_object, Bucket=shelf.bucket, Key="m/1/sub") == (404, "NoSuchKey")


def test_copies_keep_content_type_and_metadata(server: Server, shelf: Shelf) -> None:
    client = server.client()
    client.put_object(Bucket=shelf.bucket, Key="a.json", Body=b"{}", Metadata={"x": "1"}, ChecksumAlgorithm="SHA256")
    source = {"Bucket": shelf.bucket, "Key": "a.json"}
    client.copy_object(Bucket=shelf.bucket, Key="b", CopySource=source)
    got = client.head_object(Bucket=shelf.bucket, Key="b", ChecksumMode="ENABLED")
    assert (got["ContentType"], got["Metadata"]) == ("application/json", {"x": "1"})
    assert got["ChecksumSHA256"] == base64.b64encode(hashlib.sha256(b"{}").digest()).decode()
    assert refused(client.copy_object, Bucket=shelf.bucket, Key="a.json", CopySource=source) == (400, "InvalidRequest")
    missing = {"Bucket": shelf.bucket, "Key": "none"}
    assert refused(client.copy_object, Bucket=shelf.bucket, Key="c", CopySource=missing) == (404, "NoSuchKey")


def test_attributes_and_tags(server: Server, shelf: Shelf) -> None:
    client, where = server.client(), {"Bucket": shelf.bucket, "Key": "k"}
    client.put_object(**where, Body=b"hello", ChecksumAlgorithm="SHA256")
    said = client.get_object_attributes(**where, ObjectAttributes=["ETag", "Checksum", "ObjectSize"])
    assert (said["ETag"], said["ObjectSize"]) == (hashlib.md5(b"hello").hexdigest(), 5)
    assert said["Checksum"]["ChecksumSHA256"] == base64.b64encode(hashlib.sha256(b"hello").digest()).decode()
    client.put_object_tagging(**where, Tagging={"TagSet": [{"Key": "v", "Value": "1"}]})
    assert client.get_object_tagging(**where)["TagSet"] == [{"Key": "v", "Value": "1"}]


def test_a_replaced_object_is_read_to_its_end(server: Server, shelf: Shelf) -> None:
    client, where = server.client(), {"Bucket": shelf.bucket, "Key": "k"}
    old = bytes(8 << 20)
    client.put_object(**where, Body=old)
    stream = client.get_object(**where)["Body"]
    start = stream.read(1)
    client.put_object(**where, Body=b"new")
    client.delete_object(**where)
    assert start + stream.read() == old
