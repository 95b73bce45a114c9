# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import StoreError
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import (
    Connection,
    connection_arguments,
    connection_from,
)

GIVEN: dict[str, Any] = {
    "endpoint": "https://s:1/",
    "bucket": "b",
    "access_key": None,
    "secret_key": None,
    "region": "r",
    "ca_file": None,
    "validate_certs": True,
    "timeout": 30,
}


@pytest.mark.parametrize(
    "endpoint", ["store1:9000", "ftp://store1", "http://user:secret@store1", "http://store1/bucket", ""]
)
def test_unusable_endpoint_is_refused_without_repeating_it(endpoint: str) -> None:
    with pytest.raises(StoreError) as caught:
        connection_from({**GIVEN, "endpoint": endpoint})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://store1:90000",
        "http://store1:0",
        "http://store1:abc",
        "http://store1:",
        "http://:9000",
        "http://?x",
        "http://[::1:39417",
        "http://[]:9000",
        "http://store1:9000?a=b",
        "http://store1:9000#a",
    ],
)
def test_half_an_endpoint_is_refused_by_its_name_and_value(endpoint: str) -> None:
    with pytest.raises(StoreError, match=re.escape(f"endpoint is '{endpoint}', expected http://host:port")):
        connection_from({**GIVEN, "endpoint": endpoint})


@pytest.mark.parametrize("endpoint", ["http://store1", "https://store1:9000", "http://10.0.0.1:9000", "http://[::1]:9"])
def test_endpoints_that_can_be(endpoint: str) -> None:
    assert connection_from({**GIVEN, "endpoint": f"{endpoint}/"}).endpoint == endpoint


def test_connection_from_parameters() -> None:
    assert connection_from(GIVEN) == Connection("https://s:1", "b", region="r")
    assert connection_from({**GIVEN, "validate_certs": False, "timeout": 5, "ca_file": __file__}) == Connection(
        "https://s:1", "b", region="r", validate_certs=False, timeout=5, ca_file=__file__
    )


def test_a_ca_file_that_is_not_there_is_named() -> None:
    with pytest.raises(StoreError, match="ca_file is /no/such/file: there is no such file"):
        connection_from({**GIVEN, "ca_file": "/no/such/file"})


def test_a_timeout_of_nothing_is_refused() -> None:
    with pytest.raises(StoreError, match="timeout is 0; expected at least 1 second"):
        connection_from({**GIVEN, "timeout": 0})


def test_options_are_those_of_all_modules_but_for_the_keys() -> None:
    options = connection_arguments()
    assert set(options) == set(GIVEN)
    assert [name for name, option in options.items() if option.get("required")] == ["endpoint", "bucket"]
