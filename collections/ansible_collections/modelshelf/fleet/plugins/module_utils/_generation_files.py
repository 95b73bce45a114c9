# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of a generation: vLLM's configuration file and systemd's environment file. Standard library, Python 3.9."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNSAFE_IN_YAML = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
_SECRET_OPTIONS = ("api-key", "hf-token")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)


def vllm_yaml(config: Mapping[str, Any]) -> str:
    """The text of a file for `vllm serve --config`, with every value exactly as given.

    It is JSON, which is YAML too. Raises ValueError that names an option whose value cannot be in such a file, and one
    that would put a secret into it: the file can be read by everybody.
    """
    for option, value in config.items():
        if option.replace("_", "-") in _SECRET_OPTIONS:
            raise ValueError(f"config: {option} is a secret: give it as VLLM_API_KEY or HF_TOKEN in the environment")
        if value is None:
            raise ValueError(f"config: {option} has no value: leave it out to get vLLM's default")
    lines = ",\n".join(f"  {_text(option)}: {_scalar(option, config[option])}" for option in sorted(config))
    return f"{{\n{lines}\n}}\n"


def parse_vllm_yaml(text: str) -> dict[str, Any]:
    """The configuration in a text made by `vllm_yaml`; an empty one when the text is something else."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def env_file(environment: Mapping[str, Any]) -> str:
    """The text of an EnvironmentFile= from which systemd reads every value exactly as given.

    Raises ValueError that names a variable whose name or value systemd would not take; the value is not in the message.
    """
    return "".join(f"{name}={_quoted(name, environment[name])}\n" for name in sorted(environment))


def env_values(text: str) -> dict[str, str]:
    """The variables in a text made by `env_file`, values still quoted: good for comparing, not for showing."""
    return {match.group(1): match.group(2) for match in re.finditer(r'^(\w+)=("(?:[^"\\]|\\.)*")$', text, re.M | re.S)}


def plain_env_values(text: str) -> dict[str, str]:
    """The variables in a text made by `env_file`, with their values as the server gets them."""
    return {name: re.sub(r'\\(["\\`$])', r"\1", quoted[1:-1]) for name, quoted in env_values(text).items()}


def secret_values(environment: Mapping[str, Any]) -> set[str]:
    """The values that must not be shown by accident, judged by the names of their variables."""
    return {str(value) for name, value in environment.items() if _SECRET_NAME.search(name) and len(str(value)) > 5}


def _quoted(name: str, value: Any) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError(f"environment: {name!r} is not a name of a variable: letters, digits and _, no digit first")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"environment: {name} is of type {type(value).__name__}: write a string, in quotes")
    text = str(value)
    if any((ord(character) < 0x20 and character not in "\t\n") or ord(character) == 0x7F for character in text):
        raise ValueError(f"environment: the value of {name} has a control character, which systemd does not accept")
    if any(0xD800 <= ord(character) < 0xE000 for character in text):
        raise ValueError(f"environment: the value of {name} is not UTF-8, which systemd does not accept")
    # Within double quotes systemd takes a backslash away before these four and nothing else (env-file.c).
    return '"' + re.sub(r'(["\\`$])', r"\\\1", text) + '"'


def _scalar(option: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(str(key))}: {_scalar(option, item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_scalar(option, item) for item in value) + "]"
    if isinstance(value, float):
        return _float(option, value)
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    return _text(str(value))


def _float(option: str, value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"config: {option} has the value {value}, which no number in a configuration can be")
    # YAML 1.1 takes 1e-07 for a string: a number there needs a point.
    mantissa, e, exponent = repr(value).partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else repr(value)


def _text(value: str) -> str:
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNSAFE_IN_YAML.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)
