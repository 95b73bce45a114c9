# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _access_probe_run
from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe import (
    DENIED,
    LIST,
    LIST_USERS,
    PUT,
    START_UPLOAD,
    Answer,
    Probe,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe_run import (
    ProbeFailed,
    probe_access,
    wanted_from,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._clock import Greeting
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    BadSignature,
    ClockSkew,
    KeyDisabled,
    NotFound,
    NotPermitted,
    Refused,
    StoreError,
    UnknownKey,
    Unreachable,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection

PARAMS: dict[str, Any] = {
    "endpoint": "http://store:9000",
    "bucket": "models",
    "access_key": "reader",
    "secret_key": "canary-secret",
    "region": "us-east-1",
    "ca_file": None,
    "validate_certs": True,
    "timeout": 5,
    "prefixes": ["opt"],
    "forbidden_prefixes": [],
    "other_bucket": None,
    "versioned": False,
    "cleanup_access_key": "root",
    "cleanup_secret_key": "canary-root",
}


class Store:
    """A store that answers a right reader, but for `odd`: an answer or an error for an action."""

    def __init__(self, odd: dict[str, Any]) -> None:
        self.odd = odd
        self.asked: list[Probe] = []
        self.removed: list[str] = []
        self.stays = False
        self.cleanup: Exception | None = None

    def reader(self, connection: Connection) -> Any:
        self.connection = connection
        return self

    def ask_for(self, probe: Probe, **more: Any) -> tuple[Answer, dict[str, Any]]:
        return self.ask(probe), {}

    def ask(self, probe: Probe) -> Answer:
        self.asked.append(probe)
        odd = self.odd.get(probe.action)
        if isinstance(odd, Exception):
            raise odd
        if odd is not None:
            return odd if isinstance(odd, Answer) else Answer(*odd)
        if probe.expected == DENIED:
            return Answer(403, "AccessDenied")
        known = {"allowed": Answer(200), "404 NoSuchKey": Answer(404, "NoSuchKey")}
        return known.get(probe.expected, Answer(200, "AccessDenied", in_batch=True))

    def smallest_object(self, listing: dict[str, Any]) -> None:
        return None

    def check(self, prefix: str) -> None:
        if self.cleanup is not None:
            raise self.cleanup

    def remove(self, key: str) -> tuple[bool, str]:
        self.removed.append(key)
        return True, f"{key} (it stays)" if self.stays else ""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    made = Store({})
    monkeypatch.setattr(_access_probe_run, "Reader", made.reader)
    monkeypatch.setattr(_access_probe_run, "Cleaner", lambda connection: made)
    users = Probe(LIST_USERS, "", None, DENIED)
    monkeypatch.setattr(_access_probe_run, "ask_for_users", lambda _connection: made.ask(users))
    monkeypatch.setattr(_access_probe_run, "greet", lambda *_given, **_named: Greeting(200, "1.0.0", 0, 0))
    return made


def probe(check_mode: bool = False, **changes: Any) -> dict[str, Any]:
    return probe_access({**PARAMS, **changes}, check_mode=check_mode, warn=pytest.fail)


def test_a_right_reader_passes(store: Store) -> None:
    result = probe()
    assert result["changed"] is False
    assert len(result["probes"]) == len(store.asked)
    assert store.removed == []


def test_check_mode_writes_nothing(store: Store) -> None:
    store.cleanup = StoreError("not asked")
    probe(check_mode=True)
    assert not any(item.writes for item in store.asked)


@pytest.mark.parametrize(("answer", "said"), [((200,), "found 200"), ((501, "NotImplemented"), "proves nothing")])
def test_a_key_that_administers_is_no_reader(store: Store, answer: tuple[Any, ...], said: str) -> None:
    store.odd = {LIST_USERS: answer}
    with pytest.raises(ProbeFailed, match=rf"list of users of the server: expected 403 AccessDenied, .*{said}"):
        probe(check_mode=True)


@pytest.mark.parametrize("stays", [False, True])
def test_what_wrongly_succeeded_is_removed_and_told(store: Store, stays: bool) -> None:
    store.odd, store.stays = {PUT: (200,)}, stays
    with pytest.raises(ProbeFailed, match=r"put of s3://models/opt/modelshelf-probe-\S+: expected 403") as caught:
        probe()
    assert store.removed == [item.key for item in store.asked if item.action == PUT]
    assert len(caught.value.left) == (3 if stays else 0)
    assert ("remove it by hand" in str(caught.value)) is stays
    assert ("removed again (3 keys)" in str(caught.value)) is not stays


def test_an_answer_that_did_not_come_is_cleaned_up_after_too(store: Store) -> None:
    store.odd = {START_UPLOAD: Unreachable("could not probe the start of s3://models/x: no answer")}
    with pytest.raises(Unreachable, match=r"no answer.*It left nothing behind"):
        probe()
    assert len(store.removed) == 1
    store.odd[PUT] = (200,)
    with pytest.raises(
        ProbeFailed, match=r"put of .* expected 403.*other requests were not sent: .*no answer"
    ) as caught:
        probe()
    assert "removed again (1 keys)" in str(caught.value)
    store.stays = True
    del store.odd[PUT]
    with pytest.raises(Unreachable, match="look for it: opt/modelshelf-probe"):
        probe()


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (Answer(403, "InvalidAccessKeyId"), UnknownKey, "does not know the key: check the access key 'reader'"),
        (Answer(403, "SignatureDoesNotMatch"), BadSignature, "the secret is not that of the key.*'reader'"),
        (Answer(400, "InvalidRequest", message="ErrAccessKeyDisabled"), KeyDisabled, "'reader' is switched off"),
        (Answer(400, "InvalidRequest"), NotPermitted, "'reader' is wrong, deleted, expired or switched off"),
        (
            Answer(400, "InvalidRequest", message="check key failed"),
            NotPermitted,
            "'reader' is wrong, deleted, expired",
        ),
        (Answer(403, "RequestTimeTooSkewed"), ClockSkew, "clocks of this machine and of the store"),
        (Answer(404, "NoSuchBucket"), NotFound, "no such bucket"),
    ],
)
def test_a40_a_stranger_ends_it_at_the_first_answer(
    store: Store, answer: Answer, error: type[Exception], said: str
) -> None:
    store.odd = {LIST: answer}
    with pytest.raises(error, match=said) as caught:
        probe()
    assert caught.value.__class__ is error
    assert len(store.asked) == 1


def test_nothing_is_written_that_the_cleanup_key_could_not_find(store: Store) -> None:
    store.cleanup = NotPermitted("could not use the cleanup key")
    with pytest.raises(NotPermitted, match="cleanup key"):
        probe()
    assert not any(item.writes for item in store.asked)
    store.odd = {"list of folders": (200,)}
    with pytest.raises(ProbeFailed, match=r"list of folders.*were not sent: could not use the cleanup key"):
        probe()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prefixes": []}, "prefixes is empty"),
        ({"prefixes": ["/"]}, "the prefix '/' is empty"),
        ({"forbidden_prefixes": ["opt/x"]}, "overlaps"),
        ({"other_bucket": "models"}, "the bucket of the reader itself"),
        ({"access_key": ""}, "access_key or secret_key is empty"),
    ],
)
def test_what_cannot_be_probed_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        wanted_from({**PARAMS, **changes})


def test_without_a_cleanup_key_the_readers_own_is_tried() -> None:
    wanted = wanted_from({**PARAMS, "cleanup_access_key": None, "cleanup_secret_key": None})
    assert wanted.cleanup == wanted.reader
    assert wanted_from(PARAMS).cleanup.access_key == "root"
    assert "canary" not in repr(wanted_from(PARAMS))
