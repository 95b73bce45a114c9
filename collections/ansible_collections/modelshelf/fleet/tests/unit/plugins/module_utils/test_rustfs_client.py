# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The admin client against small servers of one thread: what it sends, what it understands, what it tries again."""

from __future__ import annotations

import hashlib
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    NotFound,
    NotTrusted,
    StoreError,
    Unavailable,
    Unreachable,
    Unsupported,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client, KeyState
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin


def error(code: str, message: str = "") -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'


@dataclass
class Fake:
    """Answers what it is told, one after the other, and remembers what it was asked."""

    port: int = 0
    answers: list[tuple[int, str]] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)

    def client(self, deadline: float = 5, **more: Any) -> Client:
        return Client(Admin(f"http://127.0.0.1:{self.port}", "root", "canary-secret", deadline=deadline), **more)


@pytest.fixture
def fake() -> Iterator[Fake]:
    state = Fake()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            state.requests.append((self.command, self.path, dict(self.headers.items()), body))
            status, text = state.answers.pop(0)
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = answer

        def log_message(self, *_arguments: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        server.shutdown()
        thread.join()


def test_requests_are_signed_json_below_the_admin_prefix(fake: Fake) -> None:
    fake.answers = [(200, '{"credentials": {}}'), (204, "")]
    client = fake.client()
    assert client.put("add-user", {"accessKey": "a/b c+é"}, {"x": "y"}, doing="create a user") == {"credentials": {}}
    assert client.delete("group/é", doing="remove a group") is None
    (method, path, headers, body), (_method, second, *_rest) = fake.requests
    assert (method, path) == ("PUT", "/rustfs/admin/v3/add-user?accessKey=a%2Fb%20c%2B%C3%A9")
    assert second == "/rustfs/admin/v3/group/%C3%A9"
    given = {name.lower(): value for name, value in headers.items()}
    assert json.loads(body) == {"x": "y"}
    assert given["x-amz-content-sha256"] == hashlib.sha256(body).hexdigest()
    assert given["authorization"].startswith("AWS4-HMAC-SHA256 Credential=root/")
    assert "/us-east-1/s3/aws4_request" in given["authorization"]
    assert "canary-secret" not in str(fake.requests)
    assert client.calls == {"PUT add-user": 1, "DELETE group/é": 1}


def test_a_call_without_arguments_sends_no_query(fake: Fake) -> None:
    fake.answers = [(200, "{}"), (200, "{}")]
    client = fake.client()
    client.get("list-users", doing="list")
    client.get("list-users", {}, doing="list")
    assert [path for _method, path, *_rest in fake.requests] == ["/rustfs/admin/v3/list-users"] * 2


def test_errors_in_xml_become_classes_and_the_date_is_kept(fake: Fake) -> None:
    fake.answers = [(500, error("InternalError", "policy &apos;x&apos; does not exist"))]
    client = fake.client()
    with pytest.raises(
        NotFound, match=r"could not read it \(endpoint http://127\.0\.0\.1:\d+\): .*policy 'x' does not"
    ):
        client.get("info-canned-policy", doing="read it")
    assert client.server_date.endswith("GMT")


def test_errors_without_xml_are_told_as_they_are(fake: Fake) -> None:
    fake.answers = [(500, "<html>proxy</html>"), (400, "plain words"), (200, "not json")]
    client = fake.client()
    for expected in ("500", "plain words", "the answer is no JSON"):
        with pytest.raises(StoreError, match=expected):
            client.get("x", doing="try")


def test_busy_servers_are_asked_again_and_counted_once(fake: Fake) -> None:
    fake.answers = [(503, error("ServiceUnavailable")), (502, ""), (200, "[]")]
    client = fake.client()
    assert client.get("groups", doing="list") == []
    assert (len(fake.requests), client.calls["GET groups"]) == (3, 1)


def test_other_500s_are_not_asked_again(fake: Fake) -> None:
    fake.answers = [(500, error("InternalError", "broken"))]
    with pytest.raises(StoreError, match="broken"):
        fake.client().get("groups", doing="list")
    assert len(fake.requests) == 1


def test_a_hasty_client_waits_for_busy_servers_alone(fake: Fake) -> None:
    fake.answers = [(503, error("SlowDown")), (200, "[]")]
    assert fake.client(hasty=True).get("groups", doing="list") == []
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = Client(Admin(f"http://127.0.0.1:{closed.getsockname()[1]}", "root", "x", deadline=60), hasty=True)
        with pytest.raises(Unreachable, match="no answer"):
            nobody.get("groups", doing="list")


def test_the_deadline_is_kept(fake: Fake) -> None:
    fake.answers = [(503, error("SlowDown"))] * 20
    with pytest.raises(Unavailable, match=r"tried 3 times in \d s"):
        fake.client(deadline=1).get("groups", doing="list")


def test_a10_what_a_server_lacks_is_told_with_versions(fake: Fake) -> None:
    lacking = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>NotImplemented</Code></Error>'
    fake.answers = [(501, lacking), (200, '{"version": "1.0.0-alpha.58"}'), (501, lacking), (403, "")]
    client = fake.client()
    with pytest.raises(Unsupported) as raised:
        client.post("idp/builtin/policy/attach", body={}, doing="attach p to the user 'u'")
    assert "could not attach p to the user 'u'" in str(raised.value)
    assert "the server (RustFS 1.0.0-alpha.58) does not support it" in str(raised.value)
    assert str(raised.value).endswith("It needs RustFS 1.0.0-alpha.87 or newer")
    with pytest.raises(Unsupported, match=r"\(version unknown\) does not support it: NotImplemented$"):
        client.get("no-such-call", doing="try")
    assert "Authorization" not in fake.requests[1][2]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ((200, '{"is_admin": false}'), KeyState.GOOD),
        ((403, error("SignatureDoesNotMatch")), KeyState.WRONG_SECRET),
        ((403, error("InvalidAccessKeyId", "does not exist in our records")), KeyState.UNKNOWN),
        ((400, error("InvalidRequest", "ErrAccessKeyDisabled")), KeyState.DISABLED),
        ((403, error("AccessDenied")), KeyState.REFUSED),
    ],
)
def test_a43_a_pair_is_tried_by_signing_with_it(fake: Fake, answer: tuple[int, str], state: KeyState) -> None:
    fake.answers = [answer]
    client = fake.client()
    assert client.signs("alice", "canary-of-alice") is state
    assert "Credential=alice/" in fake.requests[0][2]["Authorization"]
    assert client.calls == {"GET is-admin (by the key itself)": 1}
    assert client.admin.access_key == "root"


