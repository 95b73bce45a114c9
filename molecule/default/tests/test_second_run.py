# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on the converged fleet change nothing, touch only what is asked for, and refuse what does not exist."""

from __future__ import annotations

import re

import pytest

from tests.support.fleet import ADDRESSES, SERVING, host, play
from tests.support.serving import pids

TAGS = "store access publish mount engine stage serve verify swap".split()


def logins(name: str) -> int:
    return int(host(name).check_output("journalctl --quiet --output=cat --unit ssh | grep -c '^Accepted' || true"))


def test_a34_check_mode_on_the_converged_fleet_finds_nothing_to_change() -> None:
    before = pids(*SERVING)
    run = play("--check", "--diff")
    assert (run.status, run.changed()) == (0, {})
    assert pids(*SERVING) == before


def test_limit_to_one_host_leaves_the_others_alone() -> None:
    before, visits = pids(*SERVING), logins("gpu2")
    run = play("--limit=gpu1", "-vvv")
    assert (run.status, run.changed()) == (0, {})
    assert list(run.recap) == ["gpu1"]
    assert f"<{ADDRESSES['gpu1']}>" in run.output
    assert f"<{ADDRESSES['gpu2']}>" not in run.output
    assert logins("gpu2") == visits
    assert pids(*SERVING) == before


@pytest.mark.parametrize("tag", TAGS)
def test_every_tag_works_alone(tag: str) -> None:
    run = play(f"--tags={tag}")
    assert (run.status, run.changed()) == (0, {})
    # More than the three tasks that look at the request itself.
    assert any(counts["ok"] > 1 for counts in run.recap.values()), run.output


@pytest.mark.parametrize("arguments", [["--tags=nosuch"], ["--tags=serve,nosuch"], ["--skip-tags=nosuch"]])
def test_unknown_tag_is_refused_and_the_known_ones_named(arguments: list[str]) -> None:
    run = play(*arguments)
    assert run.status != 0
    assert "no step has the tag nosuch" in run.output
    for tag in TAGS:
        assert tag in run.output.partition("known are")[2]


@pytest.mark.parametrize("limit", ["gpu1,nosuch", "gpu1:!nosuch", "gpu:&nosuch,gpu2"])
def test_unknown_limit_is_refused_and_the_known_ones_named(limit: str) -> None:
    run = play(f"--limit={limit}")
    assert run.status != 0
    before, _, after = " ".join(run.output.split()).partition("matches no host")
    assert re.search(r"the limit (gpu:&)?nosuch $", before), run.output
    for name in (*ADDRESSES, "store", "gpu"):
        assert name in after, run.output


def test_limit_that_leaves_no_host_is_refused() -> None:
    """Ansible itself ends this one before anything is read."""
    run = play("--limit=nosuch")
    assert run.status != 0
    assert "nosuch" in run.output
