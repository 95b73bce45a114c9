# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode on bare hosts (recorded before the first real run) against what the real run then changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.announced import BUCKET, announcements, unannounced
from tests.support.fleet import ADDRESSES, RESULTS
from tests.support.shelf import shelf_keys
from tests.support.snapshots import differences, package_files, snapshot

CONVERGED = ["store1", "gpu1", "gpu2"]


@pytest.fixture(scope="module")
def bare() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((RESULTS / "bare-check.json").read_text())
    return data


@pytest.fixture(scope="module")
def changes(bare: dict[str, Any]) -> dict[str, list[str]]:
    """Host -> what differs from its bare state now: paths, units, packages (standing for their files)."""
    found = {}
    for name in CONVERGED:
        different = differences(bare["after"][name], snapshot(name))
        packages = [key.removeprefix("package ") for key in different if key.startswith("package ")]
        found[name] = sorted(different - package_files(name, packages))
    found["store1"] += [f"{BUCKET}{key}" for key in shelf_keys()]  # what the volume holds is the server's own affair
    return found


def test_a34_check_mode_on_bare_hosts_finishes(bare: dict[str, Any]) -> None:
    assert bare["status"] == 0, bare["output"][-2000:]


@pytest.mark.parametrize("name", ADDRESSES)
def test_a34_check_mode_on_bare_hosts_changes_nothing(bare: dict[str, Any], name: str) -> None:
    assert differences(bare["before"][name], bare["after"][name]) == set()


@pytest.mark.parametrize("name", CONVERGED)
def test_a34_check_mode_announced_what_the_real_run_changed(
    bare: dict[str, Any], changes: dict[str, list[str]], name: str
) -> None:
    said, published = (announcements(bare["output"], who) for who in (name, "localhost"))
    assert unannounced(changes[name], said, published) == []


def test_the_real_run_is_seen_by_the_snapshots(changes: dict[str, list[str]]) -> None:
    """The comparison above says nothing when the snapshots miss what is made."""
    assert f"{BUCKET}tiny-qwen2/v1/model.safetensors" in changes["store1"]
    for name in ("gpu1", "gpu2"):
        assert {
            "unit modelshelf-vllm@main.service",
            "unit modelshelf-weights-tiny-qwen2.service",
            "/etc/modelshelf/rclone.conf",
            "/etc/systemd/system/multi-user.target.wants/modelshelf-vllm@main.service",
            "/var/lib/modelshelf/instances/main/generations/1/env",
        } <= set(changes[name])
    assert "/opt/modelshelf/engines/vllm-0.32.0/bin/vllm" in changes["gpu1"]
    assert "/opt/modelshelf/engines" not in changes["gpu2"]
