# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The waves that run are those of the plan, under load: of the hosts that move. The tests depend on their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lab.settings import CACHE
from tests.support.fleet import Run, host
from tests.support.load import Load
from tests.support.serving import MODEL, MOUNT, pid, pids
from tests.support.swap import HOSTS, INSTANCE, MAIN, serve, served

OTHER = "tiny-llama-sharded"
SECOND = {"name": "second", "model": OTHER, "port": 8001}
UNIT = "modelshelf-vllm@second.service"
OTHER_MOUNT = f"modelshelf-weights-{OTHER}.service"
END = f"""systemctl disable --now {UNIT}
rm -r /var/lib/modelshelf/instances/second /etc/systemd/system/{UNIT}
systemctl daemon-reload
systemctl disable --now {OTHER_MOUNT}"""
SETTING = 400_000_001
"""Of weights_listing_cache_seconds: mounts have to be restarted for it."""


def said(run: Run) -> str:
    return " ".join(run.output.split())


def waves(serial: str) -> str:
    """The values are texts, as -e gives them."""
    return f"--extra-vars=rollout_serial={serial} rollout_canary=no"


def noted(note: str, *names: str) -> dict[str, dict[str, str]]:
    """Hosts whose instance gets another environment, and so moves."""
    return {name: {"NOTE": note} for name in names}


def batches(run: Run) -> list[list[str]]:
    """For every batch of the play that serves, the hosts that began a move in it."""
    plays = re.findall(r"^PLAY \[Serve, wave after wave\].*?(?=^PLAY )", run.output, re.M | re.S)
    begun = [re.findall(r"^TASK \[rollout : Begin the move\].*?(?=^TASK )", play, re.M | re.S) for play in plays]
    return [sorted(re.findall(r"^(?:changed|ok): \[(\w+)\]", "".join(tasks), re.M)) for tasks in begun]


@pytest.mark.parametrize(
    ("serial", "expected"), [("1", [["gpu3"], ["gpu4"]]), ("50%", [["gpu3"], ["gpu4"]]), ("2", [["gpu3", "gpu4"]])]
)
def test_hosts_that_stay_make_no_wave_larger_or_smaller(load: Load, serial: str, expected: list[list[str]]) -> None:
    before = pids(*HOSTS)
    run = serve("v1", "--tags=serve", waves(serial), faults=noted(serial.rstrip("%"), "gpu3", "gpu4"))
    assert run.status == 0, run.output[-3000:]
    assert batches(run) == expected
    for number, wave in enumerate(expected, 1):
        assert all(f"{name} {number} main {MODEL} v1 v1" in said(run) for name in wave)
    assert pids("gpu1", "gpu2") == {name: before[name] for name in ("gpu1", "gpu2")}
    assert all(pids(name)[name][0] != before[name][0] for name in ("gpu3", "gpu4"))
    assert load.failures == []


def test_run_that_moves_nobody_has_one_batch(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v1", "--tags=serve", faults=noted("2", "gpu3", "gpu4"))
    assert (run.status, run.changed()) == (0, {}), run.output[-3000:]
    assert batches(run) == [[]]
    assert "Show the plan" not in run.output
    assert pids(*HOSTS) == before
    assert load.failures == []


def test_minimum_is_kept_also_for_other_settings_of_mounts(load: Load) -> None:
    before, given = pids(*HOSTS), {"weights_listing_cache_seconds": SETTING}
    run = serve("v1", "--tags=mount,serve", waves("50%"), rollout_minimum_serving=3, **given)
    assert run.status != 0
    assert "wave 1 changes 2 hosts (gpu1, gpu2), and only 2 would serve meanwhile; the minimum is 3" in said(run)
    assert re.search(rf"gpu1 1 main {MODEL} v1 v1 \S+ (\S+ )?move: mount", said(run)), run.output[-3000:]
    assert pids(*HOSTS) == before
    run = serve("v1", "--tags=mount,serve", waves("1"), rollout_minimum_serving=3, **given)
    assert run.status == 0, run.output[-3000:]
    assert batches(run) == [[name] for name in HOSTS]
    after = pids(*HOSTS)
    assert not {process for both in before.values() for process in both} & {
        process for both in after.values() for process in both
    }
    assert load.failures == []


def test_held_instance_is_shown_as_held_and_is_in_no_wave(load: Load) -> None:
    for arguments in (["--tags=publish,serve"], ["--tags=rollback", "--limit=gpu2"]):
        run = serve("v2", *arguments)
        assert run.status == 0, run.output[-3000:]
    before = pids(*HOSTS)
    run = serve("v2", "--tags=serve", waves("1"), faults=noted("held", "gpu2", "gpu3"))
    assert run.status == 0, run.output[-3000:]
    assert f"gpu2 - main {MODEL} v1 v2 held: rolled back from {MODEL} v2" in said(run)
    assert batches(run) == [["gpu3"]]
    assert run.output.count("HELD: main stays with generation") == 1
    assert pids("gpu2") == {"gpu2": before["gpu2"]}
    assert served() == {**dict.fromkeys(HOSTS, "v2"), "gpu2": "v1"}
    run = serve("v2", "--tags=serve", rollout_lift_hold=True)
    assert batches(run) == [["gpu2"], ["gpu3"]], run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, "v2")
    assert load.failures == []


def both(*arguments: str, main: str = "v2", **more: Any) -> Run:
    """gpu4 has an instance of another model beside its own."""
    models = [
        {"name": MODEL, "version": main, "directory": str(CACHE / "models" / f"{MODEL}-next")},
        {"name": OTHER, "version": "v1", "directory": str(CACHE / "models" / OTHER)},
    ]
    endpoints = [{"model": MODEL, "port": 8101}, {"model": OTHER, "port": 8102}]
    given = {"modelshelf_models": models, "gateway_endpoints": endpoints, "weights_listing_cache_seconds": SETTING}
    return serve(main, *arguments, instances={"gpu4": [MAIN, SECOND]}, **{**given, **more})


@pytest.fixture
def second(fleet: None) -> Iterator[None]:
    run = both()
    assert run.status == 0, run.output[-3000:]
    yield
    host("gpu4").check_output(END)


def seen(name: str) -> tuple[str, ...]:
    """What a host has of the instance main and of its mount."""
    places = f"{INSTANCE}/generations /etc/systemd/system/{MOUNT}"
    links = host(name).check_output(f"readlink {INSTANCE}/current {INSTANCE}/previous")
    return links, host(name).check_output(f"find {places} -printf '%p %T@\\n' | sort")


def test_run_that_is_limited_to_a_model_leaves_all_else_as_it_was(load: Load, second: None) -> None:
    before, states = pids(*HOSTS), {name: seen(name) for name in HOSTS}
    processes = pid("gpu4", UNIT), pid("gpu4", OTHER_MOUNT)
    more = {"weights_listing_cache_seconds": SETTING + 1, "vllm_arguments": {"max-num-seqs": 32}}
    run = both("--tags=publish,mount,serve", main="v3", modelshelf_only=OTHER, **more)
    assert run.status == 0, run.output[-3000:]
    assert batches(run) == [["gpu4"]]
    assert f"gpu4 - main {MODEL} v2 v3 not selected" in said(run)
    assert {name: seen(name) for name in HOSTS} == states
    assert pids(*HOSTS) == before
    assert {pid("gpu4", UNIT), pid("gpu4", OTHER_MOUNT)}.isdisjoint({*processes, 0})
    assert load.failures == []
