# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._vllm_http import (
    Answer,
    NoAnswer,
    Server,
    cards,
    completion_text,
    roots_of,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import Vllm, serving


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("10.0.0.21", "10.0.0.21:8000"),
        ("0.0.0.0", "127.0.0.1:8000"),
        ("::", "[::1]:8000"),
        ("fd00::21", "[fd00::21]:8000"),
        ("gpu1.example.net", "gpu1.example.net:8000"),
    ],
)
def test_where_a_server_is_asked(address: str, shown: str) -> None:
    assert str(Server(address, 8000)) == shown


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with serving(Vllm("q")) as vllm:
        assert Server("127.0.0.1", vllm.port).get("/health", 5) == Answer(200, b"")


def test_a_closed_port() -> None:
    server = Server("127.0.0.1", 9)
    assert not server.is_open(1)
    with pytest.raises(NoAnswer, match=r"GET /health: .*refused"):
        server.get("/health", 1)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"<html>", b'{"data": {}, "choices": {}}', b'{"data": [1], "choices": []}']
)
def test_bodies_that_are_something_else(body: bytes) -> None:
    answer = Answer(200, body)
    assert (cards(answer), completion_text(answer)) == ([], None)


def test_excerpt_is_one_short_line() -> None:
    assert Answer(500, b"a\n  b\xff" + b"c" * 900).excerpt().startswith("a b\ufffdccc")
    assert len(Answer(500, b"c" * 900).excerpt()) == 300
    assert Answer(500, b"").excerpt() == "nothing"


def test_roots_of() -> None:
    with serving(Vllm("q", root="/w/v1")) as vllm:
        assert roots_of(Server("127.0.0.1", vllm.port), 5) == {"/w/v1"}
    assert roots_of(Server("127.0.0.1", 9), 1) == set()
