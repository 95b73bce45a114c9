# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exchanges with a real server, sent again to another one and compared (tests/contract/recorded/README.md)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contract.replay.client import Answer, Client, Plan
from tests.contract.replay.compare import differences

RECORDED = Path(__file__).parents[1] / "recorded"
TOPICS = sorted(path.stem for path in RECORDED.glob("*.json"))
Topic = dict[str, Any]


def load(topic: str) -> Topic:
    """The recording of a topic, as its file is."""
    found: Topic = json.loads((RECORDED / f"{topic}.json").read_text())
    return found


@dataclass(frozen=True)
class Difference:
    """An exchange that was answered otherwise than by the real server."""

    topic: str
    number: int
    note: str
    request: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.topic} #{self.number} ({self.note}): {self.request}\n    " + "\n    ".join(self.reasons)


class Replay:
    """The exchanges of one topic, in order, against one server that began empty."""

    def __init__(self, topic: Topic, endpoint: str, *, started: float, patient: bool) -> None:
        """`started` is the server's start (time.monotonic); `patient` waits where a real server needs time after it."""
        self._topic, self._client = topic, Client(endpoint)
        self._started, self._patient = started, patient
        self._captured: dict[str, str] = {}
        self._saved: dict[str, bytes] = {}

    def run(self) -> Iterator[Difference]:
        """What differed, exchange by exchange."""
        for exchange in self._topic["exchanges"]:
            if self._patient and "after_start_s" in exchange:
                time.sleep(max(0.0, self._started + exchange["after_start_s"] - time.monotonic()))
            answer = self._send(exchange)
            reasons = differences(exchange, answer)
            for name, where in exchange.get("capture", {}).items():
                found = self._find(where, answer)
                if found is None:
                    reasons.append(f"nothing to keep as {name}: no {where} in the answer")
                self._captured[name] = found or ""
            if "save" in exchange:
                self._saved[exchange["save"]] = answer.body
            if reasons:
                request = f"{exchange['method']} {exchange['path']} by {exchange['who']}"
                topic, number, note = self._topic["topic"], exchange["n"], exchange["note"]
                yield Difference(topic, number, note, request, tuple(reasons))

    def _send(self, exchange: dict[str, Any]) -> Answer:
        identity = self._topic["identities"].get(exchange["who"])
        body = self._filled(exchange.get("body", "")).encode() * exchange.get("body_repeat", 1)
        plan = Plan(
            exchange["method"],
            self._filled(exchange["path"]),
            [(name, self._filled(value)) for name, value in exchange.get("query", ())],
            {name: self._filled(value) for name, value in exchange.get("headers", {}).items()},
            self._saved[exchange["send"]] if "send" in exchange else body,
            exchange.get("raw_path", False),
        )
        return self._client.send(plan, tuple(identity) if identity else None, exchange.get("sign"))

    def _filled(self, text: str) -> str:
        for name, value in self._captured.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    @staticmethod
    def _find(where: str, answer: Answer) -> str | None:
        if where.startswith("header:"):
            return answer.headers.get(where.removeprefix("header:").lower())
        found = re.search(where, answer.body.decode(errors="replace"))
        return found[1] if found else None
