# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets of users and access keys are in nothing that Ansible prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.matrix import Bench, bench_on
from tests.contract.playing import play
from tests.contract.s3_server import Server


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server)
    yield found
    found.clear()


def test_a35_canaries_are_in_no_output_of_ansible(server: Server, bench: Bench, tmp_path: Path) -> None:
    user, key = bench.name("user"), bench.name("key")
    canaries = [f"canary-{name}-{bench.prefix}" for name in ("first", "second", "third", "fourth")]
    first, second, third, fourth = canaries

    def tasks(user_secret: str, key_secret: str, **more: Any) -> list[dict[str, Any]]:
        listed_user = {"name": f"{user}-2", "secret": user_secret, **more}
        listed_key = {"key": f"{key}-2", "secret": key_secret, "user": user, **more}
        return [
            {"modelshelf.fleet.rustfs_user": {"name": user, "secret": user_secret, **more}},
            {"modelshelf.fleet.rustfs_user": {"users": [listed_user]}},
            {"modelshelf.fleet.rustfs_access_key": {"key": key, "secret": key_secret, "user": user, **more}},
            {"modelshelf.fleet.rustfs_access_key": {"access_keys": [listed_key]}},
        ]

    runs = [
        play(server, tmp_path, tasks(first, second), "--check"),
        play(server, tmp_path, tasks(first, second)),
        play(server, tmp_path, tasks(first, second)),
        play(server, tmp_path, tasks(third, fourth)),
        play(server, tmp_path, tasks(third, fourth, rotate_secret=True)),
    ]
    figures = [re.findall(r"(?:changed|ignored)=(\d+)", run)[-2:] for run in runs]
    assert figures == [["4", "0"], ["4", "0"], ["0", "0"], ["0", "4"], ["4", "0"]], runs[0]
    assert runs[3].count("secret is not the one that the store has") >= 4
    for run in runs:
        assert user in run and key in run
        for canary in (server.secret_key, *canaries):
            assert canary not in run
