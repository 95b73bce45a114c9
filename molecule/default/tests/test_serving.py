# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What clients see: real completions from weights that came off the shelf."""

from __future__ import annotations

import pytest

from tests.support.fleet import ADDRESSES, SERVING, host
from tests.support.serving import BROWN, MODEL, MOUNTPOINT, ask, complete

pytestmark = pytest.mark.parametrize("name", SERVING)


def test_completion_is_that_of_the_model(name: str) -> None:
    assert complete(name) == BROWN


def test_names_and_root_are_those_of_the_inventory(name: str) -> None:
    status, models = ask(name, "/v1/models")
    assert status == 200
    assert [(card["id"], card["root"]) for card in models["data"]] == [(MODEL, f"{MOUNTPOINT}/v1")]


@pytest.mark.parametrize("key", ["", "wrong"])
@pytest.mark.parametrize("path", ["/v1/models", "/v1/completions"])
def test_without_the_key_nothing_is_served(name: str, path: str, key: str) -> None:
    body = {"model": MODEL, "prompt": "x", "max_tokens": 1} if path.endswith("completions") else None
    assert ask(name, path, body, key=key)[0] == 401


def test_server_listens_on_the_address_of_the_inventory_alone(name: str) -> None:
    assert host(name).check_output("ss -Hltn sport = :8000 | awk '{print $4}'") == f"{ADDRESSES[name]}:8000"
