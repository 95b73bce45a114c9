# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_layout import (
    LayoutError,
    parse_layout,
    topology_problems,
)


@pytest.mark.parametrize(
    ("volumes", "sets"),
    [
        (["/srv/rustfs"], [(1, 1)]),
        (["/data/rustfs{0...3}"], [(1, 4)]),
        (["/a", "/b", "/c"], [(1, 3)]),
        (["/data/rustfs{1...32}"], [(2, 16)]),
        (["http://store{1...4}:9000/data/rustfs{0...3}"], [(1, 16)]),
        (["http://store{1...4}:9000/data"], [(1, 4)]),
        # Pools of 4 and 6 drives have the sets of 2 in common.
        (["/a{1...4}", "/b{1...6}"], [(2, 2), (3, 2)]),
        (["/a{1...8}", "/b{1...16}"], [(1, 8), (2, 8)]),
    ],
)
def test_sets_are_those_of_the_server(volumes: list[str], sets: list[tuple[int, int]]) -> None:
    assert [(pool.sets, pool.set_size) for pool in parse_layout(volumes).pools] == sets


def test_ranges_are_expanded_in_the_order_of_the_server() -> None:
    found = [str(drive) for drive in parse_layout(["http://n{1...2}:9000/d{0...1}"]).drives]
    assert found == ["http://n1:9000/d0", "http://n2:9000/d0", "http://n1:9000/d1", "http://n2:9000/d1"]
    assert [drive.path for drive in parse_layout(["/d{08...10}"], 3).drives] == ["/d08", "/d09", "/d10"]
    assert [drive.path for drive in parse_layout(["/d{9...b}"]).drives] == ["/d9", "/da", "/db"]


def test_servers_are_named_once_by_their_url() -> None:
    layout = parse_layout(["https://n{1...2}/d{0...1}"])
    assert (layout.hosts, layout.nodes) == (("n1", "n2"), ("https://n1:443", "https://n2:443"))
    assert parse_layout(["http://[2001:db8::{1...2}]:9000/d"]).nodes[0] == "http://[2001:db8::1]:9000"
    assert (parse_layout(["/d"]).nodes, parse_layout(["/d"]).distributed) == ((), False)


@pytest.mark.parametrize(
    ("volumes", "size", "reason"),
    [
        ([], 0, "no volume"),
        (["/d{1..4}"], 0, "three dots"),
        (["/d{1...4"], 0, "three dots"),
        (["/d1...4"], 0, "three dots"),
        (["/d{...4}"], 0, "three dots"),
        (["/d{4...1}"], 0, "begins above its end"),
        (["/d{1...20000}"], 0, "over 10000 values"),
        (["/d e"], 0, "blank"),
        (["/d,/e"], 0, "comma"),
        (["/d%h"], 0, "%"),
        (["d"], 0, "no absolute path"),
        (["/"], 0, "no absolute path"),
        (["/d{1...17}"], 0, "17 drives cannot be divided"),
        (["/d{1...1}"], 0, "1 drives are too few"),
        (["/d{1...8}"], 3, "possible are 2, 4, 8"),
        (["/d{1...2}"], 4, "2 drives are too few for an erasure set of 4"),
        # Two hosts with nine drives: sets of 2, 3, 6, 9, of which only the even ones spread over two hosts.
        (["http://n{1...2}:9000/d{1...9}"], 9, "possible are 2, 6"),
        (["/d", "/e{1...2}"], 0, "/d has no range"),
        (["/d", "/d"], 0, "the same drive"),
        (["/d{1...2}", "http://n{1...2}/d"], 0, "one kind"),
        (["http://n1/d", "/d"], 0, "one kind"),
        (["http://n1/d", "https://n2/d"], 0, "one scheme"),
        (["http://n1:9000/d"], 0, "by its path"),
        (["http://n{1...2}:9000"], 0, "http://host:port/folder"),
        (["http://n{1...2}:x/d"], 0, "no URL"),
        (["http://u@n{1...2}/d"], 0, "more than"),
        (["ftp://n{1...2}/d"], 0, "http://host:port/folder"),
        (["/home/me/d"], 0, "hides"),
    ],
)
def test_what_the_server_refuses_is_refused_with_the_reason(volumes: list[str], size: int, reason: str) -> None:
    with pytest.raises(LayoutError, match=reason):
        parse_layout(volumes, size)


@given(st.integers(2, 200))
def test_every_drive_is_in_one_set(count: int) -> None:
    try:
        layout = parse_layout([f"/d{{1...{count}}}"])
    except LayoutError:
        assert all(count % size for size in range(2, 17))
        return
    (pool,) = layout.pools
    assert pool.sets * pool.set_size == count
    assert 2 <= pool.set_size <= 16


def test_hosts_and_volumes_have_to_fit() -> None:
    pool = parse_layout(["http://n{1...4}:9000/d"])
    mine = pool.drives[:1]
    assert topology_problems(pool, mine, 4, 9000) == []
    assert "name 4 hosts (n1, n2, n3, n4), and 3 hosts" in topology_problems(pool, mine, 3, 9000)[0]
    assert "none of the hosts in the volumes is this one" in topology_problems(pool, [], 4, 9000)[0]
    assert "the port 9000, and the server listens on 9010" in topology_problems(pool, mine, 4, 9010)[0]
    single = parse_layout(["/d"])
    assert topology_problems(single, single.drives, 1, 9000) == []
    assert "write URLs" in topology_problems(single, single.drives, 4, 9000)[0]
