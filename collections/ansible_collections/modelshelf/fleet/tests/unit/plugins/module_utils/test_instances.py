# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._instances import resolve_instances

MODELS = [{"name": "Qwen/Qwen2-7B", "version": "v3"}, {"name": "opt", "version": "v1", "source": "nfs"}]


def resolve(*instances: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    entries = [{"name": "main", "model": "opt", "port": 8000, **instance} for instance in instances]
    return resolve_instances(entries, MODELS, **{"address": "10.0.0.21", **options})


def test_every_name_is_derived() -> None:
    (instance,) = resolve({"model": "Qwen/Qwen2-7B", "gpus": [0, 1], "args": {"max_model_len": 4096}})
    assert instance == {
        "name": "main",
        "unit": "modelshelf-vllm@main.service",
        "model": "qwen-qwen2-7b",
        "display_name": "Qwen/Qwen2-7B",
        "version": "v3",
        "source": "rclone",
        "weights_unit": "modelshelf-weights-qwen-qwen2-7b.service",
        "mountpoint": "/srv/modelshelf/weights/qwen-qwen2-7b",
        "weights_path": "/srv/modelshelf/weights/qwen-qwen2-7b/v3",
        "address": "10.0.0.21",
        "port": 8000,
        "gpus": [0, 1],
        "served_names": ["Qwen/Qwen2-7B"],
        "config": {
            "model": "/srv/modelshelf/weights/qwen-qwen2-7b/v3",
            "served-model-name": ["Qwen/Qwen2-7B"],
            "host": "10.0.0.21",
            "port": 8000,
            "safetensors-load-strategy": "eager",
            "max-model-len": 4096,
        },
        "environment": {"CUDA_VISIBLE_DEVICES": "0,1"},
    }


@pytest.mark.parametrize("nothing", [None, []])
def test_a32_no_instances_is_an_empty_list(nothing: object) -> None:
    assert resolve_instances(nothing, MODELS, address="a") == []


def test_own_arguments_win_over_common_ones() -> None:
    common = {"dtype": "float32", "max-model-len": 256}
    (instance,) = resolve({"args": {"max_model_len": 512, "safetensors_load_strategy": "lazy"}}, arguments=common)
    assert instance["config"]["max-model-len"] == 512
    assert instance["config"]["dtype"] == "float32"
    assert instance["config"]["safetensors-load-strategy"] == "lazy"


def test_load_strategy_is_chosen_for_rclone_alone() -> None:
    (instance,) = resolve({})
    assert "safetensors-load-strategy" not in instance["config"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["qwen", "qwen-v2"], ["qwen", "qwen-v2"]),
        ("qwen", ["qwen"]),
        (None, ["opt"]),
        ("", ["opt"]),
        ([], ["opt"]),
    ],
)
def test_a27_served_names(given: object, names: list[str]) -> None:
    (instance,) = resolve({"served_names": given})
    assert instance["served_names"] == names
    assert instance["config"]["served-model-name"] == names


@pytest.mark.parametrize("given", ["qwen qwen-v2", ["a b"], [""], ["a", "a"], [1], {"a": 1}])
def test_a27_odd_served_names_are_refused(given: object) -> None:
    with pytest.raises(ValueError, match=r"main.*served"):
        resolve({"served_names": given})


def test_environment_values_become_strings() -> None:
    (instance,) = resolve({"environment": {"A": 1, "B": "x y"}, "gpus": ["GPU-1f"]})
    assert instance["environment"] == {"A": "1", "B": "x y", "CUDA_VISIBLE_DEVICES": "GPU-1f"}


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        ({"name": "Main"}, "a-z 0-9 -"),
        ({"name": "-a"}, "a-z 0-9 -"),
        ({"model": "nope"}, "model 'nope' is not in modelshelf_models, which has: Qwen/Qwen2-7B, opt"),
        ({"port": 0}, "port 0"),
        ({"port": "80a"}, "port '80a'"),
        ({"port": 65536}, "65536"),
        ({"port": True}, "True"),
        ({"port": None}, "port is missing"),
        ({"gpu": [0]}, "unknown key gpu"),
        ({"gpus": "0,1"}, "gpus is not a list"),
        ({"gpus": [0, "0"]}, "twice"),
        ({"gpus": [-1]}, "GPU -1"),
        ({"gpus": [0], "environment": {"CUDA_VISIBLE_DEVICES": "1"}}, "both choose devices"),
        ({"args": ["--dtype"]}, "not a mapping"),
        ({"args": {"--dtype": "auto"}}, "'--dtype' is not the name"),
        ({"args": {"max-model-len": 1, "max_model_len": 2}}, "'max-model-len' is there twice"),
        ({"environment": {"A B": "x"}}, "'A B' cannot be the name"),
        ({"environment": {"A": None}}, "environment variable A"),
        ({"environment": {"A": True}}, "environment variable A"),
        ({"environment": ["A=1"]}, "not a mapping"),
    ],
)
def test_unusable_instance_is_refused_by_name(instance: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve(instance)


@pytest.mark.parametrize(
    "argument", ["model", "host", "port", "served-model-name", "served_model_name", "config", "api_key"]
)
def test_arguments_that_the_product_owns_are_refused(argument: str) -> None:
    with pytest.raises(ValueError, match=f"'{argument}' is set by"):
        resolve({"args": {argument: "x"}})
    with pytest.raises(ValueError, match=f"'{argument}' is set by"):
        resolve({}, arguments={argument: "x"})


def test_same_port_names_both_instances() -> None:
    with pytest.raises(ValueError, match="'a' and 'b' both have port 8000"):
        resolve({"name": "a"}, {"name": "b", "port": "8000"})


def test_same_name_names_both_ports() -> None:
    with pytest.raises(ValueError, match="two instances have this name, on ports 8000 and 8001"):
        resolve({}, {"port": 8001})


def test_address_is_needed() -> None:
    with pytest.raises(ValueError, match="address"):
        resolve({}, address="")
