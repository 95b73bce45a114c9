# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import AlreadyThere
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3 import (
    MIB,
    MOST_PARTS,
    SMALLEST_PART,
    Store,
    part_size_for,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection

GIB = 1024 * MIB
CONNECTION = Connection("http://127.0.0.1:9", "models", "writer", "canary-secret")


@pytest.mark.parametrize(
    ("size", "wanted", "part_size"),
    [
        (5 * GIB, 64 * MIB, 64 * MIB),
        (5 * GIB, 5 * MIB, 5 * MIB),
        (5 * GIB, 1, 5 * MIB),
        (int(48.9 * GIB), 5 * MIB, 6 * MIB),
        (int(78.2 * GIB), 8 * MIB, 9 * MIB),
        (400 * GIB, 5 * MIB, 41 * MIB),
        (1024 * GIB, 64 * MIB, 105 * MIB),
        (0, 64 * MIB, 64 * MIB),
    ],
)
def test_a6_part_size(size: int, wanted: int, part_size: int) -> None:
    assert part_size_for(size, wanted) == part_size


@given(st.integers(min_value=0, max_value=5 * 1024 * GIB), st.integers(min_value=0, max_value=5 * GIB))
def test_a6_part_size_keeps_the_limits(size: int, wanted: int) -> None:
    part_size = part_size_for(size, wanted)
    assert part_size >= max(wanted, SMALLEST_PART)
    assert part_size * MOST_PARTS >= size


def condition(expected: dict[str, Any], conditional: bool) -> dict[str, Any]:
    return {**expected, **({"IfNoneMatch": "*"} if conditional else {})}


def test_conditional_write_falls_back_where_the_server_has_none() -> None:
    store = Store(CONNECTION)
    request = {"Bucket": "models", "Key": "k", "Body": b"x", "ContentType": "application/json"}
    with Stubber(store.client) as stub:
        stub.add_client_error("put_object", "NotImplemented", "", 501, expected_params=condition(request, True))
        stub.add_response("put_object", {}, condition(request, False))
        store.write_new("k", b"x")
        stub.assert_no_pending_responses()


def test_conditional_write_of_an_existing_key() -> None:
    store = Store(CONNECTION)
    with Stubber(store.client) as stub:
        stub.add_client_error("put_object", "PreconditionFailed", "", 412)
        with pytest.raises(AlreadyThere):
            store.write_new("k", b"x")


def test_listing_follows_pages() -> None:
    store = Store(CONNECTION)
    with Stubber(store.client) as stub:
        first = {"IsTruncated": True, "NextContinuationToken": "t", "Contents": [{"Key": "a/1", "Size": 1}]}
        stub.add_response("list_objects_v2", first)
        stub.add_response("list_objects_v2", {"IsTruncated": False, "Contents": [{"Key": "a/2", "Size": 2}]})
        assert store.list_objects("a/") == {"a/1": 1, "a/2": 2}
