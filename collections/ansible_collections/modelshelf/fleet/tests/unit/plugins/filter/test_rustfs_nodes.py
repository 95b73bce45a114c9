# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.rustfs_nodes import FilterModule, rustfs_nodes


def test_servers_of_a_cluster() -> None:
    assert rustfs_nodes(["http://n{1...2}:9000/d{0...1}"]) == ["http://n1:9000", "http://n2:9000"]
    assert rustfs_nodes(["/srv/rustfs"]) == []
    assert FilterModule().filters() == {"rustfs_nodes": rustfs_nodes}


def test_volumes_that_the_server_refuses() -> None:
    with pytest.raises(AnsibleFilterError, match="three dots"):
        rustfs_nodes(["/d{0..3}"])
