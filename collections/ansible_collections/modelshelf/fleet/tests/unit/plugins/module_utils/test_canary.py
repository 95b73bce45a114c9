# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ansible_collections.modelshelf.fleet.plugins.module_utils._canary import PREFIX, SIZE, prove_write
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    NotPermitted,
    StoreError,
    Unavailable,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection

STORE = Connection("http://store1:9000", "modelshelf-canary", "root", "secret")


class S3:
    """A store of one bucket. `broken`: per call, how many times it fails, and with which status and code."""

    def __init__(self, **broken: tuple[int, int, str]) -> None:
        self.broken = {name: list(value) for name, value in broken.items()}
        self.objects: dict[str, bytes] = {}
        self.old: list[str] = []
        self.bucket = False
        self.listings = 0
        self.change: Callable[[bytes], bytes] = bytes

    def _fails(self, name: str) -> None:
        times, status, code = self.broken.get(name, [0, 0, ""])
        if times:
            self.broken[name][0] -= 1
            answer: Any = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
            raise ClientError(answer, name)

    def create_bucket(self, **_request: Any) -> None:
        self._fails("create_bucket")
        self.bucket = True

    def put_object(self, Key: str, Body: bytes, **_request: Any) -> None:
        self._fails("put_object")
        self.objects[Key] = Body

    def get_object(self, Key: str, **_request: Any) -> dict[str, Any]:
        self._fails("get_object")
        return {"Body": io.BytesIO(self.change(self.objects[Key]))}

    def head_object(self, Key: str, **_request: Any) -> None:
        if Key not in self.objects:
            self.broken["head_object"] = [1, 404, "404"]
            self._fails("head_object")

    def delete_object(self, Key: str, **_request: Any) -> None:
        self._fails("delete_object")
        del self.objects[Key]

    def list_objects_v2(self, **_request: Any) -> dict[str, Any]:
        self.listings += 1
        now = datetime.now(timezone.utc)
        return {
            "Contents": [
                {"Key": key, "LastModified": now - timedelta(hours=key in self.old)} for key in list(self.objects)
            ]
        }

    def delete_bucket(self, **_request: Any) -> None:
        if self.objects:
            self.broken["delete_bucket"] = [1, 409, "BucketNotEmpty"]
        self._fails("delete_bucket")
        self.bucket = False


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def prove(store: S3, deadline: float = 10) -> list[str]:
    clock = Clock()
    return prove_write(STORE, deadline, client=store, clock=lambda: clock.now, sleep=clock.sleep)


def test_nothing_is_left_behind() -> None:
    store = S3()
    assert prove(store) == ["make bucket", "put", "get", "delete"]
    assert (store.objects, store.bucket) == ({}, False)


def test_a9_a_write_that_fails_at_first_is_tried_again() -> None:
    assert prove(S3(put_object=(3, 500, "InternalError"))) == ["make bucket", "put", "get", "delete"]


def test_a9_a_write_that_never_works_fails_at_the_deadline() -> None:
    store = S3(put_object=(99, 500, "InternalError"))
    with pytest.raises(StoreError, match=r"step 'put' \(tried 11 times in 10 s\).*InternalError.*full disk"):
        prove(store)
    assert not store.bucket


def test_a_store_that_makes_no_bucket_is_asked_nothing_more() -> None:
    store = S3(create_bucket=(99, 503, "ServiceUnavailable"))
    with pytest.raises(Unavailable, match="step 'make bucket'"):
        prove(store)
    assert store.listings == 0


def test_a_key_that_is_refused_is_not_tried_again() -> None:
    with pytest.raises(NotPermitted, match="tried 1 times"):
        prove(S3(create_bucket=(99, 403, "AccessDenied")))


@pytest.mark.parametrize(
    ("status", "code", "of_the_drives"),
    [
        (500, "InternalError", True),
        (503, "SlowDown", True),
        (403, "AccessDenied", False),
        (403, "RequestTimeTooSkewed", False),
        (409, "BucketAlreadyExists", False),
    ],
)
def test_the_drives_are_suspected_only_where_they_can_be_the_cause(status: int, code: str, of_the_drives: bool) -> None:
    with pytest.raises(StoreError, match="the proof that the store stores failed at the step 'make bucket'") as caught:
        prove(S3(create_bucket=(99, status, code)))
    assert ("full disk" in str(caught.value)) is of_the_drives


def test_other_content_is_no_proof() -> None:
    store = S3()
    store.change = lambda content: content[:-1]
    with pytest.raises(StoreError, match=f"gave back {SIZE - 1} bytes"):
        prove(store)
    assert len(store.objects) == 1


def test_an_object_that_cannot_be_deleted_is_told() -> None:
    with pytest.raises(StoreError, match="step 'delete'"):
        prove(S3(delete_object=(99, 500, "InternalError")))


def test_another_proof_under_way_is_left_alone_and_an_abandoned_one_is_not() -> None:
    store = S3()
    store.objects = {f"{PREFIX}other": b"x", f"{PREFIX}abandoned": b"x"}
    store.old = [f"{PREFIX}abandoned"]
    assert prove(store)[-1] == "delete"
    assert (list(store.objects), store.bucket) == ([f"{PREFIX}other"], True)
