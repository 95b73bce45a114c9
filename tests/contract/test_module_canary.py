# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The canary on a server: it stores, and nothing of it stays."""

from __future__ import annotations

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._canary import BUCKET
from ansible_collections.modelshelf.fleet.plugins.modules import rustfs_bucket_info, rustfs_canary
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server


@pytest.fixture
def bench(server: Server) -> Bench:
    return bench_on(server)


def buckets(bench: Bench) -> list[str]:
    return [bucket["name"] for bucket in bench.done(rustfs_bucket_info)["buckets"]]


def test_a9_a_store_that_stores_is_proved_and_nothing_is_left(bench: Bench) -> None:
    for _again in range(2):
        found = bench.done(rustfs_canary)
        assert (found["changed"], found["steps"]) == (False, ["make bucket", "put", "get", "delete"])
        assert BUCKET not in buckets(bench)


def test_check_mode_writes_nothing(bench: Bench) -> None:
    assert "steps" not in bench.done(rustfs_canary, check_mode=True)


@pytest.mark.parametrize("keys", [{"access_key": "wrong-root"}, {"secret_key": "wrong-secret"}])
def test_a40_a_refused_key_is_told_at_once(bench: Bench, keys: dict[str, str]) -> None:
    said = bench.failure(rustfs_canary, **keys)
    assert "failed at the step 'make bucket' (tried 1 times" in said


def test_a9_no_answer_is_told_at_the_deadline(bench: Bench) -> None:
    assert "no answer" in bench.failure(rustfs_canary, endpoint="http://127.0.0.1:9", timeout=2)
