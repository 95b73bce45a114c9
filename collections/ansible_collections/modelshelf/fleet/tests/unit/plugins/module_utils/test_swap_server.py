# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils import _swap_server
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_content import wanted_content
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._listeners import Owner
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import DRAINED, REVERTED, ServerFault, Swap
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import (
    CRASHED,
    Vllm,
    publish,
    serving,
    show,
)
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.swap_parts import (
    STOPPED,
    UNIT,
    Commands,
    Starts,
    place,
    server,
)

KEY = 'canary $x "key" `1`'


def units(number: int) -> str:
    """The unit of a generation."""
    return f"[Service]\n# {number}\n"


@pytest.fixture
def vllm(tmp_path: Path) -> Iterator[Vllm]:
    publish(tmp_path / "v2")
    with serving(Vllm("qwen", root=str(tmp_path / "v2"), key=KEY)) as server:
        yield server


@pytest.fixture
def main(tmp_path: Path, vllm: Vllm) -> Instance:
    instance = Instance(str(tmp_path / "instances"), "main")
    for number, version, port in ((1, "v1", vllm.port + 1), (2, "v2", vllm.port)):
        path = str(tmp_path / version)
        config = {"model": path, "host": "127.0.0.1", "port": port, "served-model-name": ["qwen"]}
        content = wanted_content(
            instance="main", model="qwen", version=version, weights_path=path, manifest_digest=None, config=config,
            environment={"VLLM_API_KEY": KEY}, engine={"path": "/opt/engine"}, unit=units(number),
        )  # fmt: skip
        instance.write(number, content, "ops")
    return instance


