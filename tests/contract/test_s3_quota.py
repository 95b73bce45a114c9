# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quota: hard, asked of the admin API, refused late for uploads in parts."""

from __future__ import annotations

import json
import time

import pytest

from tests.contract.s3_server import Answer, Server, Shelf
from tests.contract.test_s3_multipart import Upload
from tests.contract.test_s3_objects import refused

MIB = 1 << 20
WARM = 180.0  # seconds: a real server answers 503 for about the first minute


def quota(server: Server, method: str, bucket: str, body: object = None) -> Answer:
    deadline = time.monotonic() + WARM
    while True:
        text = b"" if body is None else json.dumps(body).encode()
        answer = server.ask(method, f"/rustfs/admin/v3/quota/{bucket}", body=text)
        if answer.status != 503 or time.monotonic() > deadline:
            return answer
        time.sleep(2)


@pytest.fixture
def limited(server: Server, shelf: Shelf) -> Shelf:
    """A bucket of 1 MiB with a limit of 3 MiB."""
    server.client().put_object(Bucket=shelf.bucket, Key="a", Body=bytes(MIB))
    assert quota(server, "PUT", shelf.bucket, {"quota": 3 * MIB, "quota_type": "HARD"}).status == 200
    return shelf


def test_set_read_and_cleared(server: Server, limited: Shelf) -> None:
    said = {"bucket": limited.bucket, "quota": 3 * MIB, "size": MIB, "quota_type": "HARD"}
    assert json.loads(quota(server, "GET", limited.bucket).body) == said
    compat = server.ask("GET", "/rustfs/admin/v3/get-bucket-quota", {"bucket": limited.bucket})
    assert json.loads(compat.body)["size"] == 3 * MIB
    for _ in range(2):
        assert json.loads(quota(server, "DELETE", limited.bucket).body) == {**said, "quota": None}
    assert json.loads(quota(server, "PUT", limited.bucket, {"quota": 0}).body) == {**said, "quota": None}


def test_a_write_over_it_is_refused_with_both_numbers(server: Server, limited: Shelf) -> None:
    client = server.client()
    client.put_object(Bucket=limited.bucket, Key="b", Body=bytes(MIB))
    answer = server.ask("PUT", f"/{limited.bucket}/c", body=bytes(2 * MIB))
    assert (answer.status, answer.code) == (400, "InvalidRequest")
    expected = f"Bucket quota exceeded. Current usage: {2 * MIB} bytes, limit: {3 * MIB} bytes"
    assert expected.encode() in answer.body
    client.delete_object(Bucket=limited.bucket, Key="b")
    assert set(limited.keys()) == {"a"}


def test_an_upload_in_parts_is_refused_when_it_is_completed(server: Server, limited: Shelf) -> None:
    upload = Upload(server, limited.bucket)
    upload.part(1, bytes(5 * MIB))
    assert refused(upload.complete) == (400, "InvalidRequest")
    upload.client.abort_multipart_upload(**upload.where, UploadId=upload.id)


@pytest.mark.parametrize(
    ("body", "code"), [({"quota": 1, "quota_type": "FIFO"}, "InvalidArgument"), ({"quota": -1}, "InvalidRequest")]
)
def test_quotas_that_cannot_be(server: Server, shelf: Shelf, body: object, code: str) -> None:
    answer = quota(server, "PUT", shelf.bucket, body)
    assert (answer.status, answer.code) == (400, code)


@pytest.mark.parametrize(
    ("method", "status", "code"),
    [("GET", 404, "NoSuchBucket"), ("PUT", 500, "InternalError"), ("DELETE", 500, "InternalError")],
)
def test_no_bucket(server: Server, method: str, status: int, code: str) -> None:
    answer = quota(server, method, "nothing-here", {"quota": 1} if method == "PUT" else None)
    assert (answer.status, answer.code) == (status, code)
