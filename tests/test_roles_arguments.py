# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every role's defaults and its argument_specs say the same, and every default is explained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROLES = sorted(path for path in (Path(__file__).resolve().parents[1] / "roles").iterdir() if path.is_dir())
# Not of one role alone: for all of a play.
SHARED = ("modelshelf_", "rollback_")
SECRET = re.compile(r"_secret_key$|_api_key$|_password$")

pytestmark = pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def options_of(role: Path) -> dict[str, Any]:
    return load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]


def test_defaults_and_arguments_are_the_same_set(role: Path) -> None:
    own = {name for name in options_of(role) if not name.startswith(SHARED)}
    assert set(load(role / "defaults" / "main.yml")) == own


def test_every_variable_has_the_name_of_its_role(role: Path) -> None:
    assert all(name.startswith(f"{role.name}_") for name in load(role / "defaults" / "main.yml"))
    internals = role / "vars" / "main.yml"
    if internals.exists():
        assert all(name.startswith(f"__{role.name}_") for name in load(internals))


def test_documented_defaults_are_the_defaults(role: Path) -> None:
    options = options_of(role)
    for name, value in load(role / "defaults" / "main.yml").items():
        if "{{" in str(value):
            assert "default" not in options[name], f"{name} is computed: its default is told in the description"
        else:
            assert options[name]["default"] == value, name


def test_no_argument_without_a_default_is_optional_by_accident(role: Path) -> None:
    defaults = load(role / "defaults" / "main.yml")
    for name, option in options_of(role).items():
        if name not in defaults:
            assert option.get("required") or "default" in option, name


def test_secrets_are_marked(role: Path) -> None:
    for name, option in options_of(role).items():
        assert bool(SECRET.search(name)) == bool(option.get("no_log")), name


def test_every_default_is_explained_by_a_comment(role: Path) -> None:
    lines = (role / "defaults" / "main.yml").read_text(encoding="utf-8").splitlines()
    previous = ""
    for line in lines:
        if re.match(r"\w+:", line):
            same_subject = re.match(r"\w+:", previous) is not None
            assert previous.startswith("#") or same_subject, f"no comment above {line}"
        previous = line


def test_shared_variables_have_one_shape(role: Path) -> None:
    full: dict[str, Any] = {}
    for other in ROLES:
        for name, option in options_of(other).items():
            if name.startswith(SHARED) and "options" in option:
                full.setdefault(name, option)
    for name, option in options_of(role).items():
        if name.startswith(SHARED) and "options" in option:
            assert option["options"] == full[name]["options"], name
