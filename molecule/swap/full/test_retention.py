# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Old generations go after a run, and the engines that none of those left uses. The tests depend on their order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fleet import Run, host
from tests.support.serving import pids
from tests.support.swap import HOSTS, INSTANCE, serve

NAME = "gpu1"
GENERATIONS = f"{INSTANCE}/generations"
ENGINES = "/opt/modelshelf/engines"
MARKED = ["vllm-0.0.1", "vllm-0.0.2", "vllm-0.0.3"]
INTERRUPTED = "vllm-0.0.4"


def few(*arguments: str) -> Run:
    """A run that keeps few generations, and moves nothing when all serve v1."""
    run = serve("v1", "--tags=serve", *arguments, vllm_generations_kept=2)
    assert run.status == 0, run.output[-3000:]
    return run


def generations() -> set[int]:
    return {int(name) for name in host(NAME).check_output(f"ls -A {GENERATIONS}").split()}


def linked(link: str) -> set[int]:
    """The generation that a link names; none without it."""
    name = host(NAME).run(f"readlink {INSTANCE}/{link}").stdout.strip()
    return {int(name.rpartition("/")[2])} if name else set()


def engines() -> set[str]:
    return set(host(NAME).check_output(f"ls -A {ENGINES}").split())


@pytest.fixture(scope="module")
def added(fleet: None) -> Iterator[list[int]]:
    """Three more generations, never current. The first links the first engine, the others the second."""
    few()
    newest = max(generations())
    numbers = [newest + 1, newest + 2, newest + 3]
    for number, engine in zip(numbers, ("vllm-0.0.1", "vllm-0.0.2", "vllm-0.0.2"), strict=True):
        copy = f"{GENERATIONS}/{number}"
        host(NAME).check_output(f"cp -a {GENERATIONS}/{newest} {copy} && ln -sfn {ENGINES}/{engine} {copy}/engine")
        host(NAME).check_output(f'sed -i \'s/"generation": .*,/"generation": {number},/\' {copy}/release.json')
    for engine in (*MARKED, INTERRUPTED):
        host(NAME).check_output(f"mkdir -p {ENGINES}/{engine}/bin")
    for engine in MARKED:
        host(NAME).check_output(f"touch {ENGINES}/{engine}/.modelshelf-complete")
    yield numbers
    for number in numbers:
        host(NAME).check_output(f"rm -rf {GENERATIONS}/{number}")
    for engine in (*MARKED, INTERRUPTED):
        host(NAME).check_output(f"rm -rf {ENGINES}/{engine}")


def test_check_mode_says_what_would_go_and_leaves_it(added: list[int]) -> None:
    before = generations(), engines()
    run = few("--check", "--diff")
    assert run.changed() == {NAME: 2}
    assert (generations(), engines()) == before
    # The first engine goes with its generation, which in check mode is there still.
    assert "vllm-0.0.1" in run.output


def test_what_nothing_names_is_gone_and_what_serves_goes_on(added: list[int]) -> None:
    before, there, installed = pids(*HOSTS), generations(), engines()
    assert few().changed() == {NAME: 2}
    assert generations() == there & {*linked("current"), *linked("previous"), *added[1:]}
    assert engines() == installed - {"vllm-0.0.1", "vllm-0.0.3"}
    assert host(NAME).file(f"{INSTANCE}/current/vllm.yaml").exists
    assert pids(*HOSTS) == before


def test_next_run_removes_nothing(added: list[int]) -> None:
    assert few().changed() == {}
