# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who gets in: health without a signature, everything else with a right one."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
import urllib.error
import urllib.request

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.contract.s3_server import Answer, Server, Shelf

LIST_USERS = "/rustfs/admin/v3/list-users"
READY = ("/health/ready", "/minio/health/ready", "/minio/health/cluster", "/minio/health/cluster/read")
EMPTY = hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize("path", ["/health", "/health/live", "/minio/health/live", *READY])
def test_health_needs_no_signature(server: Server, path: str) -> None:
    for method in ("GET", "HEAD"):
        answer = server.ask(method, path, signed=False)
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    said = json.loads(server.ask("GET", path, signed=False).body)
    assert (said["status"], said["ready"]) == ("ok", True)
    assert (said.get("degradedReasons") == []) is (path in READY)


@pytest.mark.parametrize("path", ["/", LIST_USERS, "/health/nothing", "/models/key"])
def test_nothing_else_is_anonymous(server: Server, path: str) -> None:
    answer = server.ask("GET", path, signed=False)
    assert (answer.status, answer.code, answer.headers["content-type"]) == (403, "AccessDenied", "application/xml")


@pytest.mark.parametrize("path", ["/", LIST_USERS])
def test_a_wrong_secret_and_an_unknown_key_are_told_apart(server: Server, path: str) -> None:
    wrong = server.ask("GET", path, key=(server.access_key, "not-the-secret-000"))
    assert (wrong.status, wrong.code) == (403, "SignatureDoesNotMatch")
    unknown = server.ask("GET", path, key=("nobody-here", "not-the-secret-000"))
    assert (unknown.status, unknown.code) == (403, "InvalidAccessKeyId")


def signed_by_hand(server: Server, *, service: str = "s3", skew: int = 0, payload: str | None = EMPTY) -> Answer:
    """A request for the users with something odd about its signature."""
    request = AWSRequest("GET", f"{server.endpoint}{LIST_USERS}")
    if payload is not None:
        request.headers["x-amz-content-sha256"] = payload

    class Auth(S3SigV4Auth):
        def payload(self, request: AWSRequest) -> str:
            return payload or EMPTY

        def _modify_request_before_signing(self, request: AWSRequest) -> None:
            when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + skew))
            request.context["timestamp"] = when
            request.headers["X-Amz-Date"] = when

    Auth(Credentials(server.access_key, server.secret_key), service, "eu-nowhere-7").add_auth(request)
    return server.ask("GET", LIST_USERS, headers=dict(request.headers.items()), signed=False)


@pytest.mark.parametrize("service", ["s3", "sts"])
def test_any_region_and_both_services_are_taken(server: Server, service: str) -> None:
    assert signed_by_hand(server, service=service).status == 200


def test_another_service_is_not_implemented(server: Server) -> None:
    answer = signed_by_hand(server, service="execute-api")
    assert (answer.status, answer.code) == (501, "NotImplemented")


@pytest.mark.parametrize(("skew", "status", "code"), [(-600, 200, ""), (-1200, 403, "RequestTimeTooSkewed")])
def test_a7_a_clock_that_is_off_is_named(server: Server, skew: int, status: int, code: str) -> None:
    for seconds in (skew, -skew):
        answer = signed_by_hand(server, skew=seconds)
        assert (answer.status, answer.code) == (status, code)


def test_the_hash_of_the_body_is_compared(server: Server, shelf: Shelf) -> None:
    name = f"hash-{secrets.token_hex(4)}"
    body = json.dumps({"secretKey": "hash-secret-1", "status": "enabled"}).encode()
    headers = {"x-amz-content-sha256": "0" * 64}
    admin = server.ask("PUT", "/rustfs/admin/v3/add-user", {"accessKey": name}, body, headers)
    assert (admin.status, admin.code, b"Sha256Mismatch" in admin.body) == (400, "InvalidRequest", True)
    assert server.ask("PUT", f"/{shelf.bucket}/key", body=body, headers=headers).status >= 400
    assert name not in server.ask("GET", LIST_USERS).body.decode()
    assert shelf.keys() == {}
    unsigned = {"x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
    assert server.ask("PUT", f"/{shelf.bucket}/key", body=body, headers=unsigned).status == 200


def test_presigned_reads_work_without_a_header_and_for_their_key_alone(server: Server, shelf: Shelf) -> None:
    client = server.client(signature_version="s3v4")
    client.put_object(Bucket=shelf.bucket, Key="a b+ü", Body=b"here")
    url = client.generate_presigned_url("get_object", {"Bucket": shelf.bucket, "Key": "a b+ü"}, ExpiresIn=60)
    with urllib.request.urlopen(url, timeout=30) as answer:
        assert answer.read() == b"here"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(url.replace("a%20b", "other"), timeout=30)


@pytest.mark.parametrize(("path", "status"), [("v3/no-such-call", 501), ("v2/list-users", 501), ("v4/list-users", 426)])
def test_unknown_admin_calls(server: Server, path: str, status: int) -> None:
    assert server.ask("GET", f"/rustfs/admin/{path}").status == status
