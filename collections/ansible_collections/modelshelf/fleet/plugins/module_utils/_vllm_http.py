# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a vLLM server over HTTP, without proxies. Standard library and Python 3.9 only."""

from __future__ import annotations

import http.client
import ipaddress
import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_LARGEST = 4 << 20
"""Bytes of an answer that are read."""


class NoAnswer(Exception):
    """The server refused the connection, broke it, or was not done in time."""


@dataclass(frozen=True)
class Answer:
    """A status and a body."""

    status: int
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as an object; an empty one when it is something else."""
        try:
            data = json.loads(self.body)
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}

    def excerpt(self) -> str:
        """The start of the body, on one line."""
        return " ".join(self.body[:300].decode(errors="replace").split()) or "nothing"


class Server:
    """A server by the address that it binds to. An unspecified address is asked through the loopback."""

    def __init__(self, address: str, port: int, api_key: str = "") -> None:
        self.host, self.port = _reachable(address), port
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def is_open(self, timeout: float) -> bool:
        """Whether something accepts connections."""
        try:
            socket.create_connection((self.host, self.port), timeout).close()
        except OSError:
            return False
        return True

    def get(self, path: str, timeout: float) -> Answer:
        """GET, within `timeout` seconds without a byte. Raises NoAnswer."""
        return self._ask("GET", path, None, timeout)

    def post(self, path: str, data: Mapping[str, Any], timeout: float) -> Answer:
        """POST of a JSON object, within `timeout` seconds without a byte. Raises NoAnswer."""
        return self._ask("POST", path, json.dumps(data).encode(), timeout)

    def _ask(self, method: str, path: str, body: bytes | None, timeout: float) -> Answer:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        headers = {**self._headers, **({"Content-Type": "application/json"} if body else {})}
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.read(_LARGEST))
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"{method} {path}: {error or type(error).__name__}") from None
        finally:
            connection.close()


def cards(answer: Answer) -> list[dict[str, Any]]:
    """The models in an answer of /v1/models."""
    data = answer.json().get("data")
    return [card for card in data if isinstance(card, dict)] if isinstance(data, list) else []


def roots_of(server: Server, timeout: float) -> set[str]:
    """What the models are loaded from, asked several times: listeners on one port share its connections."""
    roots: set[str] = set()
    for _attempt in range(8):
        with suppress(NoAnswer):
            roots |= {str(card.get("root")) for card in cards(server.get("/v1/models", timeout))}
    return roots


def completion_text(answer: Answer) -> str | None:
    """The text in an answer of /v1/completions, None when there is none."""
    choices = answer.json().get("choices")
    text = choices[0].get("text") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    return text if isinstance(text, str) else None


def _reachable(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if not parsed.is_unspecified:
        return address
    return "127.0.0.1" if parsed.version == 4 else "::1"
