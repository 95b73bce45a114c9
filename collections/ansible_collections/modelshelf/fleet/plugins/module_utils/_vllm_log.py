# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a vLLM server did not start, from its log.

vLLM exits with 1 whatever the reason, and its last lines are generic (`Engine core initialization failed. See root
cause above`): so the log is searched from its end upward. Texts are those of vLLM 0.32.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A known reason: what happened, what to do about it, and the line of the log that says so."""

    what: str
    advice: str
    line: str

    def __str__(self) -> str:
        return f"{self.what}. {self.advice}. The log says: {self.line}"


_WEIGHTS = "Run weights_verify (tag mount), and look at the unit of the mount"
_PUBLISH = "Publish the complete model under a new version"
_SPECIFIC = (
    (
        r"modelshelf: weights are not mounted",
        "the weights are not there, so the unit did not start vLLM",
        _WEIGHTS,
    ),
    (
        r"HFValidationError|Repo id must be in the form",
        "the directory of the weights does not exist or its mount is dead, so vLLM took its path for a hub name",
        _WEIGHTS,
    ),
    (
        r"Invalid repository ID or local directory specified",
        "the directory of the weights is empty or has no config.json",
        _WEIGHTS,
    ),
    (r"Cannot find any model weights with", "the directory has no weight files", _PUBLISH),
    (r"Weight files referenced in index but missing", "a shard that the index names is missing", _PUBLISH),
    (r"Error while deserializing header", "a weight file is truncated or empty", _PUBLISH),
    (r"Couldn't instantiate the backend tokenizer", "the directory has no usable tokenizer", _PUBLISH),
    (
        r"\[Errno 98\]|Address already in use",
        "another process listens on the port",
        "Stop that process, or give the instance another port",
    ),
    (
        r"Insufficient space in /dev/shm",
        "/dev/shm is too small",
        "Make it larger (a container needs --shm-size or --ipc=host)",
    ),
    (
        r"No usable temporary directory found",
        "there is no writable temporary directory",
        "Give the unit PrivateTmp=yes, or a writable /tmp",
    ),
    (
        r"Unsupported CPU attention configuration",
        "the CPU engine does not support this model's head size",
        "Serve it on a GPU, or choose another model",
    ),
    (
        r"unrecognized arguments|error: argument |ValueError: .*[Uu]nknown (?:option|argument)",
        "vLLM does not know an argument, or not its value",
        "Correct the instance's args",
    ),
    (
        r"User-specified max_model_len .* is greater than|max seq len .* is larger than the maximum number of tokens",
        "max-model-len is larger than the model or the memory allows",
        "Lower max-model-len",
    ),
    (
        r"Available memory on node .* less than desired|Free memory on device .* less than desired",
        "less memory is free than gpu-memory-utilization asks for",
        "Lower gpu-memory-utilization, set kv-cache-memory-bytes, or stop what holds the memory",
    ),
    (
        r"No available memory for the cache blocks|OutOfMemoryError|CUDA out of memory|Not enough memory",
        "there is not enough memory for this model and its cache",
        "Lower max-model-len, or use more or larger GPUs",
    ),
    (
        r"World size .* is larger than|parallel size .* cannot be larger than|No CUDA GPUs are available",
        "there are fewer GPUs than the parallel sizes need",
        "Lower the parallel sizes, or give the instance more GPUs",
    ),
    (
        r"Failed to infer device type|libcuda\.so|NVIDIA driver",
        "the engine found no usable device",
        "Check the driver, and that the engine was built for this hardware",
    ),
    (
        r"Timed out waiting for engine|did not (?:start|become ready) within",
        "the engine was not ready within vLLM's own limit",
        "Raise the start budget, which also sets VLLM_ENGINE_READY_TIMEOUT_S",
    ),
    (
        r"cannot open shared object file",
        "a system library that the engine needs is not on the host",
        "Install the package that has it (vllm_system_packages)",
    ),
    (r"Failed (?:at step EXEC|to execute)|status=203", "the engine's program cannot be run", "Install the engine"),
)
_GENERAL = (
    (
        r"^\s*Value error, ",
        "vLLM refuses this configuration",
        "Correct the instance's args",
    ),
    (
        r"Read-only file system",
        "something was written where the unit may not write",
        "Point the caches of the instance into its cache directory",
    ),
    (r"Permission denied", "the user of the service may not read or write something", "Correct its owner or mode"),
    (r"Input/output error", "reading the weights failed: the store does not answer, or refuses the key", _WEIGHTS),
    (r"No such file or directory", "a file is missing", "Look at the log"),
    (r"(?:ModuleNotFound|Import)Error", "the engine's installation is incomplete", "Install the engine again"),
)

_SECRETS = (
    re.compile(r"(api[_-]?key[\"']?\s*[:= ]\s*)(\[[^\]]*\]|\"[^\"]*\"|'[^']*'|[^\s,}]+)", re.IGNORECASE),
    re.compile(r"(\bbearer\s+)(\S+)", re.IGNORECASE),
    re.compile(r"(\b)(hf_[A-Za-z0-9]{20,})"),
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ORIGIN = re.compile(r"^(?:\(\w+ pid=\d+\) )?(?:ERROR [\d-]+ [\d:]+ \[[^\]]+\] )?")
_HARMLESS = re.compile(r"\b(?:DEBUG|INFO|WARNING) \d\d-\d\d ")
"""vLLM repeats its whole configuration in lines of these levels, with every word in it."""
_NOISE = re.compile(r"^INFO:\s+\S+ - \"|\] Route: ")
_LONGEST = 400


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets and without what looks like a key or a token."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    for pattern in _SECRETS:
        text = pattern.sub(r"\1***", text)
    return text


def explain(lines: Sequence[str], secrets: Iterable[str] = ()) -> Cause | None:
    """The last known cause in a log, None when nothing in it is known."""
    hidden = tuple(secrets)
    for table in (_SPECIFIC, _GENERAL):
        for line in (line for line in reversed(lines) if not _HARMLESS.search(line)):
            for pattern, what, advice in table:
                if re.search(pattern, line):
                    return Cause(what, advice, _ORIGIN.sub("", _readable(line, hidden)).strip())
    return None


def tail(lines: Sequence[str], count: int = 15, secrets: Iterable[str] = ()) -> list[str]:
    """The last `count` lines that say more than what can be or was asked for, fit to be shown."""
    hidden = tuple(secrets)
    return [_readable(line, hidden) for line in lines if line.strip() and not _NOISE.search(line)][-count:]


def _readable(line: str, secrets: Iterable[str]) -> str:
    return scrub(_COLOUR.sub("", line).strip(), secrets)[:_LONGEST]
