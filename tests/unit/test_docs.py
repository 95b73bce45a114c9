# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages say what is there: links, paths, make targets and tags that they name exist, the variables are current."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from docs.generate_variables import PAGE, render

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OWN_FOLDERS = ("roles/", "playbooks/", "inventories/", "docs/", "benchmarks/")


def code(text: str) -> str:
    """What a page shows as code, in blocks and in lines."""
    blocks = re.findall(r"^```.*?^```", text, re.M | re.S)
    return "\n".join([*blocks, *spans(text)])


def spans(text: str) -> list[str]:
    """The code within lines of a page."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def anchors(text: str) -> set[str]:
    """What links can name in a page: its headings, as GitHub writes them in addresses."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(params=PAGES, ids=lambda path: path.name)
def page(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_variables_are_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run .venv/bin/python docs/generate_variables.py"


def test_every_role_is_in_the_variables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for defaults in ROOT.glob("roles/*/defaults/main.yml"):
        for name in yaml.safe_load(defaults.read_text(encoding="utf-8")) or {}:
            assert f"- `{name}` (" in text, f"{name} of {defaults.relative_to(ROOT)} is in no argument_specs.yml"


def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {link}"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{page.name} links to {link}"


def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", code(page.read_text(encoding="utf-8"))))
    assert named <= targets


def test_named_files_exist(page: Path) -> None:
    for span in spans(page.read_text(encoding="utf-8")):
        if span.startswith(OWN_FOLDERS) and not re.search(r"[<*\s]", span):
            assert (ROOT / span).exists(), f"{page.name} names {span}"


def test_tags_exist(page: Path) -> None:
    preflight = yaml.safe_load((ROOT / "playbooks" / "preflight.yml").read_text(encoding="utf-8"))
    known = set(preflight[0]["vars"]["known_tags"])
    named = re.findall(r"--(?:skip-)?tags[ =]([a-z_,]+)", code(page.read_text(encoding="utf-8")))
    assert {tag for tags in named for tag in tags.split(",")} <= known
