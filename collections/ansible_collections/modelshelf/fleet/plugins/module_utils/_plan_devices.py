# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the GPUs of a host are enough for its instances, before anything is stopped.

Sizes multiply: an engine has tensor x pipeline x prefill-context ranks (vLLM's ParallelConfig), once for each data
parallel rank, and every rank takes a GPU of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._amounts import whole
from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_input import MOVE, Findings, Host, Step

DEFAULT_SHARE = 0.92
"""The default of gpu-memory-utilization in vLLM 0.32; older releases have 0.9."""

_SIZES = ("tensor-parallel-size", "pipeline-parallel-size", "prefill-context-parallel-size", "data-parallel-size")
_HINT = "which is not supported: give every host an instance of its own"


@dataclass(frozen=True)
class _Use:
    """The GPUs that an instance takes, and the share of their memory; None when it sets its cache in bytes."""

    step: Step
    devices: tuple[str, ...]
    share: float | None


def check_devices(host: Host, findings: Findings) -> None:
    """Refuse what cannot start on the GPUs of the host, and note what is left unused or shared."""
    uses = []
    for step in host.steps:
        try:
            use = _use(host, step)
        except ValueError as error:
            if step.fate == MOVE:
                findings.refusals.append(f"{host.name}: {step.name}: {error}")
            continue
        if use is not None:
            uses.append(use)
    if host.moves:
        _check_sharing(host, uses, findings)
        _note_devices(host, uses, findings)


def _use(host: Host, step: Step) -> _Use | None:
    """The GPUs that an instance takes, None when that cannot be known or it needs none."""
    config: Mapping[str, Any] = step.instance.get("config") or {}
    sizes = [whole(name, config.get(name, 1), least=1) for name in _SIZES]
    _check_one_host(config, sizes[-1])
    needed = 1
    for size in sizes:
        needed *= size
    if host.cpu or (host.devices == () and host.cpu is None and needed == 1 and not _named(step)):
        return None
    visible = _visible(host, step)
    if visible is None:
        return None
    if len(visible) < needed:
        product = " x ".join(
            f"{name.replace('-parallel-size', '')} {size}" for name, size in zip(_SIZES, sizes) if size > 1
        )
        raise ValueError(
            f"needs {needed} GPU{'s' * (needed > 1)} ({product or 'no parallel size is set'}), available are"
            f" {len(visible)} ({_origin(host, step)}). Lower the sizes or give it more GPUs"
        )
    share = None if config.get("kv-cache-memory-bytes") else _share(config.get("gpu-memory-utilization"))
    return _Use(step, visible[:needed], share)


def _check_one_host(config: Mapping[str, Any], data_size: int) -> None:
    local = config.get("data-parallel-size-local")
    if local is not None and whole("data-parallel-size-local", local) != data_size:
        raise ValueError(
            f"data-parallel-size {data_size} with data-parallel-size-local {local} spreads one instance over"
            f" several hosts, {_HINT}"
        )
    if whole("nnodes", config.get("nnodes", 1), least=1) > 1:
        raise ValueError(f"nnodes {config['nnodes']} spreads one instance over several hosts, {_HINT}")
    for name in ("data-parallel-rank", "data-parallel-start-rank"):
        if data_size > 1 and config.get(name) is not None:
            raise ValueError(f"{name} makes it a part of a group of servers, {_HINT}")


def _share(value: Any) -> float:
    try:
        return DEFAULT_SHARE if value is None else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"gpu-memory-utilization is {value!r}, not a number from 0 to 1") from None


def _named(step: Step) -> list[str] | None:
    """The GPUs that the inventory names for an instance, None when it leaves the choice open."""
    text = (step.instance.get("environment") or {}).get("CUDA_VISIBLE_DEVICES")
    if text is None:
        return [str(gpu) for gpu in step.instance.get("gpus") or ()] or None
    # CUDA stops at the first that cannot be one.
    return list(takewhile(lambda part: part not in ("", "-1"), (part.strip() for part in str(text).split(","))))


def _visible(host: Host, step: Step) -> tuple[str, ...] | None:
    """The GPUs that an instance sees, by their names on the host. Raises ValueError for one that is not there."""
    named = _named(step)
    if named is None or host.devices is None:
        return host.devices if named is None else tuple(named)
    return tuple(_resolve(gpu, host.devices) for gpu in named)


def _resolve(gpu: str, devices: tuple[str, ...]) -> str:
    """CUDA takes an index, or a UUID that may be cut short. Parts of a GPU (MIG) are taken as they are."""
    indexes_only = all(device.isdigit() for device in devices)
    if gpu.isdigit():
        found = [devices[int(gpu)]] if int(gpu) < len(devices) else []
    elif gpu.startswith("MIG-") or (indexes_only and devices):
        return gpu
    else:
        found = [device for device in devices if device.startswith(gpu)]
    if len(found) != 1:
        there = ", ".join(devices) or "none"
        raise ValueError(f"the GPU {gpu} is not there: the host has {len(devices)} ({there}). Correct its gpus")
    return found[0]


def _origin(host: Host, step: Step) -> str:
    named = _named(step)
    if named is not None:
        return f"it is given {', '.join(named) or 'none'}"
    return f"all that the host has: {', '.join(host.devices or ()) or 'none'}"


def _check_sharing(host: Host, uses: list[_Use], findings: Findings) -> None:
    """Two servers can share a GPU as long as their shares of its memory fit; vLLM refuses to start otherwise."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for device in dict.fromkeys(device for use in uses for device in use.devices):
        sharing = [use for use in uses if device in use.devices]
        if len(sharing) > 1 and any(use.step.fate == MOVE for use in sharing):
            groups.setdefault(tuple(use.step.name for use in sharing), []).append(device)
    for names, devices in groups.items():
        sharing = [use for use in uses if use.step.name in names]
        shares = [
            f"{use.step.name} ({'its cache is set in bytes' if use.share is None else use.share})" for use in sharing
        ]
        what = f"{host.name}: {' and '.join(shares)} share GPU {', '.join(devices)}"
        total = round(sum(use.share or 0 for use in sharing), 6)
        if total > 1:
            findings.refusals.append(
                f"{what}: {total} of its memory is more than there is. Give them GPUs of their own by gpus,"
                " or lower their gpu-memory-utilization to 1 in sum"
            )
        else:
            findings.notices.append(what)


def _note_devices(host: Host, uses: list[_Use], findings: Findings) -> None:
    if host.cpu:
        return
    if host.devices is None:
        findings.notices.append(
            f"{host.name}: its GPUs are not known, so parallel sizes were only compared with gpus of the inventory"
        )
    elif not host.devices and host.cpu is None:
        findings.notices.append(f"{host.name}: no GPU was found; planned as a host that serves with its processors")
    else:
        used = {device for use in uses for device in use.devices}
        if uses and len(used) < len(host.devices):
            findings.notices.append(f"{host.name}: uses {len(used)} of its {len(host.devices)} GPUs")
