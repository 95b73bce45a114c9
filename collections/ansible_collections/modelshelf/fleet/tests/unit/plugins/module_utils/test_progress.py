# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.modelshelf.fleet.plugins.module_utils._progress import Progress


def test_progress_speaks_at_intervals() -> None:
    said: list[str] = []
    Progress("x: sent", 10, said.append, interval=3600).add(5)
    assert said == []
    often = Progress("x: sent", 10, said.append, interval=0)
    often.add(5)
    often.add(-2)
    assert said == ["x: sent: 5 of 10 bytes", "x: sent: 3 of 10 bytes"]
