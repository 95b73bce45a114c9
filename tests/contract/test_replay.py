# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a real RustFS 1.0.0-rc.3 answered, asked again: of the server under test, with the same and with other names."""

from __future__ import annotations

import copy
import os
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.replay.client import Answer
from tests.contract.replay.compare import differences
from tests.contract.replay.differences import ALLOWED, problems
from tests.contract.replay.recordings import TOPICS, Replay, load
from tests.contract.replay.renaming import RESERVED, Words, renamed
from tests.support.rustfs_server import running_server

SEED = int(os.environ.get("REPLAY_SEED") or secrets.randbelow(1 << 32))
FIRST_MINUTE = {"buckets": {"STANDIN_QUOTA_WARMUP_S": "3600"}}
"""Topics that were recorded in the first minute after a start."""

Topic = dict[str, Any]
Start = Callable[[Topic], Replay]


@pytest.fixture
def fresh_server(tmp_path: Path, rustfs: Path) -> Iterator[Start]:
    """In place of the usual one: starts the server under test on an empty folder with the keys of a recording."""
    running = []

    def start(topic: Topic) -> Replay:
        access_key, secret_key = topic["identities"]["root"]
        keys = {"RUSTFS_ACCESS_KEY": access_key, "RUSTFS_SECRET_KEY": secret_key}
        running.append(running_server(tmp_path, rustfs, **keys, **FIRST_MINUTE.get(topic["topic"], {})))
        started = time.monotonic()
        server = running[-1].__enter__()
        version = subprocess.run([server.binary, "--version"], capture_output=True, text=True, check=True).stdout
        return Replay(topic, server.endpoint, started=started, patient="stand-in" not in version)

    yield start
    for server in running:
        server.__exit__(None, None, None)


def _unexpected(replay: Replay, topic: str) -> list[str]:
    """Differences that are not allowed, and allowed ones that are none."""
    found = {(one.topic, one.number): one for one in replay.run()}
    listed = {place for place in ALLOWED if place[0] == topic}
    gone = [f"{place[0]} #{place[1]} is answered as recorded: take it off the list" for place in listed - set(found)]
    return [str(one) for place, one in found.items() if place not in listed] + gone


@pytest.mark.parametrize("topic", TOPICS)
def test_every_recorded_exchange_is_answered_as_it_was(topic: str, fresh_server: Start) -> None:
    unexpected = _unexpected(fresh_server(load(topic)), topic)
    assert not unexpected, "\n".join(unexpected)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_same_holds_for_other_names(topic: str, fresh_server: Start) -> None:
    unexpected = _unexpected(fresh_server(renamed(load(topic), SEED)), topic)
    assert not unexpected, "\n".join([f"names by REPLAY_SEED={SEED}", *unexpected])


def test_the_list_of_allowed_differences_is_short_and_about_nothing_that_is_used() -> None:
    assert not problems(ALLOWED, {topic: load(topic) for topic in TOPICS})


def test_a_bad_list_of_allowed_differences_is_noticed() -> None:
    topics = {topic: load(topic) for topic in TOPICS}
    assert problems({("users", 3): "why not"}, topics) == [
        "users #3 is a call that the product makes: PUT /rustfs/admin/v3/add-user?accessKey"
    ]
    assert problems({("door", 28): " "}, topics) == ["door #28 has no reason"]
    assert problems({("door", 999): "gone"}, topics) == ["door #999 is no recorded exchange"]
    many = {("reader", number): "too many" for number in range(1, 17)}
    assert "16 of 768 exchanges are on the list, more than 2%" in problems(many, topics)


def _answer(exchange: dict[str, Any]) -> Answer:
    recorded = exchange["response"]
    return Answer(recorded["status"], recorded["headers"], (recorded.get("body") or "").encode())


def _exchange(topic: str, number: int) -> dict[str, Any]:
    return copy.deepcopy(next(one for one in load(topic)["exchanges"] if one["n"] == number))


def _says(exchange: dict[str, Any], old: str, new: str) -> list[str]:
    answer = _answer(exchange)
    assert old in answer.body.decode()
    changed = answer.body.decode().replace(old, new).encode()
    return differences(exchange, Answer(answer.status, answer.headers, changed))


def test_the_comparison_takes_recorded_answers_for_themselves() -> None:
    for topic in TOPICS:
        assert not [exchange["n"] for exchange in load(topic)["exchanges"] if differences(exchange, _answer(exchange))]


def test_the_comparison_sees_what_matters() -> None:
    listing, info, unknown = _exchange("reader", 18), _exchange("users", 4), _exchange("policies", 93)
    assert _says(listing, "<Key>opt-125m/</Key>", "<Key>opt-125n/</Key>")
    assert _says(info, '"enabled"', '"disabled"')
    assert _says(unknown, "InternalError", "NoSuchResource")
    assert _says(unknown, "policy does not exist", "something went wrong")  # the client knows the 500 by this
    answer = _answer(unknown)
    assert differences(unknown, Answer(404, answer.headers, answer.body))
    head = _exchange("reader", 35)
    assert differences(head, Answer(200, {**_answer(head).headers, "content-length": "32"}, b""))
    assert differences(head, Answer(200, {**_answer(head).headers, "etag": '"0"'}, b""))


def test_the_comparison_passes_over_times_ids_texts_and_the_order_of_json_lists() -> None:
    assert not _says(_exchange("users", 4), "2026-11-29T21:18:06.224680268Z", "2027-01-01T00:00:00Z")
    assert not _says(_exchange("users", 21), "access key contains reserved characters", "bad reserved characters")
    assert not _says(_exchange("groups", 7), '["bob","alice"]', '["alice","bob"]')
    assert not _says(_exchange("reader", 18), "2026-11-29T21:18:15.031Z", "2027-01-01T00:00:00Z")
    assert _says(_exchange("users", 21), "reserved characters", "odd letters")


@pytest.mark.parametrize("seed", range(20))
def test_other_names_keep_order_beginnings_and_lengths(seed: int) -> None:
    names = {"opt", "opt125m", "opt125mX", "opt12", "qwen", "a", "b", "models", "mod", "minio", "rustfs", "Upper", "9"}
    table = Words(set(names), {"minio", "rustfs"}, seed)
    others = {name: table.rename(name) for name in names}
    assert [others[name] for name in sorted(names)] == sorted(others.values())
    assert all((a.startswith(b)) == (others[a].startswith(others[b])) for a in names for b in names)
    assert all(len(name) == len(other) for name, other in others.items())
    assert all(others[name] == name for name in names & RESERVED)
    assert len(set(others.values())) == len(names)


def test_other_names_leave_nothing_of_the_old_ones() -> None:
    changed = renamed(load("combine"), 1)
    asked = [
        [one["path"], one.get("query"), "admin" in one["path"] and one.get("body")] for one in changed["exchanges"]
    ]
    text = str([changed["identities"], asked])
    assert not [old for old in ("combo", "models", "get-a", "deny-b", "like-if-exists") if old in text]
