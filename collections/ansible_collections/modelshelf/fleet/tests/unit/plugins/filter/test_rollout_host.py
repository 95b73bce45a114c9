# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.rollout_host import FilterModule
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import instances

SEEN = {"versions": {}, "cache": {"free": 5, "total": 9}, "devices": None, "bandwidth": None}
FOUND = {"instances": [], "generations": [], "wanted": [], "units": [], "health": [], "seen": SEEN, "cached": False}


def test_filter_answers_as_the_library_does() -> None:
    host = FilterModule().filters()["rollout_host"]({**FOUND, "stale_mounts": []}, "gpu-01")
    assert (host["name"], host["state"], host["devices"]) == ("gpu-01", {}, None)


def test_result_that_is_missing_is_named_with_the_host() -> None:
    with pytest.raises(AnsibleFilterError, match="gpu-01: what was found on the host is not complete"):
        FilterModule().filters()["rollout_host"]({**FOUND, "instances": instances()}, "gpu-01")
