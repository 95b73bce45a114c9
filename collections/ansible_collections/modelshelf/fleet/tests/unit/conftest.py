# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_warnings_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible keeps the warnings of a module for its process, which is that of all tests here."""
    monkeypatch.setattr("ansible.module_utils.common.warnings._global_warnings", {})
