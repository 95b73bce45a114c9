# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dry runs of whole plays: what earlier tasks would make counts as there, and nothing else does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.matrix import READER, Bench, bench_on
from tests.contract.playing import play
from tests.contract.s3_server import Server


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server)
    yield found
    found.clear()


def figures(output: str) -> dict[str, int]:
    """The numbers of the recap."""
    return {name: int(number) for name, number in re.findall(r"(ok|changed|failed|ignored)=(\d+)", output)}


def tasks(bench: Bench, policy: str = "", user: str = "") -> list[dict[str, Any]]:
    """One of each kind; `policy` and `user` are what the later ones refer to, other than what the earlier ones make."""
    made, maker = bench.name("policy"), bench.name("user")
    return [
        {"modelshelf.fleet.rustfs_policy": {"name": made, "policy": READER}},
        {"modelshelf.fleet.rustfs_user": {"users": [{"name": maker, "policies": [policy or made]}]}},
        {"modelshelf.fleet.rustfs_group": {"name": bench.name("group"), "members": [user or maker]}},
        {
            "modelshelf.fleet.rustfs_access_key": {
                "key": bench.name("key"),
                "secret": "secret-of-a-key",
                "user": user or maker,
            }
        },
    ]


def test_a44_a_dry_run_of_a_play_finishes_and_the_real_run_does_the_same(
    bench: Bench, server: Server, tmp_path: Path
) -> None:
    before = bench.state()
    announced = play(server, tmp_path, tasks(bench), "--check")
    assert bench.state() == before
    assert figures(announced) == {"ok": 4, "changed": 4, "failed": 0, "ignored": 0}, announced
    assert "Taken for something that the same play makes first" not in announced
    done = play(server, tmp_path, tasks(bench))
    assert figures(done) == {"ok": 4, "changed": 4, "failed": 0, "ignored": 0}, done
    assert "modelshelf_dry_run" not in done
    assert figures(play(server, tmp_path, tasks(bench), "--check"))["changed"] == 0


def told(output: str) -> list[str]:
    """The lines with which the tasks say what they do: their states, their diffs, and the actions of their results."""
    lines = [line.strip() for line in output.splitlines()]
    return [line for line in lines if re.match(r"(changed|ok|fatal): |[+-](\S|  )|- (detach|remove)\b", line)]


def test_a45_a_dry_run_takes_for_done_what_earlier_tasks_remove(bench: Bench, server: Server, tmp_path: Path) -> None:
    policy, other, user, second, group, key = map(bench.name, ("policy", "other", "user", "second", "group", "key"))
    both = [policy, other]
    made = [
        {"modelshelf.fleet.rustfs_policy": {"policies": [{"name": name, "policy": READER} for name in both]}},
        {"modelshelf.fleet.rustfs_user": {"users": [{"name": user, "policies": both}, {"name": second}]}},
        {"modelshelf.fleet.rustfs_group": {"name": group, "members": [user, second], "policies": both}},
        {"modelshelf.fleet.rustfs_access_key": {"key": key, "secret": "secret-of-a-key", "user": second}},
    ]
    assert figures(play(server, tmp_path, made))["changed"] == 4
    tasks = [
        {"modelshelf.fleet.rustfs_policy": {"name": policy, "state": "absent", "detach": True}},
        {"modelshelf.fleet.rustfs_user": {"name": user, "policies": [policy]}},
        {"modelshelf.fleet.rustfs_user": {"name": user, "policies": []}},
        {"modelshelf.fleet.rustfs_user": {"name": second, "state": "absent"}},
        {"modelshelf.fleet.rustfs_group": {"name": group, "members": [user], "policies": []}},
        {"modelshelf.fleet.rustfs_policy": {"name": other, "state": "absent"}},
        {"modelshelf.fleet.rustfs_access_key": {"key": key, "state": "absent"}},
    ]
    announced, done = play(server, tmp_path, tasks, "--check"), play(server, tmp_path, tasks)
    assert figures(done) == {"ok": 7, "changed": 5, "failed": 0, "ignored": 1}, done
    assert told(announced) == told(done)
    assert {f"- detach {other}", "- remove", f"+{other}: absent"} <= set(told(done)), done
    for output in (announced, done):
        assert f"policies has {policy}, which is not on the store" in output


def test_a45_a_dry_run_refuses_what_is_neither_there_nor_made_by_the_play(
    bench: Bench, server: Server, tmp_path: Path
) -> None:
    wrong = tasks(bench, policy=bench.name("misspelt"), user=bench.name("nobody"))
    for options in (["--check"], []):
        output = play(server, tmp_path, wrong, *options)
        assert figures(output) == {"ok": 4, "changed": 1, "failed": 0, "ignored": 3}, output
        assert f"policies has {bench.name('misspelt')}, which is not on the store" in output
        assert f"members has {bench.name('nobody')}, and there is no such user" in output
        assert f"user is '{bench.name('nobody')}', and there is no such user" in output
