# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader's key must and must not be able to do, as a list of single requests, and how answers are judged."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Refused
from ansible_collections.modelshelf.fleet.plugins.module_utils._names import normalise_prefix

ALLOWED = "allowed"
ABSENT = "404 NoSuchKey"
"""Of a key that is not there, only somebody with the right to read is told so; others are refused first."""
DENIED = "403 AccessDenied"
DENIED_IN_BATCH = "AccessDenied for the key"
"""A batch is answered with 200, and with an error for each key that is refused."""

NO_VERSION = "00000000-0000-4000-8000-000000000000"
"""A version id that no object has."""


@dataclass(frozen=True)
class Probe:
    """One request. `key` is a key or, for listings, a prefix; None: the request has no prefix at all. A request without
    a bucket is for the server itself.

    `writes`: if it is not refused, it may leave something behind. `version` is a version id.
    """

    action: str
    bucket: str
    key: str | None
    expected: str
    writes: bool = False
    version: str = ""

    @property
    def target(self) -> str:
        """How results and messages name what was asked for."""
        if not self.bucket:
            return "the server"
        if self.key is None:
            return f"s3://{self.bucket} without a prefix"
        if self.key == "":
            return f"s3://{self.bucket} with an empty prefix"
        return f"s3://{self.bucket}/{self.key}"


@dataclass(frozen=True)
class Answer:
    """What the server said. `in_batch`: the code is that of the key's own entry in an answer to many."""

    status: int
    code: str = ""
    in_batch: bool = False
    message: str = ""

    def __str__(self) -> str:
        return f"{self.code} for the key" if self.in_batch and self.code else f"{self.status} {self.code}".strip()


@dataclass(frozen=True)
class Verdict:
    """A probe with what was found. `right`: it is what was expected."""

    probe: Probe
    found: str
    right: bool

    def as_dict(self) -> dict[str, Any]:
        """The form in which the module returns it."""
        probe = self.probe
        return {
            "action": probe.action,
            "target": probe.target,
            "expected": probe.expected,
            "found": self.found,
            "right": self.right,
        }

    def sentence(self) -> str:
        """What went wrong, for a message."""
        text = f"{self.probe.action} of {self.probe.target}: expected {self.probe.expected}, found {self.found}"
        if self.found in (ABSENT, "404 NoSuchVersion"):
            return f"{text}, which only a key with this right is told"
        if self.probe.expected in (DENIED, DENIED_IN_BATCH) and not self.found.startswith("2"):
            return f"{text}, which is no refusal and proves nothing"
        return text


def judge(probe: Probe, answer: Answer) -> Verdict:
    """Denied is 403 AccessDenied and nothing else; for a key in a batch, its own entry says so, or the whole answer."""
    if probe.expected == ALLOWED:
        right = 200 <= answer.status < 300 and not answer.code
    elif probe.expected == ABSENT:
        right = answer.status == 404 and answer.code in ("NoSuchKey", "NoSuchVersion")
    else:
        right = answer.code == "AccessDenied" and (answer.status == 403 or answer.in_batch)
    return Verdict(probe, str(answer), right)


LIST_USERS = "list of users"
LIST, LIST_FOLDERS, LIST_VERSIONS, LIST_UPLOADS = "list", "list of folders", "list of versions", "list of uploads"
GET, GET_VERSION = "get", "get of a version"
PUT, START_UPLOAD, TAG = "put", "start of a multipart upload", "tagging"
DELETE, BATCH_DELETE, DELETE_VERSION = "delete", "batch delete", "delete of a version"


def summary(wrong: Sequence[Verdict]) -> str:
    """What went wrong, one sentence for each action that was answered alike, with its first target."""
    alike: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in wrong:
        alike.setdefault((verdict.probe.action, verdict.probe.expected, verdict.found), []).append(verdict)
    return "; ".join(
        found[0].sentence() + (f" (and {len(found) - 1} more like it)" if len(found) > 1 else "")
        for found in alike.values()
    )


