# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, JournalError, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import (
    BACK,
    DRAINED,
    FAILED,
    FORWARD,
    REVERTED,
    SERVED,
    ServerFault,
    Swap,
)


class Killed(BaseException):
    """The process that carries the move out ends here."""


@dataclass
class Host:
    """A host with a server: what runs, and what goes wrong. kill_at counts the calls, half of them before they act."""

    instance: Instance
    running: int | None = None
    bad: tuple[int, ...] = ()
    faults: dict[str, list[str]] = field(default_factory=dict)
    kill_at: int = -1
    calls: int = 0
    gated: list[int] = field(default_factory=list)
    ports: list[list[int]] = field(default_factory=list)

    def stop(self, generations: Sequence[int]) -> None:
        self.ports.append(list(generations))
        self._call("stop", lambda: setattr(self, "running", None))

    def start(self) -> None:
        self._call("start", lambda: setattr(self, "running", self.instance.linked("current")))

    def gate(self, generation: int) -> None:
        self._call("gate", lambda: self._prove(generation))

    def _prove(self, generation: int) -> None:
        if self.running != generation or generation in self.bad:
            raise ServerFault(f"generation {generation} does not serve, {self.running} runs")
        self.gated.append(generation)

    def _call(self, name: str, act: Callable[[], None]) -> None:
        self._point()
        if self.faults.get(name):
            raise ServerFault(self.faults[name].pop(0))
        act()
        self._point()

    def _point(self) -> None:
        self.calls += 1
        if self.calls == self.kill_at:
            raise Killed


@pytest.fixture
def main(tmp_path: Path) -> Instance:
    instance = Instance(str(tmp_path), "main")
    for number in (2, 3, 4):
        instance.directory(number).mkdir(parents=True)
    instance.flip(2)
    instance.flip(3)
    return instance


@pytest.fixture
def host(main: Instance) -> Host:
    return Host(main, running=3)


def begun(instance: Instance, *, to: int = 4, before: int | None = 3) -> Journal:
    journal = Journal(instance.path)
    journal.begin(Move("r1", "ops", "swap", before, to, instance.linked("previous"), DRAINED, 0.0))
    return journal


def links(instance: Instance) -> tuple[int | None, int | None]:
    return instance.linked("current"), instance.linked("previous")


def test_new_generation_serves_and_the_old_one_is_the_previous(main: Instance, host: Host) -> None:
    move = Swap(main, begun(main), host, "r1").go()
    assert (move.step, move.cause, host.running, links(main)) == (SERVED, "", 4, (4, 3))


@pytest.mark.parametrize("step", ["stop", "start", "gate"])
def test_fault_puts_the_old_generation_back_with_both_links(main: Instance, host: Host, step: str) -> None:
    host.faults = {step: ["the disk is on fire."]}
    move = Swap(main, begun(main), host, "r1").go()
    assert (move.step, move.cause) == (REVERTED, "the disk is on fire")
    assert (host.running, links(main), host.gated) == (3, (3, 2), [3])
    assert host.ports == [[3, 4], [3]]


def test_generation_before_the_old_one_may_be_gone(main: Instance, host: Host) -> None:
    host.bad = (4,)
    journal = begun(main)
    main.directory(2).rmdir()
    assert Swap(main, journal, host, "r1").go().step == REVERTED
    assert (host.running, links(main)) == (3, (3, None))


def test_a33_bad_generation_is_gated_once_and_left(main: Instance, host: Host) -> None:
    host.bad = (4,)
    assert Swap(main, begun(main), host, "r1").go().step == REVERTED
    assert (host.running, host.gated) == (3, [3])


@pytest.mark.parametrize("step", ["stop", "start", "gate"])
def test_neither_serves_is_said_with_both_causes(main: Instance, host: Host, step: str) -> None:
    host.faults = {step: ["first", "second"]}
    move = Swap(main, begun(main), host, "r1").go()
    assert (move.step, move.cause) == (FAILED, "first; and back on generation 3: second")
    assert links(main) == (3, 2)


def test_first_start_has_nothing_to_go_back_to(tmp_path: Path) -> None:
    main = Instance(str(tmp_path), "main")
    main.directory(1).mkdir(parents=True)
    host = Host(main, bad=(1,))
    move = Swap(main, begun(main, to=1, before=None), host, "r1").go(back=True)
    assert (move.step, host.running, links(main)) == (FAILED, 1, (1, None))


def test_generation_that_is_gone_stops_nothing_for_long(main: Instance, host: Host) -> None:
    move = Swap(main, begun(main, to=9), host, "r1").go()
    assert (move.step, host.running, links(main)) == (REVERTED, 3, (3, 2))
    assert "no generation 9" in move.cause


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("bad", [(), (4,)])
@pytest.mark.parametrize("kill_at", range(1, 14))
def test_killed_anywhere_the_next_one_ends_it(
    main: Instance, host: Host, kill_at: int, bad: tuple[int, ...], back: bool
) -> None:
    """Also when the host was restarted in between: then the server runs with whatever generation is current."""
    journal = begun(main)
    host.bad, host.kill_at = bad, kill_at
    try:
        Swap(main, journal, host, "r1").go()
    except Killed:
        assert journal.own("r1").step in (*FORWARD, *BACK)
        host.running = main.linked("current")
    host.kill_at = -1
    move = Swap(main, journal, host, "r1").go(back=back)
    served = not bad and not back
    assert move.step == (SERVED if served else REVERTED)
    assert (host.running, links(main)) == ((4, (4, 3)) if served else (3, (3, 2)))
    assert host.gated[-1] == host.running


def test_end_is_an_end(main: Instance, host: Host) -> None:
    journal = begun(main)
    Swap(main, journal, host, "r1").go()
    calls = host.calls
    assert Swap(main, journal, host, "r1").go().step == SERVED
    assert host.calls == calls
    assert Swap(main, journal, host, "r1").go(back=True).step == REVERTED


def test_move_of_another_run_is_not_touched(main: Instance, host: Host) -> None:
    journal = begun(main)
    journal.take_over("r2", "night")
    with pytest.raises(JournalError, match="another run"):
        Swap(main, journal, host, "r1").go()
    assert (host.calls, links(main)) == (0, (3, 2))


def test_run_that_is_taken_over_in_the_middle_does_not_go_on(main: Instance, host: Host) -> None:
    journal = begun(main)

    class Slow(Host):
        def stop(self, generations: Sequence[int]) -> None:
            super().stop(generations)
            journal.take_over("r2", "night")

    slow = Slow(main, running=3)
    with pytest.raises(JournalError, match="another run"):
        Swap(main, journal, slow, "r1").go()
    assert links(main) == (3, 2)
    assert Swap(main, journal, host, "r2").go().step == SERVED
