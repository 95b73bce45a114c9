# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of the module rustfs_access_probe, from parameters to a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe import (
    ABSENT,
    ALLOWED,
    DENIED,
    GET,
    GET_VERSION,
    LIST,
    LIST_USERS,
    Answer,
    Probe,
    Verdict,
    fresh,
    judge,
    other_bucket_denied,
    reads_denied,
    summary,
    usable_prefixes,
    writes_denied,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe_s3 import Cleaner, Reader
from ansible_collections.modelshelf.fleet.plugins.module_utils._answers import not_accepted, retried
from ansible_collections.modelshelf.fleet.plugins.module_utils._clock import greet
from ansible_collections.modelshelf.fleet.plugins.module_utils._clock import judge as judge_clock
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import (
    NotFound,
    Refused,
    StoreError,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import Client
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection, connection_from

Say = Callable[[str], None]
_DRY_RUN_SECONDS = 5


class ProbeFailed(StoreError):
    """The key can do more or less than a reader, or it could not be told. `verdicts` and `left` say what was found."""

    def __init__(self, message: str, verdicts: Sequence[Verdict], left: Sequence[str]) -> None:
        super().__init__(message)
        self.verdicts, self.left = tuple(verdicts), tuple(left)


@dataclass(frozen=True)
class Wanted:
    """What is to be proved. `cleanup` is the connection of the key that removes what wrongly succeeds."""

    reader: Connection
    cleanup: Connection
    prefixes: tuple[str, ...]
    others: tuple[str, ...]
    other_bucket: str
    versioned: bool


@dataclass
class Findings:
    """What was found so far: verdicts, keys that were removed again, what could not be, and why it ended early."""

    verdicts: list[Verdict] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    stopped: str = ""

    @property
    def wrong(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if not verdict.right]


def wanted_from(params: Mapping[str, Any]) -> Wanted:
    """What the parameters ask for. Raises StoreError for what cannot be probed."""
    reader = connection_from(params)
    if not reader.access_key or not reader.secret_key:
        raise Refused("access_key or secret_key is empty: give the pair of the reader that is to be probed")
    prefixes = usable_prefixes(params["prefixes"])
    others = usable_prefixes(params["forbidden_prefixes"]) if params["forbidden_prefixes"] else ()
    for other in others:
        if any(f"{other}/".startswith(f"{prefix}/") or f"{prefix}/".startswith(f"{other}/") for prefix in prefixes):
            raise Refused(f"{other!r} in forbidden_prefixes overlaps with one of prefixes: {', '.join(prefixes)}")
    if params["other_bucket"] == reader.bucket:
        raise Refused(f"other_bucket is {reader.bucket!r}, the bucket of the reader itself: name another one")
    cleanup = reader
    if params["cleanup_access_key"]:
        keys = {"access_key": params["cleanup_access_key"], "secret_key": params["cleanup_secret_key"]}
        cleanup = replace(reader, **keys)
    other_bucket = params["other_bucket"] or fresh()
    return Wanted(reader, cleanup, prefixes, others, other_bucket, params["versioned"])


def probe_access(params: Mapping[str, Any], *, check_mode: bool, warn: Say) -> dict[str, Any]:
    """Proves what a key may do; in check mode by requests that only read. Raises StoreError, of it ProbeFailed."""
    wanted = wanted_from(params)
    if check_mode:  # a dry run may come before the store, and does not wait long to see that
        wanted = replace(wanted, reader=replace(wanted.reader, timeout=min(wanted.reader.timeout, _DRY_RUN_SECONDS)))
    return _probe(wanted, check_mode, warn)


def _probe(wanted: Wanted, check_mode: bool, warn: Say) -> dict[str, Any]:
    where = wanted.reader
    greeting = retried(
        lambda: greet(where.endpoint, ca_file=where.ca_file, validate_certs=where.validate_certs), where.timeout
    )
    warning = judge_clock(greeting, where.endpoint)
    if warning:
        warn(warning)
    findings = Findings()
    try:
        _send(wanted, findings, check_mode)
    except StoreError as error:
        if not findings.wrong:
            raise
        findings.stopped = str(error)
    if findings.wrong:
        raise ProbeFailed(_message(wanted, findings, greeting.version), findings.verdicts, findings.left)
    return {"changed": False, "probes": [verdict.as_dict() for verdict in findings.verdicts]}


def _send(wanted: Wanted, findings: Findings, check_mode: bool) -> None:
    """All requests, those that write last, and only with a key at hand that can find what they may make."""
    reader, bucket = Reader(wanted.reader), wanted.reader.bucket
    for prefix in wanted.prefixes:
        _allowed(reader, wanted, prefix, findings.verdicts)
    denied = reads_denied(bucket, wanted.prefixes, wanted.others, wanted.versioned)
    for probe in [*denied, *other_bucket_denied(wanted.other_bucket, wanted.prefixes)]:
        findings.verdicts.append(judge(probe, reader.ask(probe)))
    administering = Probe(LIST_USERS, "", None, DENIED)
    findings.verdicts.append(judge(administering, ask_for_users(wanted.reader)))
    if check_mode:
        return
    cleaner = Cleaner(wanted.cleanup)
    if wanted.cleanup != wanted.reader:
        cleaner.check(wanted.prefixes[0])
    for probe in writes_denied(bucket, wanted.prefixes, wanted.versioned):
        _write(reader, cleaner, probe, findings)


def ask_for_users(where: Connection) -> Answer:
    """What the server says to an admin call that only reads. Raises StoreError when it says nothing."""
    admin = Admin(
        where.endpoint,
        where.access_key,
        where.secret_key,
        region=where.region,
        ca_file=where.ca_file,
        validate_certs=where.validate_certs,
        deadline=where.timeout,
    )
    status, code, message = Client(admin).refusal("list-users", doing=f"probe the {LIST_USERS} of the server")
    return Answer(status, code, message=message)


def _allowed(reader: Reader, wanted: Wanted, prefix: str, verdicts: list[Verdict]) -> None:
    """What a reader must be able to do: list, and read an object, or be told that one is not there."""
    bucket = reader.connection.bucket
    listing = Probe(LIST, bucket, f"{prefix}/", ALLOWED)
    answer, found = reader.ask_for(listing)
    if not verdicts:
        _refuse_strangers(listing, answer, wanted)
    verdicts.append(judge(listing, answer))
    deeper = Probe(LIST, bucket, f"{prefix}/{fresh()}", ALLOWED)
    verdicts.append(judge(deeper, reader.ask(deeper)))
    sample = reader.smallest_object(found)
    if sample is None:
        absent = f"{prefix}/{fresh()}"
        probes = [Probe(GET, bucket, absent, ABSENT)]
        if wanted.versioned:
            probes.append(Probe(GET_VERSION, bucket, absent, ABSENT, version="null"))
        for probe in probes:
            verdicts.append(judge(probe, reader.ask(probe)))
        return
    key, size = sample
    probe = Probe(GET, bucket, key, ALLOWED)
    answer, found = reader.ask_for(probe, **({"Range": "bytes=0-0"} if size else {}))
    verdicts.append(judge(probe, answer))
    if wanted.versioned and verdicts[-1].right:
        probe = Probe(GET_VERSION, bucket, key, ALLOWED, version=str(found.get("VersionId") or "null"))
        verdicts.append(judge(probe, reader.ask(probe)))


def _refuse_strangers(probe: Probe, answer: Answer, wanted: Wanted) -> None:
    """Raises when the first answer shows that every other one would be the same and prove nothing."""
    where = f"could not probe the {probe.action} of {probe.target} (endpoint {wanted.reader.endpoint}): {answer}"
    key = wanted.reader.access_key
    if answer.code == "NoSuchBucket":
        raise NotFound(f"{where}: there is no such bucket, so the access key {key!r} proves nothing")
    refusal = not_accepted(answer.code, answer.message, key, read_only=True)
    if refusal:
        kind, advice = refusal
        raise kind(f"{where}: {advice}. Nothing is proved")


def _write(reader: Reader, cleaner: Cleaner, probe: Probe, findings: Findings) -> None:
    """One request that must be refused. Whatever it may have made is removed, also when no answer came."""
    key = probe.key or ""
    try:
        verdict = judge(probe, reader.ask(probe))
    except StoreError as error:
        _made, rest = cleaner.remove(key)
        after = f"It may have left something, look for it: {rest}" if rest else "It left nothing behind"
        raise type(error)(f"{error}. {after}") from error
    findings.verdicts.append(verdict)
    if not verdict.right:
        made, rest = cleaner.remove(key)
        if made:
            (findings.left if rest else findings.removed).append(rest or key)


def _message(wanted: Wanted, findings: Findings, version: str) -> str:
    where = wanted.reader
    readable = ", ".join(f"{prefix}/" for prefix in wanted.prefixes)
    parts = [
        f"the access key {where.access_key!r} is not exactly a reader of {readable} in the bucket {where.bucket!r}"
        f" (endpoint {where.endpoint}, {f'RustFS {version}' if version else 'server version unknown'}): "
        + summary(findings.wrong)
    ]
    if findings.removed:
        parts.append(f"What the probes made was removed again ({len(findings.removed)} keys)")
    if findings.left:
        parts.append(f"Could not be removed, remove it by hand: {'; '.join(findings.left)}")
    if findings.stopped:
        parts.append(f"The other requests were not sent: {findings.stopped}")
    if any(verdict.probe.expected in (ALLOWED, ABSENT) for verdict in findings.wrong):
        parts.append(
            "What is missing is s3:ListBucket for the prefix, s3:GetObject, and where the bucket is versioned"
            " s3:GetObjectVersion: some versions of the server ask for it there"
        )
    parts.append(
        "Give its user the policy of readonly_prefix_policy alone, and see to its groups and the bucket policy"
    )
    return ". ".join(parts)
