# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No mount runs on with settings that the inventory no longer has: on gpu2, in the order of this file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.faults import SERVE_SECONDS
from tests.support.fleet import ADDRESSES, host, play, until
from tests.support.serving import MOUNT, answers

STORE = {"endpoint": f"http://{ADDRESSES['store1']}:9000", "bucket": "models"}
LIMIT = "--limit=gpu2"


def rclone() -> tuple[int, str]:
    """Process and command line of the mount's rclone."""
    process = int(host("gpu2").check_output(f"systemctl show --property=MainPID --value {MOUNT}"))
    return process, host("gpu2").run(f"tr '\\0' ' ' < /proc/{process}/cmdline").stdout


@pytest.fixture(scope="module", autouse=True)
def converged() -> None:
    assert play().status == 0


def test_killed_mount_comes_back_with_its_new_settings() -> None:
    """Written by the tag mount, which restarts no mount that runs; killed before the tag serve."""
    newer = "--extra-vars=weights_listing_cache_seconds=77"
    before, line = rclone()
    assert play(LIMIT, "--tags=mount", newer).status == 0
    assert "--dir-cache-time 3600s" in line and rclone() == (before, line)
    host("gpu2").check_output(f"kill -9 {before}")
    until(lambda: "--dir-cache-time 77s" in rclone()[1], SERVE_SECONDS, "the mount comes back with 77 s")
    until(lambda: answers("gpu2"), SERVE_SECONDS, "the server comes back")
    process, _line = rclone()
    assert play(LIMIT, "--tags=mount,serve", newer).status == 0
    assert rclone()[0] == process


def test_other_certificates_restart_the_mount(tmp_path: Path) -> None:
    """rclone reads them when it starts, and not again."""
    authorities = tmp_path / "ca.pem"
    given = "--extra-vars=" + json.dumps({"modelshelf_store": {**STORE, "ca_file": str(authorities)}})
    system = Path("/etc/ssl/certs/ca-certificates.crt").read_text()
    first, *others = [part + "-----END CERTIFICATE-----\n" for part in system.split("-----END CERTIFICATE-----\n")[:3]]
    processes = []
    for content in (first, first + others[0]):
        authorities.write_text(content)
        assert play(LIMIT, "--tags=mount,serve", given).status == 0
        processes.append(rclone()[0])
        assert "--ca-cert /etc/modelshelf/store-ca.pem" in rclone()[1]
        assert answers("gpu2")
    again = play(LIMIT, "--tags=mount,serve", given)
    assert (again.status, again.changed()) == (0, {})
    assert processes[0] != processes[1] == rclone()[0]
