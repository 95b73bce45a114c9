# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.modelshelf.fleet.plugins.filter.host_patterns import host_patterns


@pytest.mark.parametrize(
    ("limit", "patterns"),
    [
        ("", []),
        ("gpu1", ["gpu1"]),
        ("gpu1,gpu9", ["gpu1", "gpu9"]),
        ("gpu:!gpu1", ["gpu", "gpu1"]),
        ("gpu:&rack_a", ["gpu", "rack_a"]),
        ("gpu[0:2],store", ["gpu[0:2]", "store"]),
        ("@failed.retry,gpu2", ["gpu2"]),
        ("2001:db8::1", ["2001:db8::1"]),
    ],
)
def test_splits_a_limit_as_ansible_does(limit: str, patterns: list[str]) -> None:
    assert host_patterns(limit) == patterns
