# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role vllm writes for systemd, and what holds for all units, rendered by Ansible."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.render.unit_cases import READER_SECRET, SERVER, WEIGHTS_UNIT, WRITER_SECRET, directives

ROOT = Path(__file__).resolve().parents[2]


def test_a29_one_budget_drives_every_timeout(rendered: Path) -> None:
    unit = directives(rendered / SERVER)
    assert unit["TimeoutStartSec"] == ["777"]
    assert "VLLM_ENGINE_READY_TIMEOUT_S=777" in unit["Environment"]
    assert unit["Type"] == ["exec"], "a notify-type unit would wait for a message that vLLM does not send"
    gate = (ROOT / "roles" / "rollout" / "tasks" / "instance.yml").read_text(encoding="utf-8")
    assert 'timeout: "{{ vllm_start_budget }}"' in gate


def test_a30_every_cache_is_in_the_units_own_directory(rendered: Path) -> None:
    unit = directives(rendered / SERVER)
    environment = dict(entry.split("=", 1) for entry in unit["Environment"])
    for name in (
        "HOME",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "VLLM_CACHE_ROOT",
        "VLLM_CONFIG_ROOT",
        "HF_HOME",
        "TORCHINDUCTOR_CACHE_DIR",
        "TRITON_CACHE_DIR",
        "FLASHINFER_WORKSPACE_BASE",
    ):
        assert environment[name].startswith("/var/cache/modelshelf/vllm/%i"), name
    assert unit["CacheDirectory"] == ["modelshelf/vllm/%i"]
    assert unit["CacheDirectoryMode"] == ["0700"]


def test_server_reads_its_settings_from_the_generation(rendered: Path) -> None:
    unit = directives(rendered / SERVER)
    current = "/var/lib/modelshelf/instances/%i/current"
    assert unit["ExecStart"] == [f"{current}/engine/bin/vllm serve --config {current}/vllm.yaml"]
    assert unit["EnvironmentFile"] == [f"{current}/env"]
    assert unit["ExecStartPre"][0].endswith(f"_weights check {current}/release.json")


def test_server_is_hardened_and_can_reach_gpus(rendered: Path) -> None:
    unit = directives(rendered / SERVER)
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["NoNewPrivileges"] == unit["PrivateTmp"] == unit["ProtectHome"] == ["yes"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert "PrivateDevices" not in unit
    assert "MemoryDenyWriteExecute" not in unit
    assert unit["KillMode"] == ["mixed"]
    assert unit["TimeoutStopSec"] == ["55"]
    assert unit["TemporaryFileSystem"] == ["/dev/shm:size=2G,mode=1777"]


def test_own_directives_are_added_and_lists_repeat(rendered: Path) -> None:
    unit = directives(rendered / SERVER)
    assert unit["MemoryMax"] == ["64G"]
    assert unit["SystemCallFilter"][-2:] == ["@mount", "bpf"]


def test_server_follows_its_mount_and_a_late_mount_does_not_cancel_it(rendered: Path) -> None:
    unit = directives(rendered / SERVER)
    assert unit["PartOf"] == [WEIGHTS_UNIT]
    assert unit["After"] == unit["Wants"] == [f"network-online.target {WEIGHTS_UNIT}"]
    assert not {"Requires", "BindsTo"} & set(unit)


def test_a31_no_secret_in_a_unit(rendered: Path, cached: Path) -> None:
    for path in (*rendered.glob("*.*"), *cached.iterdir()):
        if path.name != "rclone.conf":
            text = path.read_text(encoding="utf-8").replace("%%", "%")
            for secret in (WRITER_SECRET, READER_SECRET, "key%s"):
                assert secret not in text, path.name


@pytest.mark.systemd_analyze
@pytest.mark.parametrize(
    ("preset", "unit"),
    [("rendered", WEIGHTS_UNIT), ("cached", WEIGHTS_UNIT), ("rendered", SERVER)],
)
def test_systemd_finds_no_fault(request: pytest.FixtureRequest, tmp_path: Path, preset: str, unit: str) -> None:
    text = (request.getfixturevalue(preset) / unit).read_text(encoding="utf-8")
    for program in re.findall(r"^Exec\w+=-?(/[^\s]+)", text, flags=re.M):
        text = text.replace(f"={program}", "=/bin/true").replace(f"=-{program}", "=-/bin/true")
    target = tmp_path / unit
    target.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", "--man=no", target],
        capture_output=True,
        text=True,
        check=False,
    )
    assert unit not in done.stderr, done.stderr
