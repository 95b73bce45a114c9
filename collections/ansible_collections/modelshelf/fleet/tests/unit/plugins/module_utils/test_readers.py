# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._readers import (
    other_prefixes,
    readers,
    store_identities,
    with_rights_in_use,
)

MODELS = [{"name": "Qwen/Qwen2", "version": "v1"}, {"name": "opt-125m", "version": "v1"}]
OWN = {"opt-125m": {"access_key": "opt-key", "secret_key": "opt-secret"}}
WRITER = {"access_key": "writer", "secret_key": "writer-secret"}


def readers_filter(*arguments: Any) -> list[dict[str, Any]]:
    """The readers as the filter gives them to the next one."""
    return [asdict(reader) for reader in readers(*arguments)]


def test_one_reader_reads_all_models() -> None:
    (reader,) = readers(MODELS, "fleet", "fleet-secret")
    assert (reader.user, reader.access_key, reader.slugs) == ("modelshelf-reader", "fleet", ("qwen-qwen2", "opt-125m"))
    assert "fleet-secret" not in repr(reader)


def test_a_model_with_its_own_key_is_not_read_with_the_fleets() -> None:
    fleet, own = readers(MODELS, "fleet", "fleet-secret", OWN)
    assert fleet.slugs == ("qwen-qwen2",)
    assert (own.user, own.access_key, own.secret_key, own.slugs) == (
        "modelshelf-reader-opt-125m",
        "opt-key",
        "opt-secret",
        ("opt-125m",),
    )


def test_no_fleet_key_is_needed_when_every_model_has_its_own() -> None:
    found = readers(MODELS[1:], own_keys=OWN)
    assert [reader.user for reader in found] == ["modelshelf-reader-opt-125m"]


@pytest.mark.parametrize(
    ("own_keys", "fleet", "message"),
    [
        ({}, "", "no key reads qwen-qwen2, opt-125m"),
        (OWN, "", "no key reads qwen-qwen2"),
        ({"nosuch": OWN["opt-125m"]}, "fleet", "'nosuch' is not in modelshelf_models, which has Qwen/Qwen2, opt-125m"),
        ({"opt-125m": {"access_key": "k"}}, "fleet", "secret_key is missing"),
        ({"opt-125m": "k"}, "fleet", "is not a mapping with access_key and secret_key"),
        ({"opt-125m": {**OWN["opt-125m"], "acess": 1}}, "fleet", "unknown key acess"),
        (["opt-125m"], "fleet", "is not a mapping of models"),
        ({"opt-125m": {"access_key": "fleet", "secret_key": "s"}}, "fleet", "the access key fleet is given twice"),
    ],
)
def test_mistakes_are_named(own_keys: Any, fleet: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        readers(MODELS, fleet, fleet, own_keys)


def test_identities_for_two_readers_and_the_writer() -> None:
    found = readers_filter(MODELS, "fleet", "fleet-secret", OWN)
    made = store_identities(MODELS, "models", found, WRITER)
    names = ["modelshelf-reader", "modelshelf-reader-opt-125m", "modelshelf-writer"]
    assert [policy["name"] for policy in made["policies"]] == names
    assert made["users"] == [{"name": name, "policies": [name]} for name in names]
    assert [(key["user"], key["key"], key["secret"]) for key in made["access_keys"]] == [
        (names[0], "fleet", "fleet-secret"),
        (names[1], "opt-key", "opt-secret"),
        (names[2], "writer", "writer-secret"),
    ]


def test_a_readers_policy_names_its_prefixes_alone() -> None:
    found = readers_filter(MODELS, "fleet", "fleet-secret", OWN)
    policies = {item["name"]: item["policy"] for item in store_identities(MODELS, "models", found, {})["policies"]}
    text = str(policies["modelshelf-reader-opt-125m"])
    assert "arn:aws:s3:::models/opt-125m/*" in text
    assert "qwen" not in text
    assert "Put" not in text and "Delete" not in text
    assert "modelshelf-writer" not in policies


def test_the_writer_deletes_nothing_and_stays_in_its_bucket() -> None:
    found = readers_filter(MODELS, "fleet", "fleet-secret")
    policies = {item["name"]: item["policy"] for item in store_identities(MODELS, "models", found, WRITER)["policies"]}
    statements = policies["modelshelf-writer"]["Statement"]
    assert not [action for statement in statements for action in statement["Action"] if "Delete" in action]
    assert {target for statement in statements for target in statement["Resource"]} == {
        "arn:aws:s3:::models",
        "arn:aws:s3:::models/*",
    }


def test_a_versioned_bucket_needs_one_more_right() -> None:
    """A1: a reader without it gets 403 for versions of objects."""
    found = readers_filter(MODELS, "fleet", "fleet-secret")
    plain, versioned = (
        str(store_identities(MODELS, "models", found, {}, versioned)["policies"]) for versioned in (False, True)
    )
    assert "s3:GetObjectVersion" not in plain
    assert "s3:GetObjectVersion" in versioned


def test_a_writers_key_that_hosts_have_too_is_refused() -> None:
    found = readers_filter(MODELS, "fleet", "fleet-secret")
    with pytest.raises(ValueError, match="a host could write with it"):
        store_identities(MODELS, "models", found, {"access_key": "fleet", "secret_key": "x"})


def policies_of(found: list[dict[str, Any]], versioned: bool = False) -> list[dict[str, Any]]:
    return list(store_identities(MODELS, "models", found, WRITER, versioned)["policies"])


@pytest.mark.parametrize("versioned", [False, True])
def test_an_earlier_reader_keeps_a_model_that_hosts_still_read_through_it(versioned: bool) -> None:
    there = policies_of(readers_filter(MODELS, "fleet", "s"), versioned)
    fleet, own = with_rights_in_use(readers_filter(MODELS, "fleet", "s", OWN), there, "models")
    assert (fleet["slugs"], fleet["in_use"]) == (["qwen-qwen2", "opt-125m"], ["opt-125m"])
    assert (own["slugs"], own["in_use"]) == (["opt-125m"], [])
    # And back again: the fleet's reader reads it, the other one keeps what it has until it goes.
    (back,) = with_rights_in_use(readers_filter(MODELS, "fleet", "s"), policies_of([fleet, own], versioned), "models")
    assert (back["slugs"], back["in_use"]) == (["qwen-qwen2", "opt-125m"], [])


def test_nothing_else_is_kept() -> None:
    """Not a model that the inventory no longer has, nor the whole bucket, nor another one."""

    def here(name: str, resource: str, **more: Any) -> dict[str, Any]:
        statement = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [f"arn:aws:s3:::{resource}"], **more}
        return {"name": name, "policy": {"Statement": [statement]}}

    odd = [
        here("modelshelf-reader", "models/*"),
        here("modelshelf-reader", "other/opt-125m/*"),
        here("somebody", "models/opt-125m/*"),
        here("modelshelf-reader", "models/gone/*"),
        {"name": "modelshelf-reader", "policy": {}},
    ]
    wanted = readers_filter(MODELS, "fleet", "s", OWN)
    for item in odd:
        found = with_rights_in_use(wanted, [item], "models")
        assert [(reader["slugs"], reader["in_use"]) for reader in found] == [(["qwen-qwen2"], []), (["opt-125m"], [])]
    assert [reader["in_use"] for reader in with_rights_in_use(wanted, [], "models")] == [[], []]