def test_stop_waits_for_unit_and_ports(main: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([["pid 7 (vllm)"], [], []])
    monkeypatch.setattr(_swap_server, "foreign", lambda *place: next(looks, []))
    host = Commands([show(), show(active="deactivating"), STOPPED])
    server(main, host).stop((1, 2))
    assert host.changes() == [f"systemctl stop --no-block -- {UNIT}"]


def test_a_unit_that_is_stopped_is_not_stopped_again(main: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_swap_server, "foreign", lambda *place: [])
    for state in (STOPPED, show(active="failed", sub="failed")):
        host = Commands([state])
        server(main, host).stop((1, 2))
        assert host.changes() == []


def test_a_unit_that_does_not_stop_is_said(main: Instance) -> None:
    with pytest.raises(ServerFault, match=f"after 5 s {UNIT} does not stop: it is deactivating/running"):
        server(main, Commands([show(active="deactivating")]), stop_timeout=5).stop((1, 2))


def test_a28_who_keeps_the_port_is_named(main: Instance, vllm: Vllm) -> None:
    with pytest.raises(ServerFault, match=rf"after 3 s pid \d+ .* still has the port {vllm.port}. Stop that process"):
        server(main, Commands([STOPPED]), free_timeout=3).stop((1, 2))


def test_a28_port_of_the_new_generation_does_not_keep_the_old_one_down(main: Instance, vllm: Vllm) -> None:
    server(main, Commands([STOPPED]), free_timeout=3).stop((1,))


def test_generation_that_was_edited_is_said_and_stops_nothing_half_way(main: Instance, vllm: Vllm) -> None:
    (main.directory(1) / "vllm.yaml").write_text("host: [127.0.0.1\n")
    server(main, Commands([STOPPED]), free_timeout=3).stop((1,))
    with pytest.raises(GenerationError, match=r"generations/1/vllm.yaml was edited, and cannot be read any more"):
        server(main, Commands([show()])).gate(1)


@pytest.mark.parametrize(
    ("unit", "in_the_way"),
    [("", True), (UNIT, True), ("user@0.service", True), ("modelshelf-vllm@other.service", False)],
)
def test_a28_who_keeps_a_gpu_is_named_unless_it_is_another_instance(
    main: Instance, monkeypatch: pytest.MonkeyPatch, unit: str, in_the_way: bool
) -> None:
    monkeypatch.setattr(_swap_server, "foreign", lambda *place: [])
    monkeypatch.setattr(_swap_server, "holders", lambda user, proc: [77])
    monkeypatch.setattr(_swap_server, "describe", lambda pid, proc: Owner(pid, "VLLM::EngineCore", unit))
    stopping = server(main, Commands([STOPPED]))
    if in_the_way:
        with pytest.raises(ServerFault, match=r"pid 77.*VLLM::EngineCore.* still holds a GPU. Stop that process"):
            stopping.stop((1, 2))
    else:
        stopping.stop((1, 2))


def test_start_loads_what_has_changed(main: Instance) -> None:
    host = Commands([STOPPED])
    server(main, host).start()
    assert host.changes() == ["systemctl daemon-reload", f"systemctl start --no-block -- {UNIT}"]


def test_what_waits_for_the_server_is_restarted_while_it_is_stopped(main: Instance) -> None:
    host = Commands([show(active="activating", job=7), show(active="active", job=7), show()])
    server(main, host, restart=["srv-weights.mount"]).start()
    assert host.changes() == [
        "systemctl daemon-reload",
        "systemctl restart --no-block -- srv-weights.mount",
        "systemctl daemon-reload",
        f"systemctl start --no-block -- {UNIT}",
    ]
    with pytest.raises(ServerFault, match=r"after 5 s srv-weights.mount does not start: it is failed"):
        server(main, Commands([show(active="failed")]), restart=["srv-weights.mount"], stop_timeout=5).start()


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """No port is held by anything else."""
    monkeypatch.setattr(_swap_server, "foreign", lambda *place: [])
    ours = "ansible_collections.modelshelf.fleet.plugins.module_utils._ready."
    monkeypatch.setattr(f"{ours}foreign", lambda *place: [])
    monkeypatch.setattr(f"{ours}read_inside", lambda *place, **how: None)


@pytest.mark.usefixtures("free")
def test_each_generation_is_started_by_its_own_unit_and_repeating_writes_nothing(main: Instance) -> None:
    host = Starts(STOPPED, main)
    for number in (1, 2, 1):
        main.flip(number)
        server(main, host).start()
        written = place(main).stat()
        server(main, host).start()
        again = place(main).stat()
        assert (written.st_mode & 0o777, written.st_ino, written.st_mtime_ns) == (
            0o644,
            again.st_ino,
            again.st_mtime_ns,
        )
    assert host.units == [units(number) for number in (1, 1, 2, 2, 1, 1)]
    assert [path.name for path in place(main).parent.iterdir()] == [UNIT]


@pytest.mark.usefixtures("free")
def test_a33_bad_unit_goes_back_with_its_generation(main: Instance) -> None:
    main.flip(2)
    place(main).write_text(units(2))
    journal = Journal(main.path)
    journal.begin(Move("r1", "ops", "swap", 2, 1, None, DRAINED, 0.0))
    host = Starts(show(), main, bad=units(1))
    move = Swap(main, journal, server(main, host), "r1").go()
    assert move.step == REVERTED, move.cause
    assert "generation 1 does not serve: unit" in move.cause
    assert host.units == [units(1), units(2)]
    assert place(main).read_text() == units(2)


@pytest.mark.usefixtures("free")
def test_server_that_a_restarted_host_runs_by_the_other_unit_is_stopped_first(main: Instance) -> None:
    main.flip(1)
    place(main).write_text(units(2))
    host = Starts(show(), main)
    server(main, host).start()
    assert host.changes()[0] == f"systemctl stop --no-block -- {UNIT}"
    assert host.units == [units(1)]


@pytest.mark.usefixtures("free")
@pytest.mark.parametrize("there", [None, "by hand"])
def test_generation_from_before_units_were_kept_leaves_the_unit_alone(main: Instance, there: str | None) -> None:
    main.flip(1)
    (main.directory(1) / "unit.service").unlink()
    if there:
        place(main).write_text(there)
    host = Starts(STOPPED, main)
    server(main, host).start()
    assert host.units == [there]
    assert host.changes() == ["systemctl daemon-reload", f"systemctl start --no-block -- {UNIT}"]


def test_gate_asks_with_what_the_generation_says(main: Instance, vllm: Vllm, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = "ansible_collections.modelshelf.fleet.plugins.module_utils._ready."
    monkeypatch.setattr(f"{ours}foreign", lambda *place: [])
    monkeypatch.setattr(f"{ours}read_inside", lambda *place, **how: None)
    server(main, Commands([show()]), prompt="brown", max_tokens=3).gate(2)
    assert vllm.requests == [{"model": "qwen", "prompt": "brown", "max_tokens": 3, "temperature": 0}]
    with pytest.raises(ServerFault, match="generation 1 does not serve: port: after 0 s the port"):
        server(main, Commands([show()])).gate(1)
    with pytest.raises(ServerFault, match=r"generation 2 does not serve: unit: .* crashed") as failure:
        server(main, Commands([show(**CRASHED)], log=f"ValueError: {KEY}")).gate(2)
    assert KEY not in str(failure.value)
    with pytest.raises(GenerationError, match=r"generation 3 below .* is not complete"):
        server(main, Commands([show()])).gate(3)


def test_systemd_that_does_not_answer_is_a_fault(main: Instance) -> None:
    host = Commands([show()])
    host.failing = True
    with pytest.raises(ServerFault, match="was not expected"):
        server(main, host).stop((1, 2))
    with pytest.raises(ServerFault, match="was not expected"):
        server(main, host).start()
