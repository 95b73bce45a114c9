# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in a wave or before it, under load: no later wave is touched, and a next run goes on from there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.faults import lost
from tests.support.fleet import Run, host
from tests.support.load import Load
from tests.support.serving import MODEL, pids
from tests.support.shelf import pair, s3
from tests.support.swap import HOSTS, INSTANCE, history, now, serve, served

NEW = {"v1": "v2", "v2": "v1"}
SETTINGS = "/etc/haproxy/haproxy.cfg"


@pytest.fixture(scope="module", autouse=True)
def published(fleet: None) -> None:
    run = serve("v2", "--tags=publish")
    assert run.status == 0, run.output[-3000:]


def said(run: Run) -> str:
    return " ".join(run.output.split())


def waves(serial: str) -> str:
    """The values are texts, as -e gives them."""
    return f"--extra-vars=rollout_serial={serial} rollout_canary=no"


@pytest.mark.parametrize("serial", ["2", "50%"])
def test_fault_on_one_host_of_a_wave_stops_the_waves_after_it(load: Load, serial: str) -> None:
    old = served()["gpu1"]
    new, later = NEW[old], pids("gpu3", "gpu4")
    run = serve(new, "--tags=swap", waves(serial), faults={"gpu2": {"DOUBLE_CRASH": "memory"}})
    assert run.status != 0
    assert (history("gpu1")["result"], history("gpu2")["result"]) == ("served", "reverted")
    assert served() == {"gpu1": new, "gpu2": old, "gpu3": old, "gpu4": old}
    for name, version in served().items():
        assert re.search(rf"{name} main {MODEL} {version} sha256:\w+ active", said(run)), run.output[-3000:]
    assert pids("gpu3", "gpu4") == later
    first = pids("gpu1")
    run = serve(new, "--tags=swap", waves(serial))
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, new)
    assert pids("gpu1") == first
    assert load.failures == []


@pytest.mark.parametrize(("serial", "moved"), [("1", ["gpu1"]), ("2", [])])
def test_host_that_is_lost_in_the_middle_of_its_wave_stops_all_that_comes_after(
    load: Load, serial: str, moved: list[str]
) -> None:
    """gpu2 is lost when it has been drained: with gpu1 in its wave, that one is not stopped either."""
    before, processes = served(), pids(*HOSTS)
    new = NEW[before["gpu2"]]
    with lost("gpu2", f"""grep -qs '"step": "drained"' {INSTANCE}/journal.json"""):
        run = serve(new, "--tags=serve,gateway", waves(serial))
    assert run.status != 0
    assert run.recap["gpu2"]["unreachable"] == 1
    assert "Write the configuration" not in run.output.partition("Serve, wave after wave")[2]
    assert served() == {**before, **dict.fromkeys(moved, new)}
    kept = [name for name in HOSTS if name not in moved]
    assert pids(*kept) == {name: processes[name] for name in kept}
    first = pids(*moved)
    run = serve(new, "--tags=serve,gateway")
    assert run.status == 0, run.output[-3000:]
    assert served() == dict.fromkeys(HOSTS, new)
    assert pids(*moved) == first
    assert "weight 0" not in host("gw1").check_output(f"cat {SETTINGS}").partition("\nglobal")[2]
    assert load.failures == []


@pytest.fixture
def damaged() -> Iterator[str]:
    """A version on the shelf that no host has read before, with one bit of its weights another."""
    version = f"v{now():.0f}"
    key, client = f"{MODEL}/{version}/model.safetensors", s3(*pair("root"))
    run = serve(version, "--tags=publish")
    assert run.status == 0, run.output[-3000:]
    content = client.get_object(Bucket="models", Key=key)["Body"].read()
    client.put_object(Bucket="models", Key=key, Body=content[:-1] + bytes([content[-1] ^ 1]))
    yield version
    client.put_object(Bucket="models", Key=key, Body=content)


def test_damaged_shard_is_found_before_anything_is_stopped(load: Load, damaged: str) -> None:
    processes = pids(*HOSTS)
    run = serve(damaged, "--tags=swap", weights_check="hashes")
    assert run.status != 0
    assert "model.safetensors: expected SHA-256" in said(run)
    assert "Serve, wave after wave" not in run.output
    assert pids(*HOSTS) == processes
    assert load.failures == []
