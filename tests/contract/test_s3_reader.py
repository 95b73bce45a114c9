# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader's policy of `prefix/*` lets through, and what not: the table of rustfs.md 2.3 and its neighbours."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._policy_document import readonly_prefix_policy
from tests.contract.s3_server import Answer, Server

KEYS = ["opt-125m/v1/config.json", "opt-125m-v2/v1/config.json", "opt-125mX", "qwen/v1/config.json"]


@dataclass(frozen=True)
class Reader:
    """A key that the product's own policy for `opt-125m` is attached to."""

    server: Server
    bucket: str
    key: tuple[str, str]

    def ask(self, method: str, path: str = "", query: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        return self.server.ask(method, f"/{self.bucket}{path}", query, body, key=self.key)


@pytest.fixture(scope="module")
def reader(server: Server) -> Iterator[Reader]:
    name, secret = f"reader-{secrets.token_hex(6)}", secrets.token_hex(20)
    client = server.client()
    client.create_bucket(Bucket=name)
    for key in KEYS:
        client.put_object(Bucket=name, Key=key, Body=key.encode())
    policy = json.dumps(readonly_prefix_policy(name, ["opt-125m"])).encode()
    user = json.dumps({"secretKey": secret, "status": "enabled"}).encode()
    query = {"policyName": name, "userOrGroup": name, "isGroup": "false"}
    admin = "/rustfs/admin/v3"
    assert server.ask("PUT", f"{admin}/add-canned-policy", {"name": name}, policy).status == 200
    assert server.ask("PUT", f"{admin}/add-user", {"accessKey": name}, user).status == 200
    assert server.ask("PUT", f"{admin}/set-user-or-group-policy", query).status == 200
    yield Reader(server, name, (name, secret))
    server.ask("DELETE", f"{admin}/remove-user", {"accessKey": name})


@pytest.mark.parametrize(
    ("prefix", "status"),
    [
        (None, 403),
        ("", 403),
        ("opt", 403),
        ("opt-125m", 403),
        ("opt-125m/", 200),
        ("opt-125m/v1/", 200),
        ("opt-125m/none", 200),
        ("opt-125m-v2/", 403),
        ("opt-125mX", 403),
        ("qwen/", 403),
        ("opt-125m/../qwen/", 400),
    ],
)
def test_listing(reader: Reader, prefix: str | None, status: int) -> None:
    given = {} if prefix is None else {"prefix": prefix}
    for kind in ({"list-type": "2"}, {}, {"versions": ""}):
        answer = reader.ask("GET", query={**kind, **given})
        assert (answer.status, answer.code) == (status, {403: "AccessDenied", 400: "InvalidArgument"}.get(status, ""))
        assert not any(key.encode() in answer.body for key in KEYS[1:])


@pytest.mark.parametrize(
    ("key", "status"),
    [
        (KEYS[0], 200),
        ("opt-125m/v1/none", 404),
        ("opt-125m", 403),
        ("opt-125m/", 403),
        (KEYS[1], 403),
        (KEYS[2], 403),
        (KEYS[3], 403),
        ("qwen/v1/none", 403),
        ("opt-125m/../qwen/v1/config.json", 403),
        ("opt-125m//v1/config.json", 400),
    ],
)
def test_reading(reader: Reader, key: str, status: int) -> None:
    for method in ("GET", "HEAD"):
        answer = reader.ask(method, f"/{key}")
        assert answer.status == status
    assert (b"v1/config.json" in reader.ask("GET", f"/{key}").body) is (status == 200)


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("PUT", "/opt-125m/v1/new", {}),
        ("PUT", "/opt-125m/v1/config.json", {}),
        ("DELETE", "/opt-125m/v1/config.json", {}),
        ("POST", "/opt-125m/v1/new", {"uploads": ""}),
        ("GET", "/opt-125m/v1/config.json", {"versionId": "null"}),
        ("GET", "/opt-125m/v1/config.json", {"attributes": ""}),
        ("GET", "/opt-125m/v1/config.json", {"tagging": ""}),
        ("GET", "", {"uploads": ""}),
        ("GET", "", {"location": ""}),
        ("HEAD", "", {}),
        ("DELETE", "", {}),
        ("PUT", "", {"policy": ""}),
    ],
)
def test_nothing_else_is_allowed(reader: Reader, method: str, path: str, query: dict[str, str]) -> None:
    answer = reader.ask(method, path, query, b"x" if method == "PUT" else b"")
    assert (answer.status, answer.code if method != "HEAD" else "AccessDenied") == (403, "AccessDenied")


def test_the_bucket_is_not_in_the_list_and_no_other_can_be_made(reader: Reader) -> None:
    for method, path in (("GET", "/"), ("PUT", "/another-bucket"), ("GET", "/private/x")):
        answer = reader.server.ask(method, path, key=reader.key)
        assert (answer.status, answer.code) == (403, "AccessDenied")


def test_a_batch_of_deletions_is_refused_key_by_key(reader: Reader) -> None:
    body = f"<Delete><Object><Key>{KEYS[0]}</Key></Object></Delete>".encode()
    answer = reader.ask("POST", query={"delete": ""}, body=body)
    assert (answer.status, answer.code) == (200, "AccessDenied")
    assert reader.ask("GET", f"/{KEYS[0]}").status == 200
