# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What answers mean, and what is tried again."""

from __future__ import annotations

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._answers import PHRASES, error_for, retried
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    AlreadyThere,
    BadSignature,
    ClockSkew,
    InUse,
    KeyDisabled,
    NotFound,
    NotPermitted,
    Refused,
    StoreError,
    Unavailable,
    UnknownKey,
    Unreachable,
    Unsupported,
)

UNKNOWN = "The Access Key Id you provided does not exist in our records."


def answered(status: int, code: str, message: str, **more: str) -> StoreError:
    return error_for(
        status, code, message, doing="remove the user 'x'", where="(endpoint http://s)", access_key="root", **more
    )


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (403, "InvalidAccessKeyId", UNKNOWN, UnknownKey),
        (403, "SignatureDoesNotMatch", "The request signature we calculated does not match", BadSignature),
        (400, "InvalidRequest", "ErrAccessKeyDisabled", KeyDisabled),
        (500, "InternalError", "check key failed", NotPermitted),
        (403, "AccessDenied", "Access Denied", NotPermitted),
        (403, "403", "Forbidden", NotPermitted),
        (403, "", "", NotPermitted),
        (403, "RequestTimeTooSkewed", "request time is too far from server time", ClockSkew),
        (404, "NoSuchResource", "user 'x' does not exist", NotFound),
        (404, "404", "Not Found", NotFound),
        (404, "NoSuchBucketPolicy", "The bucket policy does not exist", NotFound),
        (500, "InternalError", "policy does not exist", NotFound),
        (500, "InternalError", "failed to set user status: user 'x' does not exist", NotFound),
        (400, "InvalidRequest", "service account not exist", NotFound),
        (400, "InvalidArgument", "user not found", NotFound),
        (500, "InternalError", "bucket not found", NotFound),
        (500, "InternalError", "policy in use", InUse),
        (500, "InternalError", "group not empty", InUse),
        (400, "InvalidRequest", "group is not empty", InUse),
        (409, "BucketNotEmpty", "", InUse),
        (400, "InvalidArgument", "access key is already in use", AlreadyThere),
        (412, "PreconditionFailed", "", AlreadyThere),
        (409, "BucketAlreadyExists", "", AlreadyThere),
        (500, "InternalError", "failed to create user: invalid secret key length", Refused),
        (500, "InternalError", "io error: system policy can not be deleted", Refused),
        (400, "InvalidRequest", "invalid action: 's3:Get*'", Refused),
        (501, "NotImplemented", "", Unsupported),
        (426, "", "", Unsupported),
        (405, "MethodNotAllowed", "", Unsupported),
        (503, "ServiceUnavailable", "storage is not ready", Unavailable),
        (503, "SlowDown", "", Unavailable),
        (429, "", "", Unavailable),
        (500, "InternalError", "something broke", StoreError),
    ],
)
def test_a40_each_answer_has_its_class(status: int, code: str, message: str, kind: type[StoreError]) -> None:
    error = answered(status, code, message)
    assert error.__class__ is kind
    assert str(error).startswith("could not remove the user 'x' (endpoint http://s): ")
    assert (message or code or str(status)) in str(error)


def test_a40_an_unknown_key_is_never_taken_for_something_absent() -> None:
    assert any(phrase in UNKNOWN for phrase, kind in PHRASES if kind is NotFound), "the text has lost its trap"
    for status in (403, 400, 500):
        error = answered(status, "InvalidAccessKeyId", UNKNOWN)
        assert isinstance(error, UnknownKey) and not isinstance(error, NotFound)
        assert "the server does not know the key: check the access key 'root'" in str(error)


def test_a40_a_key_that_some_handlers_merely_refuse_may_have_ended_in_each_way() -> None:
    told = str(answered(500, "InternalError", "check key failed"))
    assert told.endswith("the access key 'root' is wrong, deleted, expired or switched off: use another")


def test_messages_hold_braces_and_percent_signs_as_they_are() -> None:
    assert "a {b} 100% {0}" in str(answered(400, "InvalidRequest", "a {b} 100% {0}"))


def test_a_missing_bucket_is_named() -> None:
    assert "there is no bucket 'models'. Create it first" in str(answered(404, "NoSuchBucket", "gone", bucket="models"))


def test_what_a_server_lacks_is_told_with_its_version() -> None:
    error = answered(501, "NotImplemented", "", server="RustFS 1.0.0-alpha.58")
    assert "the server (RustFS 1.0.0-alpha.58) does not support it: NotImplemented" in str(error)


class Calls:
    """Fails with the given errors, one after the other, then returns."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.pauses = list(errors), [0.0]

    def __call__(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "done"


@pytest.mark.parametrize("error", [Unreachable("no answer"), Unavailable("503")])
def test_busy_and_silent_servers_are_asked_again(error: StoreError) -> None:
    calls, pauses = Calls(error, error, error), []
    assert retried(calls, 60, sleep=pauses.append) == "done"
    assert pauses == [0.2, 0.4, 0.8]


@pytest.mark.parametrize("error", [StoreError("500"), NotFound("404"), NotPermitted("403"), Refused("400")])
def test_other_failures_are_not_tried_again(error: StoreError) -> None:
    calls, pauses = Calls(error), []
    with pytest.raises(type(error)):
        retried(calls, 60, sleep=pauses.append)
    assert pauses == []


def test_the_deadline_ends_it_and_says_how_long_it_was_tried() -> None:
    pauses: list[float] = []
    with pytest.raises(Unreachable, match=r"no answer \(tried 1 times in 0 s\)"):
        retried(Calls(Unreachable("no answer")), 0.1, sleep=pauses.append)
    assert pauses == []


def test_a_silent_server_can_be_left_at_once() -> None:
    pauses: list[float] = []
    with pytest.raises(Unreachable):
        retried(Calls(Unreachable("no answer")), 60, again=Unavailable, sleep=pauses.append)
    assert pauses == []
    assert retried(Calls(Unavailable("503")), 60, again=Unavailable, sleep=pauses.append) == "done"


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (
            404,
            StoreError,
            "could not remove the user 'x' (endpoint http://s): 404: a web page, from a server that is no",
        ),
        (403, StoreError, "no store"),
        (501, StoreError, "no store"),
        (502, Unavailable, "502: the server cannot now"),
    ],
)
def test_a_web_page_is_no_answer_of_a_store(status: int, kind: type[StoreError], said: str) -> None:
    error = answered(status, "Error", '<!DOCTYPE HTML>\n<html lang="en"> File not found')
    assert isinstance(error, kind)
    assert not isinstance(error, (NotFound, NotPermitted, Unsupported))
    assert said in str(error)
    assert "DOCTYPE" not in str(error)
