# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of `vllm serve --config FILE`: the file has to be JSON, which is YAML too."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OPTIONS = frozenset(
    "model served-model-name host port api-key shutdown-timeout max-model-len max-num-seqs dtype enforce-eager"
    " kv-cache-memory-bytes gpu-memory-utilization tensor-parallel-size pipeline-parallel-size data-parallel-size"
    " safetensors-load-strategy load-format model-loader-extra-config chat-template tokenizer seed swap-space"
    " quantization kv-cache-dtype enable-prefix-caching max-num-batched-tokens trust-remote-code block-size"
    " enable-auto-tool-choice tool-call-parser reasoning-parser disable-log-stats disable-uvicorn-access-log"
    " uvicorn-log-level generation-config enable-lora lora-modules api-server-count".split()
)


class Usage(Exception):
    """A command line or a file that argparse refuses: the text goes to standard error, the exit status is 2."""


@dataclass(frozen=True)
class Config:
    """What is served and where. `shutdown_timeout` is in seconds, `seats` is how many sequences run at once."""

    model: str
    served_names: tuple[str, ...]
    host: str
    port: int
    api_keys: tuple[str, ...]
    shutdown_timeout: int
    max_model_len: int | None
    seats: int
    access_log: bool


def read_config(path: Path, api_key: str) -> Config:
    """The configuration in a file; `api_key` is VLLM_API_KEY, which holds unless the file has keys. Raises Usage."""
    try:
        data = json.loads(path.read_text())
    except OSError as error:
        raise Usage(f"vllm: error: {error}") from None
    except ValueError as error:
        raise Usage(f"vllm: error: the double reads JSON alone, and {path} is none: {error}") from None
    given: dict[str, Any] = {str(name).replace("_", "-"): value for name, value in data.items()}
    if unknown := sorted(set(given) - OPTIONS):
        raise Usage("vllm: error: unrecognized arguments: " + " ".join(f"--{name} {given[name]}" for name in unknown))
    model = str(given.get("model", ""))
    names = given.get("served-model-name") or [model]
    keys = given.get("api-key") or [api_key]
    try:
        return Config(
            model=model,
            served_names=tuple(names) if isinstance(names, list) else (str(names),),
            host=str(given.get("host") or "0.0.0.0"),
            port=int(given.get("port", 8000)),
            api_keys=tuple(filter(None, keys if isinstance(keys, list) else [str(keys)])),
            shutdown_timeout=int(given.get("shutdown-timeout", 0)),
            max_model_len=int(given["max-model-len"]) if "max-model-len" in given else None,
            seats=int(given.get("max-num-seqs", 128)),
            access_log=not given.get("disable-uvicorn-access-log", False),
        )
    except ValueError as error:
        raise Usage(f"vllm: error: argument: {error}") from None
