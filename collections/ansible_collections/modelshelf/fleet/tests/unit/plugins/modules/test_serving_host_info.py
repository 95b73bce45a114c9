# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.modules import serving_host_info


@pytest.mark.parametrize("check", [False, True])
def test_host_on_which_nothing_is(tmp_path: Path, capsys: pytest.CaptureFixture[str], check: bool) -> None:
    given = {"cache": str(tmp_path / "none"), "bucket": "models", "store": "127.0.0.1", "_ansible_check_mode": check}
    with patch_module_args(given), pytest.raises(SystemExit):
        serving_host_info.main()
    found = json.loads(capsys.readouterr().out)
    assert (found["changed"], found["versions"], found["bandwidth"]) == (False, {}, None)
    assert found["cache"]["total"] > 0
    assert list(tmp_path.iterdir()) == []
