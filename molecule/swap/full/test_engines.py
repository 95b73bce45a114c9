# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two versions of the engine beside each other: the fleet moves to the new one and back. The order matters."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.double.install import VERSION
from tests.support.fleet import host, play
from tests.support.load import Load
from tests.support.serving import ask, pids
from tests.support.swap import HOSTS, INSTANCE, serve, served

OLD, NEW, NEWER = "/opt/double", "/opt/double-next", "0.33.0"
COPY = f"""rm -rf {NEW}
cp -a {OLD} {NEW}
cd {NEW}/lib/python3.11/site-packages
mv vllm-{VERSION}.dist-info vllm-{NEWER}.dist-info
sed -i 's/^Version: .*/Version: {NEWER}/' vllm-{NEWER}.dist-info/METADATA"""


@pytest.fixture(scope="module", autouse=True)
def installed(fleet: None) -> Iterator[None]:
    for name in HOSTS:
        host(name).check_output(COPY)
    yield
    run = serve("v1", rollout_lift_hold=True)
    assert run.status == 0, run.output[-3000:]


def engines() -> set[tuple[str, str]]:
    """The path of what the current generations name, and the version that the servers say they are."""
    releases = [json.loads(host(name).check_output(f"cat {INSTANCE}/current/release.json")) for name in HOSTS]
    versions = [ask(name, "/version")[1]["version"] for name in HOSTS]
    return {(release["engine"]["path"], version) for release, version in zip(releases, versions, strict=True)}


def test_other_engine_is_a_move_of_all_hosts(load: Load) -> None:
    before = pids(*HOSTS)
    run = serve("v1", vllm_engine_path=NEW)
    assert run.status == 0, run.output[-3000:]
    assert engines() == {(NEW, NEWER)}
    assert {name: mount for name, (_, mount) in pids(*HOSTS).items()} == {
        name: mount for name, (_, mount) in before.items()
    }
    assert not {server for server, _ in before.values()} & {server for server, _ in pids(*HOSTS).values()}
    assert load.failures == []


def test_rollback_goes_back_to_the_engine_before(load: Load) -> None:
    run = play("--tags=rollback")
    assert run.status == 0, run.output[-3000:]
    assert engines() == {(OLD, VERSION)}
    assert served() == dict.fromkeys(HOSTS, "v1")
    assert load.failures == []
