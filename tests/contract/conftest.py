# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The servers that the contract is tried on.

RUSTFS_URL (with RUSTFS_ACCESS_KEY and RUSTFS_SECRET_KEY) names a running server; RUSTFS_BIN a real server that is
started here on an empty folder; without either it is the stand-in, packed into one file and started in the same way.

The tests of engines (test_engine*.py) run on the double of vLLM; with CONTRACT_VLLM on the lab's vLLM, too.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.replay.calls import Calls
from tests.contract.s3_server import Server, Shelf
from tests.standin.pack import pack
from tests.support.engines import DRAIN, engine, kinds, real_engine
from tests.support.gateway import KEY, Gateway
from tests.support.running_engine import RunningEngine
from tests.support.rustfs_server import RunningServer, running_server, rustfs_binary

LEFT_OUT: list[str] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that starts a server of its own says nothing about the one that RUSTFS_URL names."""
    if not os.environ.get("RUSTFS_URL"):
        return
    own = [item for item in items if {"fresh_server", "own_server", "rustfs"} & set(getattr(item, "fixturenames", ()))]
    LEFT_OUT.extend(item.nodeid for item in own)
    items[:] = [item for item in items if item not in own]
    config.hook.pytest_deselected(items=own)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    url, binary = os.environ.get("RUSTFS_URL"), os.environ.get("RUSTFS_BIN")
    terminalreporter.write_line(f"contract: tried on {url or binary or 'the stand-in'}")
    vllm = real_engine()
    terminalreporter.write_line(
        f"contract: engines tried on the double and {vllm}"
        if vllm
        else "contract: engines tried on the double alone (CONTRACT_VLLM=1 adds the lab's vLLM)"
    )
    if LEFT_OUT:
        terminalreporter.write_line(f"contract: {len(LEFT_OUT)} tests start a server of their own: left out")


@pytest.fixture(scope="session")
def rustfs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that is tried: RUSTFS_BIN or the packed stand-in."""
    return rustfs_binary(tmp_path_factory.mktemp("binary"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Server]:
    """One server for all tests that leave nothing in each other's way."""
    if os.environ.get("RUSTFS_URL"):
        yield Server(os.environ["RUSTFS_URL"], os.environ["RUSTFS_ACCESS_KEY"], os.environ["RUSTFS_SECRET_KEY"])
        return
    with running_server(tmp_path_factory.mktemp("rustfs"), request.getfixturevalue("rustfs")) as running:
        yield running


@pytest.fixture
def fresh_server(tmp_path: Path, rustfs: Path) -> Iterator[RunningServer]:
    """A new server on an empty folder, for tests that stop it, or need it empty."""
    with running_server(tmp_path / "rustfs", rustfs) as running:
        yield running


@pytest.fixture(scope="session")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed stand-in, whatever server is tried: for what only it has."""
    return pack(tmp_path_factory.mktemp("standin") / "rustfs")


@pytest.fixture
def shelf(server: Server) -> Shelf:
    bucket = f"shelf-{secrets.token_hex(6)}"
    server.client().create_bucket(Bucket=bucket)
    return Shelf(server, bucket)


@pytest.fixture
def root(server: Server) -> Calls:
    """Calls that the owner of the shared server makes."""
    return Calls(server.endpoint, server.access_key, server.secret_key)


@pytest.fixture
def fresh_name() -> str:
    """A name that nothing on the shared server has."""
    return f"t-{secrets.token_hex(6)}"


@pytest.fixture(scope="module", params=kinds())
def served(request: pytest.FixtureRequest) -> Iterator[RunningEngine]:
    """One running engine for a module, whose last test may stop it: vLLM takes a minute of two processors to start."""
    with engine(request.param, shutdown_timeout=DRAIN) as running:
        running.wait_ready()
        yield running


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway that runs what the role has written, which told the key to nobody."""
    gateway = Gateway(tmp_path_factory.mktemp("gateway"))
    done = gateway.play("configure", "-vvv", "--diff")
    assert done.returncode == 0, done.stdout + done.stderr
    assert KEY not in done.stdout + done.stderr
    gateway.start()
    yield gateway
    gateway.stop()
