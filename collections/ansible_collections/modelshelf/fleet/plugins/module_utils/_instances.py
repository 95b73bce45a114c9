# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory says about the instances of a host, checked, with every derived name filled in.

Raises ValueError whose message names the offending entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._models import (
    WEIGHTS_ROOT,
    check_keys,
    entries,
    resolve_models,
    strings,
)

_KEYS = ("name", "model", "port", "gpus", "args", "served_names", "environment")
_OWNED_ARGUMENTS = ("model", "model-tag", "host", "port", "served-model-name", "config", "api-key")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def resolve_instances(
    instances: Any,
    models: Any,
    *,
    address: str,
    weights_root: str = WEIGHTS_ROOT,
    arguments: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Every instance of a host with its model's names, its vLLM configuration and its environment.

    `address` is what vLLM binds to and what the gate asks; `arguments` are vLLM options for all instances, which an
    instance's own `args` override. Refuses unknown models, and names or ports that occur twice.
    """
    if not address:
        raise ValueError("the address that instances listen on is empty")
    shelf = resolve_models(models, weights_root)
    common = _vllm_arguments("the common vLLM arguments", arguments)
    resolved: list[dict[str, Any]] = []
    for entry in entries("modelshelf_instances", instances):
        where = f"modelshelf_instances: {entry.get('name', entry)!r}"
        check_keys(where, entry, _KEYS, required=("name", "model", "port"))
        name, port = str(entry["name"]), _port(where, entry["port"])
        if not _NAME.fullmatch(name):
            raise ValueError(f"{where}: a name has 1 to 63 characters of a-z 0-9 -, the first no dash")
        for other in resolved:
            if other["name"] == name:
                raise ValueError(f"{where}: two instances have this name, on ports {other['port']} and {port}")
            if other["port"] == port:
                raise ValueError(f"modelshelf_instances: {other['name']!r} and {name!r} both have port {port}")
        model = _model_of(where, entry["model"], shelf)
        weights_path = f"{model['mountpoint']}/{model['version']}"
        served_names = _served_names(where, entry.get("served_names"), model["name"])
        gpus = _gpus(where, entry.get("gpus"))
        config = {
            "model": weights_path,
            "served-model-name": served_names,
            "host": str(address),
            "port": port,
            # vLLM prefetches by itself on nfs only; through a FUSE mount its lazy reads are five times slower.
            **({"safetensors-load-strategy": "eager"} if model["source"] == "rclone" else {}),
            **common,
            **_vllm_arguments(f"{where}: args", entry.get("args")),
        }
        resolved.append(
            {
                "name": name,
                "unit": f"modelshelf-vllm@{name}.service",
                "model": model["slug"],
                "display_name": model["name"],
                "version": model["version"],
                "source": model["source"],
                "weights_unit": model["unit"],
                "mountpoint": model["mountpoint"],
                "weights_path": weights_path,
                "address": str(address),
                "port": port,
                "gpus": gpus,
                "served_names": served_names,
                "config": config,
                "environment": _environment(where, entry.get("environment"), gpus),
            }
        )
    return resolved


def _port(where: str, value: Any) -> int:
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        raise ValueError(f"{where}: the port {value!r} is not a number from 1 to 65535")
    return int(text)


def _model_of(where: str, name: Any, shelf: Sequence[dict[str, Any]]) -> dict[str, Any]:
    for model in shelf:
        if name == model["name"]:
            return model
    known = ", ".join(model["name"] for model in shelf) or "none"
    raise ValueError(f"{where}: the model {name!r} is not in modelshelf_models, which has: {known}")


def _served_names(where: str, value: Any, display_name: str) -> list[str]:
    if value is None or value == "" or value == []:
        value = [display_name]
    names = [str(value)] if isinstance(value, str) else strings(where, "served_names", value)
    for name in names:
        if not name or re.search(r"\s", name):
            raise ValueError(
                f"{where}: the served name {name!r} has blanks in it: clients would see one odd name."
                " Write a list in served_names for several names"
            )
    if len(set(names)) != len(names):
        raise ValueError(f"{where}: served_names has a name twice: {', '.join(names)}")
    return names


def _gpus(where: str, value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise ValueError(f"{where}: gpus is not a list: {value!r}")
    gpus = [gpu if isinstance(gpu, int) else str(gpu) for gpu in value]
    for gpu in gpus:
        if isinstance(gpu, bool) or not re.fullmatch(r"[A-Za-z0-9-]+", str(gpu)) or str(gpu).startswith("-"):
            raise ValueError(f"{where}: the GPU {gpu!r} is neither an index nor a device's UUID")
    if len({str(gpu) for gpu in gpus}) != len(gpus):
        raise ValueError(f"{where}: gpus names a device twice: {gpus}")
    return gpus


def _vllm_arguments(where: str, value: Any) -> dict[str, Any]:
    """vLLM options under their own names, with dashes. Refuses those that other keys of the inventory set."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{where}: not a mapping of vLLM option names: {value!r}")
    options: dict[str, Any] = {}
    for key, content in value.items():
        name = str(key).replace("_", "-")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name):
            raise ValueError(f"{where}: {key!r} is not the name of a vLLM option (written without dashes in front)")
        if name in _OWNED_ARGUMENTS:
            raise ValueError(f"{where}: {key!r} is set by the instance's own keys; remove it")
        if name in options:
            raise ValueError(f"{where}: {name!r} is there twice, with dashes and with underscores")
        options[name] = content
    return options


def _environment(where: str, value: Any, gpus: Sequence[Any]) -> dict[str, str]:
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"{where}: environment is not a mapping")
    environment: dict[str, str] = {}
    for key, content in (value or {}).items():
        if not _VARIABLE.fullmatch(str(key)):
            raise ValueError(f"{where}: {key!r} cannot be the name of an environment variable")
        if isinstance(content, bool) or not isinstance(content, (str, int, float)):
            raise ValueError(f"{where}: the value of the environment variable {key} is not a string")
        environment[str(key)] = str(content)
    if gpus:
        if "CUDA_VISIBLE_DEVICES" in environment:
            raise ValueError(f"{where}: gpus and CUDA_VISIBLE_DEVICES both choose devices; keep gpus")
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(gpu) for gpu in gpus)
    return environment
