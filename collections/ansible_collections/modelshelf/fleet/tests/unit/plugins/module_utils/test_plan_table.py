# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.modelshelf.fleet.plugins.module_utils._plan_table import aligned, plan_lines, plan_rows
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.plan_inputs import NEW, OLD, host, plan


def test_lines_of_a_plan() -> None:
    hosts = [
        host("gpu-01", state={"main": {"current": NEW}}),
        host("gpu-02", {"gpus": [0]}, {"name": "second", "model": "opt", "gpus": [1]}, devices=2),
        host("gpu-03", state={"main": {"current": OLD, "held": True}}),
        host("gpu-04"),
    ]
    assert plan_lines(plan(*hosts)) == [
        "host    wave  instance  model          from  to  fetch     what",
        "gpu-01  -     main      Qwen/Qwen2-7B  v2    v2            done",
        "gpu-02  1     main      Qwen/Qwen2-7B  v1    v2  13.0 GiB  move: version",
        "gpu-02  1     second    opt            -     v1            move: new",
        "gpu-03  -     main      Qwen/Qwen2-7B  v1    v2            held",
        "gpu-04  2     main      Qwen/Qwen2-7B  v1    v2  12.0 GiB  move: version",
        "",
        "wave  hosts   fetch     stage           swap",
        "1     gpu-02  13.0 GiB  13 s (network)  2 min 0 s",
        "2     gpu-04  12.0 GiB  12 s (network)  1 min 0 s",
        "",
        "3 to move on 2 of 4 hosts, 1 held; 25.0 GiB from the store",
        "staging 25 s, swap 3 min 0 s, together 3 min 25 s",
        "note: gpu-03: main is held at qwen-qwen2-7b v1 and stays as it is (qwen-qwen2-7b v2 is wanted);"
        " name another version, or lift the hold with rollout_lift_hold",
    ]


def test_nothing_to_do_has_no_waves() -> None:
    lines = plan_lines(plan(host(state={"main": {"current": NEW}})))
    assert lines[3:] == ["0 to move on 0 of 1 hosts, 0 held; 0 B from the store", "staging 0 s, swap 0 s, together 0 s"]


def test_unknown_times_are_called_unknown() -> None:
    lines = plan_lines(plan(host(), store_bandwidth=None, move_seconds=None))
    assert "staging unknown, swap unknown, together unknown" in lines


def test_change_of_model_names_both() -> None:
    (row,) = plan_rows(plan(host("a", {"model": "opt"})))
    assert (row["model"], row["from"], row["to"]) == ("opt", "qwen-qwen2-7b v1", "v1")


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert aligned([("a", "bb", "c"), ("aaa", "b", "")]) == ["a    bb  c", "aaa  b"]


def test_host_that_did_not_answer_has_a_row() -> None:
    lines = plan_lines(plan(host(state={"main": {"current": NEW}}), failed=["gpu-09"]))
    assert lines[2] == "gpu-09  -     -         -              -     -          unreachable or failed"


def test_table_of_hosts_that_cannot_be_read() -> None:
    found = plan(host(bandwidth="fast"), refuse=False)
    assert plan_lines(found) == ["no host could be planned"]
