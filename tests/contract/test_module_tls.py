# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules over TLS: with the server's authority, without it, and without verification when that is said."""

from __future__ import annotations

import http.client
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.modules import (
    model_version_info,
    rustfs_access_probe,
    rustfs_bucket,
    rustfs_bucket_info,
    rustfs_info,
    rustfs_user_info,
)
from tests.contract.matrix import Bench
from tests.contract.s3_server import Server
from tests.contract.test_s3_start import make_certificate
from tests.support.rustfs_server import READY, free_port, server_environment

SECRET = "canary-of-the-root"


@dataclass(frozen=True)
class Secured:
    """A server that speaks TLS, and its authority."""

    bench: Bench
    authority: str


@pytest.fixture(scope="module")
def secured(rustfs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder, port = tmp_path_factory.mktemp("secured"), free_port()
    make_certificate(folder / "tls")
    (folder / "data").mkdir()
    environment = server_environment(port, folder, "tls-root", SECRET)
    environment["RUSTFS_TLS_PATH"] = str(folder / "tls")
    authority = str(folder / "tls" / "rustfs_cert.pem")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([rustfs, "server"], env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + READY
        while not ready(port, authority):
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        server = Server(f"https://127.0.0.1:{port}", "tls-root", SECRET)
        yield Secured(Bench(server, "tls"), authority)
    finally:
        process.terminate()
        process.wait(30)


def ready(port: int, authority: str) -> bool:
    context = ssl.create_default_context(cafile=authority)
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


MODULES: list[tuple[Any, dict[str, Any]]] = [
    (rustfs_bucket, {"name": "tls-models"}),
    (rustfs_bucket_info, {}),
    (rustfs_info, {}),
    (rustfs_user_info, {}),
    (model_version_info, {"bucket": "tls-models"}),
]


@pytest.mark.parametrize(("module", "params"), MODULES)
def test_the_authority_of_the_server_is_enough(secured: Secured, module: Any, params: dict[str, Any]) -> None:
    secured.bench.done(rustfs_bucket, name="tls-models", ca_file=secured.authority)
    secured.bench.done(module, **params, ca_file=secured.authority)


@pytest.mark.parametrize(("module", "params"), [*MODULES, (rustfs_access_probe, {"bucket": "b", "prefixes": ["p"]})])
def test_an_unknown_authority_is_told_at_once(secured: Secured, module: Any, params: dict[str, Any]) -> None:
    begun = time.monotonic()
    said = secured.bench.run(module, **params)
    assert said.get("failed") and "ca_file" in said["msg"] and secured.bench.server.endpoint in said["msg"]
    assert time.monotonic() - begun < 8, "it was tried again"
    missing = secured.bench.run(module, **params, ca_file="/no/such/file")
    assert "ca_file is /no/such/file" in missing["msg"]


@pytest.mark.parametrize(("module", "params"), MODULES)
def test_verification_is_left_out_only_when_said(secured: Secured, module: Any, params: dict[str, Any]) -> None:
    secured.bench.done(rustfs_bucket, name="tls-models", validate_certs=False)
    secured.bench.done(module, **params, validate_certs=False)


def test_plain_http_on_the_port_is_unreachable(secured: Secured) -> None:
    said = secured.bench.run(rustfs_info, endpoint=secured.bench.server.endpoint.replace("https", "http"), timeout=1)
    assert said.get("failed") and "no answer" in said["msg"]


def test_the_probe_speaks_tls(secured: Secured) -> None:
    bench = secured.bench
    bench.done(rustfs_bucket, name="tls-models", ca_file=secured.authority)
    said = bench.run(rustfs_access_probe, bucket="tls-models", prefixes=["opt"], ca_file=secured.authority)
    assert "put of s3://tls-models/opt/" in said["msg"], "the root key passed for a reader"
    assert said["left_behind"] == []
