# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that need a program of the machine are collected where it is there; the run says what was left out."""

from __future__ import annotations

import shutil

import pytest

LEFT_OUT: list[str] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if shutil.which("systemd-analyze"):
        return
    without = [item for item in items if item.get_closest_marker("systemd_analyze")]
    LEFT_OUT.extend(item.nodeid for item in without)
    items[:] = [item for item in items if item not in without]
    config.hook.pytest_deselected(items=without)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if LEFT_OUT:
        terminalreporter.write_line(f"render: no systemd-analyze on this machine: {len(LEFT_OUT)} tests left out")