def test_redirects_and_proxies_are_not_followed(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    fake.answers = [(307, "")]
    with pytest.raises(StoreError, match="307"):
        fake.client().get("groups", doing="list")


def test_a_server_without_tls_is_told_apart(fake: Fake) -> None:
    client = Client(Admin(f"https://127.0.0.1:{fake.port}", "root", "x", deadline=60))
    with pytest.raises(NotTrusted, match=r"no TLS connection: .*ca_file"):
        client.get("groups", doing="list")


def test_a_missing_ca_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"ca_file is .*/absent\.pem: there is no such file"):
        Client(Admin("https://s", "root", "x", ca_file=str(tmp_path / "absent.pem")))


def test_secrets_are_not_in_representations() -> None:
    assert "canary" not in repr(Admin("http://s", "root", "canary"))


def test_a_refusal_is_told_as_it_was_said_once_the_server_can(fake: Fake) -> None:
    fake.answers = [(503, error("SlowDown")), (403, error("AccessDenied", "Access Denied")), (200, "{}")]
    client = fake.client()
    assert client.refusal("list-users", doing="ask") == (403, "AccessDenied", "Access Denied")
    assert client.refusal("list-users", doing="ask") == (200, "", "")
    assert {(method, path) for method, path, _headers, _body in fake.requests} == {
        ("GET", "/rustfs/admin/v3/list-users")
    }
    fake.answers = [(503, "")]
    with pytest.raises(Unavailable, match=r"could not ask .*503"):
        fake.client(deadline=0.1).refusal("list-users", doing="ask")
