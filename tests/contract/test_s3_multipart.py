# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Multipart uploads: nothing shows before they are complete, and nothing is lost before that."""

from __future__ import annotations

import base64
import hashlib
import zlib
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.s3_server import Server, Shelf
from tests.contract.test_s3_objects import refused
from tests.standin.s3_checksums import encoded, running
from tests.support.rustfs_server import RunningServer

PART = 5 << 20


class Upload:
    """One upload of the key `big`."""

    def __init__(self, server: Server, bucket: str, **options: Any) -> None:
        self.client, self.where = server.client(), {"Bucket": bucket, "Key": "big"}
        self.id = self.client.create_multipart_upload(**self.where, **options)["UploadId"]
        self.parts: dict[int, dict[str, Any]] = {}

    def part(self, number: int, body: bytes, **options: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.upload_part(
            **self.where, UploadId=self.id, PartNumber=number, Body=body, **options
        )
        sums = {name: value for name, value in answer.items() if name.startswith("Checksum")}
        self.parts[number] = {"PartNumber": number, "ETag": answer["ETag"], **sums}
        return answer

    def complete(self, *numbers: int, **options: Any) -> Any:
        parts = [self.parts[number] for number in numbers or sorted(self.parts)]
        return self.client.complete_multipart_upload(
            **self.where, UploadId=self.id, MultipartUpload={"Parts": parts}, **options
        )


def test_an_upload_is_an_object_once_it_is_complete(server: Server, shelf: Shelf) -> None:
    upload = Upload(server, shelf.bucket, ContentType="application/x-weights", Metadata={"a": "b"})
    body = bytes(range(256)) * (PART // 256) + b"end"
    upload.part(1, body[:PART])
    upload.part(2, body[PART:])
    assert shelf.keys() == {}
    tag = upload.complete()["ETag"]
    digests = hashlib.md5(body[:PART]).digest() + hashlib.md5(body[PART:]).digest()
    assert tag == f'"{hashlib.md5(digests).hexdigest()}-2"'
    head = upload.client.head_object(**upload.where)
    assert (head["ContentLength"], head["ContentType"], head["Metadata"]) == (
        len(body),
        "application/x-weights",
        {"a": "b"},
    )
    across = upload.client.get_object(**upload.where, Range=f"bytes={PART - 2}-{PART + 2}")
    assert across["Body"].read() == body[PART - 2 :]
    assert shelf.content("big") == body
    assert refused(upload.complete) == (404, "NoSuchUpload")


def test_a_type_is_guessed_for_whole_objects_alone(server: Server, shelf: Shelf) -> None:
    upload = Upload(server, shelf.bucket)
    upload.part(1, b"x")
    upload.complete()
    assert upload.client.head_object(**upload.where)["ContentType"] == "binary/octet-stream"


def test_what_cannot_be_completed_stays_open(server: Server, shelf: Shelf) -> None:
    upload = Upload(server, shelf.bucket)
    upload.part(1, b"a")
    upload.part(2, b"b")
    assert refused(upload.complete) == (400, "EntityTooSmall")
    upload.parts[1], good = {**upload.parts[1], "ETag": f'"{"0" * 32}"'}, upload.parts[1]
    assert refused(lambda: upload.complete(1)) == (400, "InvalidPart")
    upload.parts[1], upload.parts[3] = good, {**good, "PartNumber": 3}
    assert refused(lambda: upload.complete(1, 3)) == (400, "InvalidPart")
    assert refused(lambda: upload.complete(2, 1)) == (400, "InvalidPartOrder")
    listed = upload.client.list_parts(**upload.where, UploadId=upload.id)["Parts"]
    assert [(part["PartNumber"], part["Size"]) for part in listed] == [(1, 1), (2, 1)]
    upload.complete(2)
    assert shelf.content("big") == b"b"


@pytest.mark.parametrize("number", [0, 10001])
def test_part_numbers(server: Server, shelf: Shelf, number: int) -> None:
    upload = Upload(server, shelf.bucket)
    assert refused(lambda: upload.part(number, b"x")) == (400, "InvalidArgument")
    upload.client.abort_multipart_upload(**upload.where, UploadId=upload.id)


def test_only_if_absent_refuses_and_leaves_the_upload_open(server: Server, shelf: Shelf) -> None:
    server.client().put_object(Bucket=shelf.bucket, Key="big", Body=b"first")
    upload = Upload(server, shelf.bucket)
    upload.part(1, b"second")
    assert refused(lambda: upload.complete(IfNoneMatch="*")) == (412, "PreconditionFailed")
    assert shelf.content("big") == b"first"
    server.client().delete_object(Bucket=shelf.bucket, Key="big")
    upload.complete(IfNoneMatch="*")
    assert shelf.content("big") == b"second"


def test_parts_and_uploads_are_listed_page_by_page(server: Server, shelf: Shelf) -> None:
    upload, other = Upload(server, shelf.bucket), Upload(server, shelf.bucket)
    for number in (1, 2, 5, 6):
        upload.part(number, b"x" * number)
    pages = upload.client.get_paginator("list_parts").paginate(
        **upload.where, UploadId=upload.id, PaginationConfig={"PageSize": 3}
    )
    seen = [[(part["PartNumber"], part["Size"]) for part in page["Parts"]] for page in pages]
    assert seen == [[(1, 1), (2, 2), (5, 5)], [(6, 6)]]
    first = upload.client.list_multipart_uploads(Bucket=shelf.bucket, MaxUploads=1)
    rest = upload.client.list_multipart_uploads(
        Bucket=shelf.bucket, KeyMarker=first["NextKeyMarker"], UploadIdMarker=first["NextUploadIdMarker"]
    )
    assert (first["IsTruncated"], rest["IsTruncated"]) == (True, False)
    assert {entry["UploadId"] for page in (first, rest) for entry in page["Uploads"]} == {upload.id, other.id}
    assert "Uploads" not in upload.client.list_multipart_uploads(Bucket=shelf.bucket, Prefix="big/")


def test_an_upload_that_is_given_up_is_gone(server: Server, shelf: Shelf) -> None:
    upload = Upload(server, shelf.bucket)
    upload.part(1, b"x")
    for expected in (204, 404):
        answer = server.ask("DELETE", f"/{shelf.bucket}/big", {"uploadId": upload.id})
        assert answer.status == expected
    assert refused(lambda: upload.part(1, b"x")) == (404, "NoSuchUpload")
    assert "Uploads" not in upload.client.list_multipart_uploads(Bucket=shelf.bucket)


def test_the_last_part_of_a_number_counts(server: Server, shelf: Shelf) -> None:
    upload = Upload(server, shelf.bucket)
    first = upload.part(1, b"old")
    upload.part(1, b"new")
    upload.parts[1], newest = {**upload.parts[1], "ETag": first["ETag"]}, upload.parts[1]
    assert refused(upload.complete) == (400, "InvalidPart")
    upload.parts[1] = newest
    upload.complete()
    assert shelf.content("big") == b"new"


def test_checksums_of_parts_make_one_of_the_object(server: Server, shelf: Shelf) -> None:
    upload = Upload(server, shelf.bucket, ChecksumAlgorithm="SHA256")
    bodies = [b"a" * PART, b"b"]
    for number, body in enumerate(bodies, 1):
        upload.part(number, body, ChecksumAlgorithm="SHA256")
    wrong = base64.b64encode(bytes(32)).decode()
    with pytest.raises(ClientError, match="BadDigest"):
        upload.part(2, b"b", ChecksumSHA256=wrong)
    expected = hashlib.sha256(b"".join(hashlib.sha256(body).digest() for body in bodies)).digest()
    assert upload.complete()["ChecksumSHA256"] == f"{base64.b64encode(expected).decode()}-2"


def test_a_checksum_of_the_whole_object_is_verified(server: Server, shelf: Shelf) -> None:
    upload = Upload(server, shelf.bucket, ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")
    body = bytes(range(256)) * (PART // 256) + b"end"
    upload.part(1, body[:PART], ChecksumAlgorithm="CRC32")
    upload.part(2, body[PART:], ChecksumAlgorithm="CRC32")
    wrong = base64.b64encode(bytes(4)).decode()
    status, _ = refused(lambda: upload.complete(ChecksumCRC32=wrong, ChecksumType="FULL_OBJECT"))
    assert status == 400
    right = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
    assert upload.complete(ChecksumCRC32=right, ChecksumType="FULL_OBJECT")["ChecksumCRC32"] == right


@pytest.mark.parametrize(
    ("algorithm", "digest"), [("CRC32", "cbf43926"), ("CRC32C", "e3069283"), ("CRC64NVME", "ae8b14860a799888")]
)
def test_the_tests_own_checksums_are_right(algorithm: str, digest: str) -> None:
    """The check values of the algorithms' definitions; in pieces it is the same."""
    for size in (1, 4, 9):
        whole = running(algorithm)
        for start in range(0, 9, size):
            whole.update(b"123456789"[start : start + size])
        assert whole.digest().hex() == digest
    long, short = running(algorithm), running(algorithm)
    data = bytes(range(251)) * 300
    long.update(data)
    for start in range(0, len(data), 97):
        short.update(data[start : start + 97])
    assert encoded(long.digest()) == encoded(short.digest())


def test_parts_are_copied_from_objects(server: Server, shelf: Shelf) -> None:
    client = server.client()
    client.put_object(Bucket=shelf.bucket, Key="source", Body=b"0123456789")
    upload = Upload(server, shelf.bucket)
    for number, asked in ((1, None), (2, "bytes=2-4")):
        extra = {"CopySourceRange": asked} if asked else {}
        copied = client.upload_part_copy(
            **upload.where,
            UploadId=upload.id,
            PartNumber=number,
            CopySource={"Bucket": shelf.bucket, "Key": "source"},
            **extra,
        )
        upload.parts[number] = {"PartNumber": number, "ETag": copied["CopyPartResult"]["ETag"]}
    upload.complete(2)
    assert shelf.content("big") == b"234"


def test_a5_an_open_upload_outlives_a_kill(fresh_server: RunningServer) -> None:
    fresh_server.client().create_bucket(Bucket="models")
    upload = Upload(fresh_server, "models")
    upload.part(1, b"a" * PART)
    fresh_server.kill()
    fresh_server.start()
    listed = upload.client.list_parts(**upload.where, UploadId=upload.id)["Parts"]
    assert [(part["PartNumber"], part["Size"]) for part in listed] == [(1, PART)]
    upload.part(2, b"b")
    upload.complete()
    assert Shelf(fresh_server, "models").content("big") == b"a" * PART + b"b"
