# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._models import resolve_models


def test_every_name_is_derived() -> None:
    assert resolve_models([{"name": "Qwen2.5_7B/Instruct", "version": "v1", "directory": "/data/q"}]) == [
        {
            "name": "Qwen2.5_7B/Instruct",
            "slug": "qwen2-5-7b-instruct",
            "version": "v1",
            "source": "rclone",
            "directory": "/data/q",
            "allow_missing": [],
            "prefix": "qwen2-5-7b-instruct/v1",
            "mountpoint": "/srv/modelshelf/weights/qwen2-5-7b-instruct",
            "unit": "modelshelf-weights-qwen2-5-7b-instruct.service",
            "remote": "shelf-qwen2-5-7b-instruct",
        }
    ]


@pytest.mark.parametrize("nothing", [None, []])
def test_a32_no_models_is_an_empty_list(nothing: object) -> None:
    assert resolve_models(nothing) == []


def test_absent_directory_and_root_with_slash() -> None:
    (model,) = resolve_models([{"name": "a", "version": "v1", "directory": None, "source": ""}], weights_root="/w/")
    assert (model["directory"], model["source"], model["mountpoint"]) == ("", "rclone", "/w/a")


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ("a", "not a list"),
        ({"name": "a"}, "not a list"),
        (["a"], "not a mapping"),
        ([{"name": "a"}], "'a': version is missing"),
        ([{"version": "v1"}], "name is missing"),
        ([{"name": "a", "version": "latest"}], "'a': the version 'latest'"),
        ([{"name": "a", "version": 1.0}], "put it in quotes"),
        ([{"name": "a", "version": "v1", "sorce": "nfs"}], "unknown key sorce"),
        ([{"name": "a", "version": "v1", "source": "ftp"}], "source 'ftp' is not one of rclone, nfs, local, stream"),
        ([{"name": "a", "version": "v1", "allow_missing": ["config"]}], "allow_missing has config"),
        ([{"name": "a", "version": "v1", "allow_missing": "tokenizer"}], "not a list of strings"),
        ([{"name": "A.b", "version": "v1"}, {"name": "a_B", "version": "v2"}], "'A.b' and 'a_B' both become 'a-b'"),
        ([{"name": "a", "version": "v1"}, {"name": "a", "version": "v2"}], "'a' and 'a' both become 'a'"),
    ],
)
def test_unusable_inventory_is_refused_by_name(models: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve_models(models)


@pytest.mark.parametrize("root", ["", "/", "weights"])
def test_weights_root_must_be_absolute(root: str) -> None:
    with pytest.raises(ValueError, match="weights root"):
        resolve_models([{"name": "a", "version": "v1"}], weights_root=root)
