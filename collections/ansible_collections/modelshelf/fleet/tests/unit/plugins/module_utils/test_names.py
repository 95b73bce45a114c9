# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._names import (
    check_version,
    model_slug,
    normalise_prefix,
    version_prefix,
)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Qwen2.5_7B/Instruct", "qwen2-5-7b-instruct"),
        ("qwen2-7b", "qwen2-7b"),
        ("--a__b--", "a-b"),
        ("facebook/opt-125m", "facebook-opt-125m"),
        ("模型 7B", "7b"),
    ],
)
def test_a37_name_becomes_slug(name: str, slug: str) -> None:
    assert model_slug(name) == slug


@pytest.mark.parametrize("name", ["", "///", "模型", "a" * 201, 7, None])
def test_unusable_name_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="name"):
        model_slug(name)  # what a careless inventory gives


@given(st.text(max_size=150))
def test_slug_is_safe_and_stable(name: str) -> None:
    try:
        slug = model_slug(name)
    except ValueError:
        return
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert model_slug(slug) == slug


@pytest.mark.parametrize("version", ["v1", "2026-11-29", "1.0", "A_b", "x" * 64])
def test_usable_version(version: str) -> None:
    assert check_version(version) == version


@pytest.mark.parametrize(
    "version", ["", ".", "..", "latest", "Latest", "-v1", ".v1", "v 1", "v/1", "v1\n", "ü1", "x" * 65, 1.0, None]
)
def test_unusable_version_is_refused(version: Any) -> None:
    with pytest.raises(ValueError, match="version"):
        check_version(version)  # YAML turns 1.0 into a number


@pytest.mark.parametrize(
    ("prefix", "normal"),
    [
        ("/models", "models"),
        ("models/", "models"),
        ("models//llm", "models/llm"),
        ("//", ""),
        ("", ""),
        ("a/b.c/d", "a/b.c/d"),
    ],
)
def test_a8_prefix_is_normalised(prefix: str, normal: str) -> None:
    assert normalise_prefix(prefix) == normal


@pytest.mark.parametrize("prefix", ["./models", "models/../x", "models/.", "..", "a\nb", "a/\x7f"])
def test_a8_unsafe_segment_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="the prefix"):
        normalise_prefix(prefix)


@given(st.text(alphabet="ab./", max_size=30))
def test_normal_prefix_is_a_fixed_point(prefix: str) -> None:
    try:
        normal = normalise_prefix(prefix)
    except ValueError:
        return
    assert normalise_prefix(f"/{normal}//") == normal
    assert "//" not in normal and not normal.startswith("/") and not normal.endswith("/")


def test_version_prefix_joins_with_one_slash() -> None:
    assert version_prefix("qwen2-7b", "v3") == "qwen2-7b/v3"
