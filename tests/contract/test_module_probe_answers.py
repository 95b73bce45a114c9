# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The probe where nothing can be proved, in check mode, and with options; what a right key gets is beside it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.contract.probe_reader import PREFIX, SECRET, Reader, allowing, listing, reader_on
from tests.contract.s3_server import Server


@pytest.fixture
def reader(server: Server) -> Iterator[Reader]:
    made = reader_on(server)
    yield made
    made.bench.clear()


def test_check_mode_only_reads(reader: Reader) -> None:
    reader.give(allowing(["s3:PutObject", "s3:DeleteObject"], f"{reader.bucket}/*"))
    writing = ("put", "delete", "batch delete", "tagging", "start of a multipart upload")
    result = reader.probe(check_mode=True)
    assert not result.get("failed"), result["msg"]
    assert not {item["action"] for item in result["probes"]} & set(writing)
    assert set(writing[:2]) <= {item["action"] for item in reader.probe()["probes"]}
    reader.give(listing(reader.bucket))
    assert reader.probe(check_mode=True).get("failed")


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"access_key": "nobody-knows-me"}, "does not know the key: check the access key 'nobody-knows-me'"),
        ({"secret_key": "not-its-secret"}, "SignatureDoesNotMatch"),
        ({"bucket": "no-such-bucket"}, "expected allowed, found 403 AccessDenied"),
        ({"cleanup_access_key": "nobody-knows-me"}, "use the cleanup key"),
    ],
)
def test_what_proves_nothing_fails(reader: Reader, check_mode: bool, change: dict[str, Any], said: str) -> None:
    if check_mode and "cleanup_access_key" in change:
        assert not reader.probe(check_mode=True, **change).get("failed")
        return
    before = reader.content()
    result = reader.probe(check_mode=check_mode, **change)
    assert result.get("failed") and said in result["msg"]
    assert reader.content() == before


def test_a_key_that_is_switched_off_proves_nothing(reader: Reader) -> None:
    query = {"accessKey": reader.name, "status": "disabled"}
    reader.bench.ask("PUT", "set-user-status", query)
    assert f"the access key {reader.name!r} is switched off" in reader.probe()["msg"]


@pytest.mark.parametrize("state", ["off", "expired", "deleted"])
def test_what_became_of_a_key_is_told(reader: Reader, state: str) -> None:
    key, ask = reader.bench.name("key"), reader.bench.ask
    end = f"{datetime.now(UTC) + timedelta(seconds=2):%Y-%m-%dT%H:%M:%SZ}"
    body = {"targetUser": reader.name, "accessKey": key, "secretKey": SECRET}
    ask("PUT", "add-service-account", body=body | ({"expiration": end} if state == "expired" else {}))
    assert not reader.probe(access_key=key).get("failed") or state == "expired"
    if state == "off":
        ask("POST", "update-service-account", {"accessKey": key}, {"newStatus": "off"})
    elif state == "expired":
        time.sleep(3)
    else:
        ask("DELETE", "delete-service-account", {"accessKey": key})
    said = {
        "off": f"the access key {key!r} is switched off",
        "expired": f"the access key {key!r}",  # how RustFS words it was not measured
        "deleted": f"does not know the key: check the access key {key!r}",
    }
    assert said[state] in reader.probe(access_key=key)["msg"]


def test_a_time_out_fails_naming_action_and_key(reader: Reader) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        result = reader.probe(endpoint=endpoint, timeout=1)
    assert result.get("failed") and "no answer" in result["msg"] and endpoint in result["msg"]


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_key_that_is_missing_fails(reader: Reader, check_mode: bool) -> None:
    result = reader.probe(check_mode=check_mode, access_key="not-made-yet")
    assert result.get("failed") and "does not know the key: check the access key 'not-made-yet'" in result["msg"]


def test_what_cannot_be_removed_is_named(reader: Reader) -> None:
    reader.give(allowing("s3:PutObject", f"{reader.bucket}/{PREFIX}/*"))
    result = reader.probe(cleanup_access_key=None, cleanup_secret_key=None)
    assert "remove it by hand" in result["msg"]
    assert len(result["left_behind"]) == 2
    made = {key for key, _version in reader.content() if "modelshelf-probe-" in key}
    assert all(any(key in text for text in result["left_behind"]) for key in made)
    assert len(made) == 2


def test_prefixes_of_other_models_are_probed(reader: Reader) -> None:
    assert not reader.probe(forbidden_prefixes=["qwen"]).get("failed")
    reader.give(allowing("s3:GetObject", f"{reader.bucket}/qwen/*"))
    assert not reader.probe().get("failed"), "nobody told the probe of qwen"
    assert f"get of s3://{reader.bucket}/qwen/" in reader.probe(forbidden_prefixes=["qwen"])["msg"]
    assert "overlaps" in reader.probe(forbidden_prefixes=["opt-125m/v1"])["msg"]


def test_the_other_bucket_may_be_named(reader: Reader) -> None:
    other = reader.bench.name("private")
    reader.bench.server.client().create_bucket(Bucket=other)
    assert not reader.probe(other_bucket=other).get("failed")
    reader.give(listing(other))
    assert (
        f"list of s3://{other} without a prefix: expected 403 AccessDenied, found 200"
        in (reader.probe(other_bucket=other)["msg"])
    )
    assert "the bucket of the reader itself" in reader.probe(other_bucket=reader.bucket)["msg"]


@pytest.mark.parametrize("prefixes", [[], [""], ["/"], ["a/../b"]])
def test_prefixes_that_cannot_be_are_refused(reader: Reader, prefixes: list[str]) -> None:
    assert reader.probe(prefixes=prefixes).get("failed")
