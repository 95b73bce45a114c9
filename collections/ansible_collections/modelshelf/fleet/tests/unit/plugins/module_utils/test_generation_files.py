# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_files import (
    env_file,
    env_values,
    parse_vllm_yaml,
    plain_env_values,
    secret_values,
    vllm_yaml,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXT, inner)),
    max_leaves=8,
)


@given(st.dictionaries(TEXT.filter(lambda name: name not in ("api-key", "api_key", "hf-token", "hf_token")), VALUES))
@example(
    {"rate": 1e-07, "emoji": "\U0001f600", "lines": "a\u2028b\x85c\x7f\ufeff", "blank": "a b", "yes": "yes", "n": "0x1"}
)
def test_a20_vllm_reads_every_value_exactly(config: dict[str, Any]) -> None:
    text = vllm_yaml(config)
    assert yaml.safe_load(text) == config
    assert parse_vllm_yaml(text) == config


def test_numbers_stay_numbers() -> None:
    assert yaml.safe_load(vllm_yaml({"a": 1e-07, "b": 1e22, "c": 0.5, "d": 3})) == {
        "a": 1e-07,
        "b": 1e22,
        "c": 0.5,
        "d": 3,
    }


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"api-key": "canary"}, "api-key is a secret: give it as VLLM_API_KEY"),
        ({"api_key": ["canary"]}, "api_key is a secret"),
        ({"hf-token": "canary"}, "hf-token is a secret"),
        ({"dtype": None}, "dtype has no value"),
        ({"rate": float("inf")}, "rate has the value inf"),
    ],
)
def test_options_that_cannot_be_in_the_file(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        vllm_yaml(config)
    assert "canary" not in str(caught.value)


def systemd_reads(text: str) -> dict[str, str]:
    """What systemd makes of the double-quoted lines of an environment file (load_env_file in env-file.c)."""
    found = re.findall(r'^([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"$', text, re.MULTILINE | re.DOTALL)
    return {name: re.sub(r'\\(["\\`$])', r"\1", value) for name, value in found}


@given(st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True), TEXT))
@example({"A": 'ab%sc%nd%$x`y`\\n"', "B": 'line\nB2="x"\n', "C": " blanks ", "D": "'"})
def test_a19_systemd_reads_every_value_exactly(environment: dict[str, str]) -> None:
    if any(
        (ord(character) < 32 and character not in "\t\n") or character == "\x7f"
        for character in "".join(environment.values())
    ):
        with pytest.raises(ValueError, match="control character"):
            env_file(environment)
        return
    text = env_file(environment)
    assert systemd_reads(text) == environment
    assert set(env_values(text)) == set(environment)
    assert plain_env_values(text) == environment


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"A-B": "canary"}, "'A-B' is not a name"),
        ({"": "canary"}, "'' is not a name"),
        ({"A": True}, "A is of type bool"),
        ({"A": ["canary"]}, "A is of type list"),
        ({"A": "canary\r"}, "the value of A has a control character"),
        ({"A": "canary\udc80"}, "the value of A is not UTF-8"),
    ],
)
def test_a35_refusals_do_not_show_the_value(environment: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        env_file(environment)
    assert "canary" not in str(caught.value)


def test_numbers_become_strings() -> None:
    assert env_file({"N": 5, "A": 0.5}) == 'A="0.5"\nN="5"\n'


def test_secret_values() -> None:
    environment = {
        "VLLM_API_KEY": "canary-key",
        "AWS_SECRET_ACCESS_KEY": "canary-aws",
        "HF_HUB_OFFLINE": "1",
        "KEY": "1",
    }
    assert secret_values(environment) == {"canary-key", "canary-aws"}
