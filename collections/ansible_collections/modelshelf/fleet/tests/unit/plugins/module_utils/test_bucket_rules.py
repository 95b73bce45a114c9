# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_rules import (
    OPTIONS,
    canonical_bucket_policy,
    check_name,
    parse_bucket_policy,
    quota_bytes,
    wanted_from,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Refused

EMPTY = {name: spec.get("default") for name, spec in OPTIONS.items()}
PUBLIC = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::models/public/*"}


def policy(**changes: Any) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [{**PUBLIC, **changes}]}


@pytest.mark.parametrize("name", ["abc", "models", "with.dot", "minio", "a-b-c", "0abc9", "a" * 63])
def test_names_that_rustfs_takes(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("ab", "3 to 63"),
        ("a" * 64, "3 to 63"),
        ("Upper", "a-z"),
        ("under_score", "a-z"),
        ("-lead", "both ends"),
        ("trail-", "both ends"),
        ("192.168.1.1", "IP address"),
        ("rustfs", "RustFS keeps it for itself"),
        ("a..b", "a dot must stand"),
        ("a.-b", "a dot must stand"),
        ("xn--abc", "reserved"),
        ("blank name", "a-z"),
        ("line\n", "a-z"),
        ("", "3 to 63"),
        (None, "3 to 63"),
    ],
)
def test_a45_names_that_rustfs_refuses(name: Any, rule: str) -> None:
    with pytest.raises(Refused, match=rule):
        check_name(name)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1048576", 1048576),
        ("500GiB", 500 * 2**30),
        ("2 TB", 2 * 10**12),
        ("1.5KiB", 1536),
        ("0.1KB", 100),
        ("12B", 12),
    ],
)
def test_quota_in_bytes(text: str, size: int) -> None:
    assert quota_bytes(text) == size


@pytest.mark.parametrize("text", ["0.0001KiB", "0.0009KB"])
def test_a45_a_quota_of_less_than_a_byte_does_not_become_none(text: str) -> None:
    with pytest.raises(ValueError, match=f"quota is '{text}', less than a byte; write 0 for no quota"):
        quota_bytes(text)
    assert quota_bytes("0.0KiB") == 0


@given(st.integers(min_value=0, max_value=8000), st.sampled_from(["KiB", "MiB", "GiB", "TiB", "PiB"]))
def test_quota_units_are_powers_of_1024(number: int, unit: str) -> None:
    assert quota_bytes(f"{number}{unit}") == number * 1024 ** (["KiB", "MiB", "GiB", "TiB", "PiB"].index(unit) + 1)


@pytest.mark.parametrize("text", ["", "-1", "3 apples", "1.5", "5G", "5gib", "1e9", "0x10", "9223372036854775808"])
def test_a45_quotas_that_cannot_be(text: str) -> None:
    with pytest.raises(ValueError, match="quota is"):
        quota_bytes(text)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"object_lock": True, "versioning": "suspended"}, "a locked bucket keeps its versions"),
        ({"state": "absent", "quota": "1", "object_lock": True}, "state is absent, and quota, object_lock is given"),
        ({"quota": "much"}, "bucket 'models': quota is 'much'"),
        ({"tags": {"team": None}}, "the value None at 'team'"),
        ({"tags": {"team": True}}, "put it in quotes"),
        ({"tags": {"": "x"}}, "empty key"),
        ({"tags": {"k" * 129: "x"}}, "S3 takes 128"),
        ({"tags": {str(number): "x" for number in range(51)}}, "a bucket takes 50"),
        ({"policy": policy(Principal=None)}, r"Statement\[0\].Principal is None"),
        ({"policy": policy(Principal="somebody")}, "Principal is 'somebody'"),
        ({"policy": policy(Principal={"CanonicalUser": "x"})}, "RustFS takes AWS and Service"),
        ({"policy": policy(Principal={"AWS": []})}, "expected a name"),
        ({"policy": policy(Action="s3:Get*")}, "a wildcard"),
        ({"policy": policy(NotAllowed=1)}, "no field that RustFS knows"),
        ({"policy": {"Version": "2012-10-17"}}, "Statement is None"),
        ({"policy": {"Statement": [PUBLIC]}}, "Version is missing"),
    ],
)
def test_a45_what_the_server_would_refuse_is_refused_with_the_field(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        wanted_from({**EMPTY, "name": "models", **changes})


def test_what_is_not_given_is_left_alone() -> None:
    wanted = wanted_from({**EMPTY, "name": "models"})
    assert (wanted.versioning, wanted.quota, wanted.tags, wanted.policy) == (None, None, None, None)


def test_empty_values_take_away() -> None:
    wanted = wanted_from({**EMPTY, "name": "models", "quota": "0", "tags": {}, "policy": {}})
    assert (wanted.quota, wanted.tags, wanted.policy) == (0, {}, {})


def test_tags_are_texts() -> None:
    assert wanted_from({**EMPTY, "name": "models", "tags": {"year": 2026, 7: "x"}}).tags == {"year": "2026", "7": "x"}


@pytest.mark.parametrize(
    "other",
    [
        policy(Principal={"AWS": "*"}),
        policy(Principal={"AWS": ["*"]}),
        policy(Action=["s3:GetObject", "s3:GetObject"]),
        policy(Resource=["arn:aws:s3:::models/public/*"]),
        policy(Sid="", Condition={}),
    ],
)
def test_a41_forms_that_mean_the_same_are_equal(other: dict[str, Any]) -> None:
    assert parse_bucket_policy(other) == parse_bucket_policy(policy())
    assert canonical_bucket_policy(json.loads(json.dumps(other))) == parse_bucket_policy(policy())


def test_order_of_statements_and_the_spelling_of_the_id_do_not_matter() -> None:
    second = {**PUBLIC, "Effect": "Deny", "Principal": {"AWS": ["mallory"]}}
    there = {"Id": "x", "Version": "2012-10-17", "Statement": [PUBLIC, second]}
    back = {"ID": "x", "Version": "2012-10-17", "Statement": [second, PUBLIC]}
    assert parse_bucket_policy(there) == parse_bucket_policy(back)


def test_another_principal_is_a_difference() -> None:
    assert parse_bucket_policy(policy(Principal={"AWS": ["alice"]})) != parse_bucket_policy(policy())
