# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/variables.md from the argument specs of the roles: .venv/bin/python docs/generate_variables.py"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "variables.md"
SHARED = "modelshelf_"
"""The prefix of variables that several roles read."""

WIDTH = 118
HEAD = """\
# Variables

Written by `docs/generate_variables.py` from the `meta/argument_specs.yml` of each role; change it there.

Set variables where the hosts are that they are for: in `group_vars/all/` what the whole fleet shares, in a group's or a
host's file what differs. Secrets belong into a file that `ansible-vault` encrypts.
"""
SHARED_HEAD = "What the fleet is made of. Several roles read these; a name in brackets is such a role."


def options_of(role: Path) -> dict[str, Any]:
    """The options in a role's specification, with the expressions of its defaults where the specification has none."""
    spec = yaml.safe_load((role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]["main"]
    defaults = yaml.safe_load((role / "defaults" / "main.yml").read_text(encoding="utf-8")) or {}
    return {name: {"default": defaults.get(name), **option} for name, option in spec["options"].items()}


def summary_of(role: Path) -> str:
    """What a role does, from its specification."""
    spec = yaml.safe_load((role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]["main"]
    return " ".join([spec["short_description"] + ".", *_texts(spec.get("description", []))])


def shared_options(roles: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Mapping[str, Any], list[str]]]:
    """Name -> the fullest description of a shared variable, and the roles that read it."""
    found: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for role, options in roles.items():
        for name, option in options.items():
            if name.startswith(SHARED):
                best, readers = found.get(name, (option, []))
                fuller = option if "options" in option and "options" not in best else best
                found[name] = (fuller, [*readers, role])
    return dict(sorted(found.items()))


def render(root: Path = ROOT) -> str:
    """The text of the page."""
    folders = sorted(path.parent.parent for path in root.glob("roles/*/meta/argument_specs.yml"))
    roles = {folder.name: options_of(folder) for folder in folders}
    parts = [HEAD, "## Data of the fleet\n", SHARED_HEAD + "\n"]
    for name, (option, readers) in shared_options(roles).items():
        parts.append("\n".join(_lines(name, option, readers)) + "\n")
    for folder in folders:
        own = {name: option for name, option in roles[folder.name].items() if not name.startswith(SHARED)}
        parts.append(f"## Role {folder.name}\n")
        parts.append("\n".join(_wrapped(_plain(summary_of(folder)))) + "\n")
        parts.append("\n".join(line for name, option in own.items() for line in _lines(name, option)) + "\n")
    return "\n".join(parts)


def _lines(name: str, option: Mapping[str, Any], readers: list[str] | None = None, depth: int = 0) -> list[str]:
    traits = [_type(option)]
    if option.get("required"):
        traits.append("required")
    elif option.get("default") is not None:
        traits.append(f"default `{_value(option['default'])}`")
    if option.get("choices"):
        traits.append("one of " + ", ".join(f"`{choice}`" for choice in option["choices"]))
    if option.get("no_log"):
        traits.append("secret")
    text = " ".join(_texts(option.get("description", [])))
    text += f" [{', '.join(readers)}]" if readers else ""
    indent = "  " * depth
    lines = _wrapped(f"- `{name}` ({', '.join(traits)}): {_plain(text)}", indent, indent + "  ")
    for key, inner in option.get("options", {}).items():
        lines += _lines(key, inner, depth=depth + 1)
    return lines


def _wrapped(text: str, first: str = "", other: str = "") -> list[str]:
    """The lines of `text`, none of which ends within a code span."""
    joined = re.sub(r"`[^`]*`", lambda span: span.group().replace(" ", "\0"), text)
    lines = textwrap.wrap(
        joined, WIDTH, initial_indent=first, subsequent_indent=other, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\0", " ") for line in lines]


def _type(option: Mapping[str, Any]) -> str:
    kind = {"raw": "any type", "str": "string", "int": "integer", "dict": "mapping"}
    inner = option.get("elements")
    name = str(option.get("type", "str"))
    return f"list of {kind.get(inner, inner)}s" if inner not in (None, "raw") else kind.get(name, name)


def _value(value: Any) -> str:
    """A default on one line: strings as they are, the rest as YAML."""
    if isinstance(value, str):
        return value or "''"
    return str(yaml.safe_dump(value, default_flow_style=True, width=10_000)).removesuffix("...\n").strip()


def _texts(description: Any) -> list[str]:
    return [description] if isinstance(description, str) else list(description)


def _plain(text: str) -> str:
    """Ansible's markup as Markdown: names and values of all kinds become code."""
    return re.sub(r"\b[CVOEIB]\(((?:[^()]|\([^()]*\))*)\)", r"`\1`", text)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