def usable_prefixes(prefixes: Iterable[str]) -> tuple[str, ...]:
    """The prefixes in the form that all parts use, without those that lie below another one of them.

    Raises Refused for an empty one, which would be the whole bucket, and for none at all.
    """
    found: list[str] = []
    for given in prefixes:
        try:
            prefix = normalise_prefix(given)
        except ValueError as error:
            raise Refused(str(error)) from error
        if not prefix:
            raise Refused(
                f"the prefix {given!r} is empty: a reader of the whole bucket cannot be told from one too many"
            )
        found.append(prefix)
    if not found:
        raise Refused("prefixes is empty: name the prefixes that the key is to read")
    return tuple(sorted({item for item in found if not any(item.startswith(f"{other}/") for other in found)}))


def fresh(name: str = "") -> str:
    """A name that nobody has: what carries it was made by this run."""
    return f"{name}modelshelf-probe-{secrets.token_hex(8)}"


def reads_denied(bucket: str, prefixes: Sequence[str], others: Sequence[str], versioned: bool) -> list[Probe]:
    """The requests beside the prefixes that only read.

    `others` are prefixes that the key must not see, in addition to siblings made up from each prefix: with `opt-125m`,
    the shorter `opt` and `opt-125`, the longer `opt-125m-v2` and random ones.
    """
    listed: list[str | None] = [None, "", fresh("") + "/"]
    read = [fresh()]
    for prefix in prefixes:
        random = f"{prefix}-{fresh()}"
        listed += [prefix, prefix[:-1], f"{random}/"]
        read += [f"{random}/{fresh()}", f"{prefix}{fresh()}"]
        named = [f"{prefix}-v2", re.sub(r"[-._/][^-._/]*$", "", prefix)]
        for sibling in named:
            if sibling != prefix and not _covered(f"{sibling}/", prefixes):
                listed.append(f"{sibling}/")
                read.append(f"{sibling}/{fresh()}")
    for other in others:
        listed.append(f"{other}/")
        read.append(f"{other}/{fresh()}")
    probes = [Probe(LIST, bucket, item, DENIED) for item in dict.fromkeys(listed) if not _covered(item, prefixes)]
    probes.append(Probe(LIST_FOLDERS, bucket, None, DENIED))
    probes += [Probe(GET, bucket, item, DENIED) for item in read]
    probes += [Probe(LIST_UPLOADS, bucket, f"{prefix}/", DENIED) for prefix in prefixes]
    if versioned:
        probes.append(Probe(LIST_VERSIONS, bucket, None, DENIED))
        for prefix in prefixes:
            sibling = f"{prefix}-{fresh()}/"
            probes.append(Probe(LIST_VERSIONS, bucket, sibling, DENIED))
            probes.append(Probe(GET_VERSION, bucket, f"{sibling}{fresh()}", DENIED, version="null"))
    return probes


def other_bucket_denied(bucket: str, prefixes: Sequence[str]) -> list[Probe]:
    """Requests to a bucket that the key has nothing to do with, by the names that it may use in its own."""
    listed = [Probe(LIST, bucket, None, DENIED)]
    for prefix in prefixes:
        listed.append(Probe(LIST, bucket, f"{prefix}/", DENIED))
        listed.append(Probe(GET, bucket, f"{prefix}/{fresh()}", DENIED))
    return listed


def writes_denied(bucket: str, prefixes: Sequence[str], versioned: bool) -> list[Probe]:
    """The requests that write, below each prefix and beside it, each with a key of its own that nobody has."""
    actions = {PUT: DENIED, START_UPLOAD: DENIED, TAG: DENIED, DELETE: DENIED, BATCH_DELETE: DENIED_IN_BATCH}
    places = [place for prefix in prefixes for place in (f"{prefix}/", f"{prefix}-")] + [""]
    probes = [
        Probe(action, bucket, fresh(place), expected, writes=True)
        for place in places
        for action, expected in actions.items()
    ]
    if versioned:
        probes += [
            Probe(DELETE_VERSION, bucket, fresh(f"{prefix}/"), DENIED, writes=True, version=NO_VERSION)
            for prefix in prefixes
        ]
    return probes


def _covered(item: str | None, prefixes: Sequence[str]) -> bool:
    """Whether the policy of a reader of `prefixes` lets it list or read `item`."""
    return item is not None and any(item.startswith(f"{prefix}/") for prefix in prefixes)
