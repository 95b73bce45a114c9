# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._pace import Pace


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now, self.alive = 100.0, 0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def live(self) -> None:
        self.alive += 1


@pytest.mark.parametrize(("rate", "seconds", "alive"), [(10.0, 3.0, 4), (None, 0.0, 0), (1000.0, 0.03, 3)])
def test_blocks_pass_at_the_rate_with_signs_of_life(rate: float | None, seconds: float, alive: int) -> None:
    clock = Clock()
    pace = Pace(rate, clock=lambda: clock.now, sleep=clock.sleep)
    for size in (10, 5, 15, 10):
        pace.wait(size, clock.live)
    assert (round(clock.now - 100, 6), clock.alive) == (seconds, alive)


def test_time_without_reading_is_not_saved_up() -> None:
    clock = Clock()
    pace = Pace(10, clock=lambda: clock.now, sleep=clock.sleep)
    clock.now += 1000
    for _block in range(3):
        pace.wait(10, clock.live)
    assert clock.now == 1102
