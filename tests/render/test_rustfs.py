# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role rustfs writes and refuses, rendered by Ansible without a host."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.render.rustfs_cases import BINARY, FINE, GIVEN, HERE, POOL, REFUSED, ROOT, RPC, SECRET, SUM, UNIT


@dataclass(frozen=True)
class Done:
    """What the role made of one description."""

    output: Path

    def text(self, name: str) -> str:
        return (self.output / name).read_text(encoding="utf-8")

    def environment(self) -> dict[str, str]:
        lines = [line for line in self.text("rustfs.env").splitlines() if line and not line.startswith("#")]
        return dict(line.split("=", 1) for line in lines)

    def unit(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for line in self.text(UNIT).replace("\\\n", " ").splitlines():
            if "=" in line and not line.startswith("#"):
                name, value = line.split("=", 1)
                found[name].append(value.strip())
        return found

    def used(self) -> dict[str, Any]:
        used: dict[str, Any] = json.loads(self.text("used.json"))
        return used


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """Description -> what came of it, from one run."""
    cases = {**FINE, **{f"refused-{number}": given for number, (given, _said) in enumerate(REFUSED)}}
    hosts = {}
    for name, given in cases.items():
        output = tmp_path_factory.mktemp(name)
        hosts[name] = {**GIVEN, "rustfs_hosts": [name], **given, "output": str(output)}
    inventory = tmp_path_factory.mktemp("given") / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
    playbook = Path(sys.executable).with_name("ansible-playbook")
    python = f"ansible_python_interpreter={sys.executable}"
    run = subprocess.run(
        [playbook, "-i", inventory, HERE / "rustfs.yml", "-e", python, "--forks=4"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "DEPRECATION" not in run.stderr
    assert "canary-" not in run.stdout + run.stderr
    return {name: Done(Path(str(facts["output"]))) for name, facts in hosts.items()}


@pytest.fixture
def single(done: dict[str, Done]) -> Done:
    return done["single"]


@pytest.fixture
def pool(done: dict[str, Done]) -> Done:
    return done["pool"]


@pytest.fixture
def container(done: dict[str, Done]) -> Done:
    return done["container"]


def test_credentials_are_given_by_file_alone(single: Done, pool: Done, container: Done) -> None:
    for done in (single, pool, container):
        environment = done.environment()
        assert environment["RUSTFS_ACCESS_KEY_FILE"] == "/etc/modelshelf/rustfs/access-key"
        assert environment["RUSTFS_SECRET_KEY_FILE"] == "/etc/modelshelf/rustfs/secret-key"
        assert not {"RUSTFS_ACCESS_KEY", "RUSTFS_SECRET_KEY", "RUSTFS_RPC_SECRET"} & set(environment)
        for name in ("rustfs.env", UNIT, "10-volumes.conf", "used.json"):
            for secret in (SECRET, RPC):
                assert secret not in done.text(name).replace("%%", "%"), name


def test_settings_of_a_single_node(single: Done) -> None:
    environment = single.environment()
    assert environment["RUSTFS_ADDRESS"] == ":9000"
    assert environment["RUSTFS_VOLUMES"] == "/srv/rustfs"
    assert (environment["RUSTFS_CONSOLE_ENABLE"], environment["RUSTFS_CHECK_UPDATE"]) == ("false", "false")
    assert environment["RUSTFS_OBS_LOGGER_LEVEL"] == "warn"
    assert not {"RUSTFS_UNSAFE_BYPASS_DISK_CHECK", "RUSTFS_TLS_PATH", "RUSTFS_CONSOLE_ADDRESS"} & set(environment)
    assert "RUSTFS_RPC_SECRET" not in single.text("rpc.env")


def test_a_text_that_says_no_is_a_no(done: dict[str, Done]) -> None:
    assert "RUSTFS_UNSAFE_BYPASS_DISK_CHECK" not in done["plain"].environment()


def test_settings_of_a_pool(pool: Done) -> None:
    assert pool.environment()["RUSTFS_VOLUMES"] == POOL["rustfs_volumes"][0]
    assert pool.text("rpc.env").splitlines()[1:] == [f"RUSTFS_RPC_SECRET={RPC}"]
    assert pool.used()["nodes"] == [f"http://store{number}:9000" for number in range(1, 5)]


def test_unit_is_tied_to_the_mounts_of_its_volumes(pool: Done) -> None:
    unit = pool.unit()
    assert unit["RequiresMountsFor"] == ["/data/rustfs0 /data/rustfs1"]
    assert unit["AssertPathIsMountPoint"] == POOL["rustfs_mount_points"]
    formats = [f"AssertPathExists={path}/.rustfs.sys/format.json" for path in POOL["rustfs_mount_points"]]
    assert pool.text("10-volumes.conf").splitlines()[2:] == formats


def test_a9_start_limit_is_above_the_servers_own_wait(single: Done, container: Done) -> None:
    for done in (single, container):
        unit = done.unit()
        assert int(unit["TimeoutStartSec"][0]) > 180
        assert (unit["Restart"], unit["StartLimitIntervalSec"]) == (["always"], ["0"])
    assert single.unit()["Type"] == ["notify"]


def test_server_is_hardened_and_writes_to_its_volumes_alone(single: Done) -> None:
    unit = single.unit()
    assert (unit["User"], unit["ReadWritePaths"]) == (["rustfs"], ["/srv/rustfs"])
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert unit["ExecStart"] == ["/opt/modelshelf/rustfs/current/rustfs server"]
    assert unit["MemoryMax"] == ["8G"]
    assert unit["SystemCallFilter"][-2:] == ["@mount", "bpf"]


def test_container_is_run_by_digest_as_its_own_user(container: Done) -> None:
    unit = container.unit()
    command = unit["ExecStart"][0].split()
    assert command[:2] == ["/usr/bin/podman", "run"]
    assert {"--network=host", "--user=10001:10001", "--read-only", "--cap-drop=ALL", "--pull=never"} <= set(command)
    assert {f"--volume={path}:{path}" for path in POOL["rustfs_mount_points"]} <= set(command)
    assert command[-2:] == ["${MODELSHELF_IMAGE}", "server"]
    assert unit["EnvironmentFile"] == ["/opt/modelshelf/rustfs/current/image.env"]
    assert container.used()["release"] == "/opt/modelshelf/rustfs/podman-0f0f0f0f0f0f"
    assert container.used()["recipe"]["image"] == f"docker.io/rustfs/rustfs@{SUM}"
    # A container without restart policy of its own: systemd starts it again.
    assert not [word for word in command if word.startswith("--restart")]


def test_docker_runs_the_same_container(done: dict[str, Done]) -> None:
    unit = done["docker"].unit()
    assert unit["ExecStart"][0].startswith("/usr/bin/docker run ")
    assert unit["Requires"] == ["docker.service"]


def test_tls_and_console(done: dict[str, Done]) -> None:
    environment = done["tls"].environment()
    assert environment["RUSTFS_TLS_PATH"] == "/etc/modelshelf/rustfs/tls"
    assert environment["RUSTFS_ADDRESS"] == "[2001:db8::1]:9443"
    assert environment["RUSTFS_CONSOLE_ADDRESS"] == "[2001:db8::1]:9001"
    assert environment["RUSTFS_UNSAFE_BYPASS_DISK_CHECK"] == "true"
    assert environment["RUSTFS_ERASURE_SET_DRIVE_COUNT"] == "4"


@pytest.mark.parametrize(("name", "address"), [("http", ":80"), ("plain", ":9000"), ("https", ":443")])
def test_port_is_the_one_of_the_endpoint(done: dict[str, Done], name: str, address: str) -> None:
    assert done[name].environment()["RUSTFS_ADDRESS"] == address


def test_every_release_has_a_directory_of_its_own(done: dict[str, Done]) -> None:
    root = "/opt/modelshelf/rustfs"
    archive, deb, rpm, binary = (done[name].used() for name in ("plain", "deb", "rpm", "binary"))
    assert archive["release"] == f"{root}/1.0.0-rc.3"
    assert archive["recipe"]["checksum"].endswith("/releases/download/1.0.0-rc.3/SHA256SUMS")
    assert archive["recipe"]["url"].endswith("/1.0.0-rc.3/rustfs-linux-ARCH-musl-v1.0.0-rc.3.zip")
    assert (deb["release"], deb["package_architecture"]) == (f"{root}/1.0.0-rc.3-package", "amd64")
    assert deb["recipe"]["url"].endswith("/rustfs_1.0.0.rc.3_ARCH.deb")
    assert rpm["package_architecture"] == "x86_64"
    digest = hashlib.sha256(Path(BINARY["rustfs_binary_file"]).read_bytes()).hexdigest()
    assert binary["release"] == f"{root}/binary-{digest[:12]}"


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[said for _given, said in REFUSED])
def test_wrong_descriptions_are_refused(done: dict[str, Done], number: int) -> None:
    found = done[f"refused-{number}"]
    message = json.dumps(json.loads(found.text("refused.json")))
    assert REFUSED[number][1] in re.sub(r"\s+", " ", message.replace("\\n", " ").replace('\\"', '"'))
    assert [path.name for path in found.output.iterdir()] == ["refused.json"]


@pytest.mark.systemd_analyze
@pytest.mark.parametrize("kind", ["single", "pool", "container"])
def test_systemd_finds_no_fault(done: dict[str, Done], tmp_path: Path, kind: str) -> None:
    text = re.sub(r"^(Exec\w+=-?)/\S+", r"\1/bin/true", done[kind].text(UNIT), flags=re.M)
    (tmp_path / UNIT).write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", tmp_path / UNIT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert UNIT not in done.stderr, done.stderr


@pytest.mark.systemd_analyze
def test_exposure_of_the_server_is_low(done: dict[str, Done], tmp_path: Path) -> None:
    (tmp_path / UNIT).write_text(done["plain"].text(UNIT), encoding="utf-8")
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", tmp_path / UNIT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-300:] + result.stderr
