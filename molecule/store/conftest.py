# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test host as a store, made once for each file of tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support.store import Shop, reset

collect_ignore = [] if os.environ.get("RUSTFS_BIN") else ["full/test_pool.py"]
"""The stand-in is no cluster: that is tried with a real server alone."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A host without a store; whatever the tests put there is taken away afterwards."""
    reset()
    yield Shop(tmp_path_factory.mktemp("store"))
    reset()
