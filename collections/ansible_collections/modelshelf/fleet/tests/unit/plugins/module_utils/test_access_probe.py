# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe import (
    ABSENT,
    ALLOWED,
    BATCH_DELETE,
    DENIED,
    GET,
    LIST,
    PUT,
    Answer,
    Probe,
    Verdict,
    judge,
    other_bucket_denied,
    reads_denied,
    summary,
    usable_prefixes,
    writes_denied,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Refused

SEGMENTS = st.text(alphabet="ab-._1", min_size=1, max_size=6).filter(lambda text: text not in (".", ".."))
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)


def right(expected: str, answer: Answer, action: str = GET) -> bool:
    return judge(Probe(action, "models", "k", expected), answer).right


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (200, ""),
        (204, ""),
        (404, "NoSuchKey"),
        (404, "NoSuchBucket"),
        (400, "InvalidArgument"),
        (400, "AccessDenied"),
        (403, "InvalidAccessKeyId"),
        (403, "SignatureDoesNotMatch"),
        (403, "RequestTimeTooSkewed"),
        (403, ""),
        (403, "403"),
        (405, "MethodNotAllowed"),
        (500, "InternalError"),
        (503, "SlowDown"),
    ],
)
def test_denied_is_access_denied_and_nothing_else(status: int, code: str) -> None:
    assert right(DENIED, Answer(403, "AccessDenied"))
    assert not right(DENIED, Answer(status, code))


def test_each_key_of_a_batch_is_read() -> None:
    assert right(DENIED, Answer(200, "AccessDenied", in_batch=True), BATCH_DELETE)
    assert right(DENIED, Answer(403, "AccessDenied", in_batch=True), BATCH_DELETE)
    assert not right(DENIED, Answer(200, "", in_batch=True), BATCH_DELETE)
    assert not right(DENIED, Answer(200, "InternalError", in_batch=True), BATCH_DELETE)
    assert not right(DENIED, Answer(200, "AccessDenied"))


@pytest.mark.parametrize(("status", "good"), [(200, True), (206, True), (403, False), (404, False), (503, False)])
def test_allowed_is_success(status: int, good: bool) -> None:
    assert right(ALLOWED, Answer(status, "" if good else "x")) is good


def test_the_right_to_read_shows_in_an_absent_key() -> None:
    assert right(ABSENT, Answer(404, "NoSuchKey"))
    assert not right(ABSENT, Answer(404, "NoSuchBucket"))
    assert not right(ABSENT, Answer(403, "AccessDenied"))
    assert not right(ABSENT, Answer(200))


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (["opt-125m"], ("opt-125m",)),
        (["/opt//a/"], ("opt/a",)),
        (["b", "a", "b/"], ("a", "b")),
        (["a/b", "a", "a/b/c", "ab"], ("a", "ab")),
    ],
)
def test_a8_prefixes_in_one_form(given_: list[str], expected: tuple[str, ...]) -> None:
    assert usable_prefixes(given_) == expected


@pytest.mark.parametrize("given_", [[], [""], ["/"], ["a", "//"], ["a/../b"], ["./a"]])
def test_a8_prefixes_that_cannot_be(given_: list[str]) -> None:
    with pytest.raises(Refused):
        usable_prefixes(given_)


@given(st.lists(PATHS, min_size=1, max_size=4))
def test_nothing_that_a_right_policy_allows_is_expected_to_be_denied(paths: list[str]) -> None:
    prefixes = usable_prefixes(paths)
    for probe in reads_denied("models", prefixes, (), versioned=True):
        if probe.key is not None and probe.action != "list of uploads":
            assert not any(probe.key.startswith(f"{prefix}/") for prefix in prefixes), probe


def targets(probes: list[Probe], action: str) -> list[str | None]:
    return [probe.key for probe in probes if probe.action == action]


def test_listings_that_must_be_denied() -> None:
    listed = targets(reads_denied("models", ("opt-125m",), (), versioned=False), LIST)
    assert {None, "", "opt-125m", "opt/", "opt-125", "opt-125m-v2/"} <= set(listed)
    assert any(str(key).startswith("opt-125m-modelshelf-probe-") for key in listed)


def test_a_sibling_that_the_key_may_read_is_left_out() -> None:
    probes = reads_denied("models", ("opt", "opt-125m", "opt-125m-v2"), (), versioned=False)
    assert not {"opt/", "opt-125m-v2/"} & set(targets(probes, LIST))
    assert "opt-125m-v2-v2/" in targets(probes, LIST)


def test_prefixes_of_others_are_probed() -> None:
    probes = reads_denied("models", ("opt",), ("qwen",), versioned=False)
    assert "qwen/" in targets(probes, LIST)
    assert any(str(key).startswith("qwen/") for key in targets(probes, GET))


def test_versions_are_probed_where_there_are_any() -> None:
    def actions(versioned: bool) -> set[str]:
        found = reads_denied("models", ("opt",), (), versioned) + writes_denied("models", ("opt",), versioned)
        return {probe.action for probe in found}

    assert actions(True) - actions(False) == {"list of versions", "get of a version", "delete of a version"}


def test_writes_use_keys_that_nobody_has_below_and_beside() -> None:
    probes = writes_denied("models", ("opt",), versioned=True)
    keys = [probe.key for probe in probes]
    assert len(set(keys)) == len(keys)
    assert all(probe.writes and "modelshelf-probe-" in str(probe.key) for probe in probes)
    places = {str(key).rpartition("modelshelf-probe-")[0] for key in targets(probes, PUT)}
    assert places == {"opt/", "opt-", ""}
    assert not set(keys) & {probe.key for probe in writes_denied("models", ("opt",), versioned=True)}


def test_the_other_bucket_is_listed_and_read() -> None:
    probes = other_bucket_denied("private", ("opt",))
    assert {probe.bucket for probe in probes} == {"private"}
    assert {probe.action for probe in probes} == {LIST, GET}


def verdict(found: str, **changes: Any) -> Verdict:
    probe = Probe(**{"action": PUT, "bucket": "models", "key": "opt/x", "expected": DENIED, **changes})
    return Verdict(probe, found, False)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (verdict("200"), "put of s3://models/opt/x: expected 403 AccessDenied, found 200"),
        (verdict("503 SlowDown"), "which is no refusal and proves nothing"),
        (verdict("404 NoSuchKey"), "which only a key with this right is told"),
        (verdict("404 NoSuchBucket"), "which is no refusal and proves nothing"),
        (verdict("200", action=LIST, key=None), "list of s3://models without a prefix"),
        (verdict("200", action=LIST, key=""), "list of s3://models with an empty prefix"),
    ],
)
def test_sentences_name_action_and_key(found: Verdict, text: str) -> None:
    assert text in found.sentence()


def test_a_summary_names_each_action_once() -> None:
    text = summary([verdict("200"), verdict("200", key="opt-y"), verdict("200", action=LIST)])
    assert text == (
        "put of s3://models/opt/x: expected 403 AccessDenied, found 200 (and 1 more like it);"
        " list of s3://models/opt/x: expected 403 AccessDenied, found 200"
    )
