# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounts get other settings or another key under load; one has two servers. The tests depend on their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fleet import Run, host
from tests.support.load import Load
from tests.support.serving import pid, pids
from tests.support.swap import HOSTS, MAIN, serve

TWIN = {**MAIN, "name": "twin", "port": 8001}
UNIT = "modelshelf-vllm@twin.service"
KEY = {
    "modelshelf_reader_access_key": "rotated-reader-key",
    "modelshelf_reader_secret_key": "canary-rotated-5d02-reader",
}
END = f"""systemctl disable --now {UNIT}
rm -r /var/lib/modelshelf/instances/twin /etc/systemd/system/{UNIT}
systemctl daemon-reload"""


def run(*arguments: str, **more: Any) -> Run:
    """gpu4 has two instances of the model, which read through one mount."""
    return serve("v1", *arguments, instances={"gpu4": [MAIN, TWIN]}, **more)


def processes() -> set[int]:
    """Those of all servers and mounts."""
    return {pid("gpu4", UNIT)} | {process for both in pids(*HOSTS).values() for process in both}


@pytest.fixture(scope="module", autouse=True)
def twin(fleet: None) -> Iterator[None]:
    done = run()
    assert done.status == 0, done.output[-3000:]
    yield
    host("gpu4").check_output(END)


def assert_all_moved(before: set[int], done: Run, load: Load) -> None:
    assert done.status == 0, done.output[-3000:]
    after = processes()
    assert len(after) == 2 * len(HOSTS) + 1
    assert after.isdisjoint({*before, 0})
    assert load.failures == []


def test_other_settings_of_a_mount_move_all_its_servers(load: Load) -> None:
    before = processes()
    assert_all_moved(before, run(weights_listing_cache_seconds=400_000_000), load)
    again = processes()
    assert run(weights_listing_cache_seconds=400_000_000).changed() == {}
    assert processes() == again


def test_other_key_of_a_reader_moves_all_its_servers(load: Load) -> None:
    before = processes()
    done = run(playbook="playbooks/rotate.yml", weights_listing_cache_seconds=400_000_000, **KEY)
    assert_all_moved(before, done, load)
