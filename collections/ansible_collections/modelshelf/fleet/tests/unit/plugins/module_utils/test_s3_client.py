# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.stub import Stubber

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe_s3 import Cleaner
from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_store import Buckets
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    BadSignature,
    ClockSkew,
    InUse,
    NotFound,
    NotPermitted,
    NotTrusted,
    StoreError,
    Unavailable,
    UnknownKey,
    Unreachable,
    Unsupported,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3 import Store
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import (
    Connection,
    make_client,
    translated,
)

CONNECTION = Connection("http://127.0.0.1:9", "models", "writer", "canary-secret", timeout=0.1)
ADMIN = Admin("http://127.0.0.1:9", "writer", "canary-secret", deadline=3)


class Script(http.server.BaseHTTPRequestHandler):
    """Answers with the next status of the server's list, then with 200."""

    def do_GET(self) -> None:
        server: Any = self.server
        server.asked += 1
        status, code = server.answers.pop(0) if server.answers else (200, "")
        body = f"<Error><Code>{code}</Code><Message>policy in use</Message></Error>".encode() if code else b"content"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Silence."""


@pytest.fixture
def scripted() -> Iterator[Any]:
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Script)
    server.answers, server.asked = [], 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def read(server: Any, timeout: float = 30) -> bytes:
    endpoint = f"http://127.0.0.1:{server.server_port}"
    return Store(Connection(endpoint, "models", "writer", "canary-secret", timeout=timeout)).read("k")


def test_a4_checksums_and_addressing() -> None:
    config = make_client(CONNECTION).meta.config
    assert config.request_checksum_calculation == "when_required"
    assert config.response_checksum_validation == "when_required"
    assert config.s3["addressing_style"] == "path"


def test_a_call_without_an_answer_ends_at_the_timeout_and_an_upload_has_its_own() -> None:
    connection = replace(CONNECTION, timeout=3)
    clients = [
        make_client(connection),
        Cleaner(connection).client,
        Buckets(Client(ADMIN))._s3,
        Store(connection).client,
    ]
    assert [client.meta.config.read_timeout for client in clients] == [3, 3, 3, 120]


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch, scripted: Any) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    assert read(scripted) == b"content"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again(scripted: Any, status: int) -> None:
    scripted.answers = [(status, "SlowDown"), (status, "")]
    assert read(scripted) == b"content"
    assert scripted.asked == 3


def test_another_500_is_not_asked_again_and_read_by_its_message(scripted: Any) -> None:
    scripted.answers = [(500, "InternalError")]
    with pytest.raises(InUse, match="policy in use"):
        read(scripted)
    assert scripted.asked == 1


def test_the_deadline_ends_it_and_says_how_long_it_was_tried(scripted: Any) -> None:
    scripted.answers = [(503, "SlowDown")] * 50
    with pytest.raises(Unavailable, match=r"tried 3 times in \d s"):
        read(scripted, timeout=1)


def test_no_answer_is_unreachable() -> None:
    with pytest.raises(Unreachable, match=r"no answer: .*\(tried 1 times in 0 s\)"):
        Store(CONNECTION).list_objects("x")


def test_secret_is_not_in_the_representation() -> None:
    assert "canary-secret" not in repr(CONNECTION)


def test_our_own_fault_is_not_tried_again(scripted: Any) -> None:
    connection = Connection(f"https://127.0.0.1:{scripted.server_port}", "models", "writer", "s", ca_file="/no/such")
    begun = time.monotonic()
    with pytest.raises(NotTrusted, match="No such file or directory: check ca_file"):
        Store(connection).read("k")
    assert time.monotonic() - begun < 10


def test_a_server_without_tls_is_not_trusted_and_not_tried_again(scripted: Any) -> None:
    begun = time.monotonic()
    with pytest.raises(NotTrusted, match="check ca_file"):
        Store(Connection(f"https://127.0.0.1:{scripted.server_port}", "models", "writer", "s")).read("k")
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("code", "message", "status", "expected", "text"),
    [
        ("NoSuchKey", "", 404, NotFound, "it is not there"),
        ("NoSuchBucket", "", 404, NotFound, "there is no bucket 'models'"),
        ("AccessDenied", "", 403, NotPermitted, "access key 'writer'"),
        ("InvalidAccessKeyId", "does not exist in our records", 403, UnknownKey, "access key 'writer'"),
        ("SignatureDoesNotMatch", "", 403, BadSignature, "its secret"),
        ("RequestTimeTooSkewed", "", 403, ClockSkew, "clocks"),
        ("NotImplemented", "no", 501, Unsupported, "does not support it"),
        ("InvalidRequest", "unsupported checksum algorithm", 400, Unsupported, "request_checksum_calculation"),
        ("BucketNotEmpty", "", 409, InUse, "BucketNotEmpty"),
    ],
)
def test_a40_answers_are_sorted_by_code(code: str, message: str, status: int, expected: type, text: str) -> None:
    store = Store(CONNECTION)
    with Stubber(store.client) as stub:
        stub.add_client_error("get_object", code, message, status)
        with pytest.raises(expected, match=text) as caught:
            store.read("opt/v1/config.json")
    assert "s3://models/opt/v1/config.json (endpoint http://127.0.0.1:9)" in str(caught.value)
    assert caught.type is expected


def test_other_failures_name_the_object_too() -> None:
    expected = pytest.raises(StoreError, match=r"could not sum s3://models/k .*: no number")
    with expected, translated(CONNECTION, "sum", "k"):
        raise ValueError("no number")


def test_a_hasty_client_does_not_wait_for_a_server_that_is_not_there() -> None:
    connection = Connection("http://127.0.0.1:9", "models", "a", "s", timeout=30)
    began = time.monotonic()
    with pytest.raises(Unreachable, match="no answer"), translated(connection, "list"):
        make_client(connection, hasty=True).list_buckets()
    assert time.monotonic() - began < 15