def test_other_models_are_tried_and_those_with_like_names_first() -> None:
    assert other_prefixes(["opt", "opt-125m", "qwen2"], ["opt"]) == ["opt-125m", "qwen2"]
    assert other_prefixes(["opt", "qwen2"], ["opt", "qwen2"]) == []
    many = [f"model-{number:03}" for number in range(200)]
    assert other_prefixes(many, ["model-100"]) == many[95:100] + many[101:106]
    assert other_prefixes(many, ["model-000", "model-199"]) == many[1:6] + many[194:199]


OPT = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::models/opt-125m/*"]}


@pytest.mark.parametrize(
    ("statements", "kept"),
    [
        ([OPT], ["opt-125m"]),
        ([{**OPT, "Action": ["s3:*"]}], ["opt-125m"]),
        ([{**OPT, "Action": ["s3:GetObject", "s3:PutObject"]}], ["opt-125m"]),
        ([{**OPT, "Action": ["s3:PutObject"]}], []),
        ([{**OPT, "Effect": "Deny"}], []),
        ([OPT, {**OPT, "Effect": "Deny", "Action": ["s3:*"]}], []),
        ([OPT, {**OPT, "Effect": "Deny", "Action": ["s3:PutObject"]}], ["opt-125m"]),
        ([{**OPT, "Condition": {"IpAddress": {"aws:SourceIp": ["10.0.0.1/32"]}}}], []),
    ],
)
def test_only_what_can_be_read_is_kept(statements: list[dict[str, Any]], kept: list[str]) -> None:
    there = [{"name": "modelshelf-reader", "policy": {"Statement": statements}}]
    fleet, _own = with_rights_in_use(readers_filter(MODELS, "fleet", "s", OWN), there, "models")
    assert fleet["in_use"] == kept
