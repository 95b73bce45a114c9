# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.gateway_pools import FilterModule

FILTERS = FilterModule().filters()
MODELS = [{"name": "opt", "version": "v1"}]
HOST = {
    "inventory_hostname": "gpu1",
    "modelshelf_models": MODELS,
    "modelshelf_instances": [{"name": "main", "model": "opt", "port": 8000}],
}


def test_filters_answer_as_the_library_does() -> None:
    servers = FILTERS["gateway_servers"]([HOST])
    (pool,) = FILTERS["gateway_pools"](servers, [{"model": "opt", "port": 80}], MODELS)
    assert [server["name"] for server in pool["servers"]] == ["gpu1:main"]


def test_refusals_are_errors_of_the_template() -> None:
    with pytest.raises(AnsibleFilterError, match="is not in modelshelf_models"):
        FILTERS["gateway_servers"]([{**HOST, "modelshelf_models": []}])
    with pytest.raises(AnsibleFilterError, match="has no port in gateway_endpoints"):
        FILTERS["gateway_pools"](FILTERS["gateway_servers"]([HOST]), [], MODELS)
