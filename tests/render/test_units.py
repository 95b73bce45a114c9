# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the roles write for systemd and rclone, rendered by Ansible, with names and secrets that are hard to write."""

from __future__ import annotations

import configparser
import itertools
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WRITER_SECRET = "ab%sc%nd%$x`y\"z\\'"
READER_SECRET = "%h and, a comma"
GIVEN = {
    "modelshelf_store": {"endpoint": "http://10.0.0.1:9000", "bucket": "models", "ca_file": "/etc/ssl/store%.pem"},
    "modelshelf_writer_access_key": "writer",
    "modelshelf_writer_secret_key": WRITER_SECRET,
    "modelshelf_reader_access_key": "reader",
    "modelshelf_reader_secret_key": READER_SECRET,
    "modelshelf_vllm_api_key": "key%s",
    "modelshelf_models": [
        {"name": "Qwen2.5_7B/Instruct 100%", "version": "v1"},
        {"name": "not-served-here", "version": "v1"},
    ],
    "modelshelf_instances": [
        {"name": "main", "model": "Qwen2.5_7B/Instruct 100%", "port": 8000, "served_names": "100%"}
    ],
    "weights_root": "/srv/a %h/weights",
    "weights_rclone_arguments": ["--header", 'X-Note: 5% "off" $HOME'],
    "vllm_address": "10.0.0.2",
    "vllm_start_budget": 777,
    "vllm_stop_timeout": 55,
    "vllm_shm_size": "2G",
    "vllm_service_directives": {"MemoryMax": "64G", "SystemCallFilter": ["@mount", "bpf"]},
}
SLUG = "qwen2-5-7b-instruct-100"
WEIGHTS_UNIT = f"modelshelf-weights-{SLUG}.service"
SERVER = "modelshelf-vllm@main.service"


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with everything that the roles' templates make of GIVEN. In `cached` are mounts that keep."""
    output = tmp_path_factory.mktemp("rendered")
    given = tmp_path_factory.mktemp("given") / "given.json"
    given.write_text(json.dumps(GIVEN), encoding="utf-8")
    playbook = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [
            playbook,
            "-i",
            "host,",
            HERE / "render.yml",
            "-e",
            json.dumps({"given": str(given), "output": str(output)}),
            "-e",
            f"ansible_python_interpreter={sys.executable}",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "DEPRECATION" not in done.stderr
    return output


@pytest.fixture(scope="module")
def cached(rendered: Path) -> Path:
    """The units of mounts that keep what was read."""
    return rendered / "cached"


def directives(path: Path) -> dict[str, list[str]]:
    """The values of every directive of a unit after joining lines, specifiers not yet resolved."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found[name].append(value.strip())
    return found


def argv(command: str) -> list[str]:
    """A command line as systemd passes it on: quotes and doubled signs resolved, everything else left as it is."""
    assert not re.search(r"(?<![$])[$](?!\$|MAINPID)(?:\$\$)*\w", command.replace("$$", "")), command
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(command.replace("$$", "$$"))]


def test_mount_is_read_only_readable_by_others_and_never_over_files(rendered: Path) -> None:
    unit = directives(rendered / WEIGHTS_UNIT)
    command = argv(unit["ExecStart"][0])
    assert unit["Type"] == ["notify"]
    assert {"--read-only", "--allow-other"} <= set(command)
    assert command[command.index("--umask") + 1] == "022"
    assert "--allow-non-empty" not in command
    assert command[command.index("--cache-dir") + 1].endswith(f"/{SLUG}")


def test_streaming_mount_keeps_and_answers_nothing(rendered: Path) -> None:
    unit = directives(rendered / WEIGHTS_UNIT)
    command = argv(unit["ExecStart"][0])
    assert command[command.index("--vfs-cache-mode") + 1] == "off"
    assert command[command.index("--dir-cache-time") + 1] == "3600s"
    assert not [word for word in command if word.startswith(("--rc", "--vfs-cache-max"))]
    assert unit["ExecReload"] == ["/bin/kill -HUP $MAINPID"]


def test_cached_mount_keeps_what_was_read_for_years_within_its_budget(cached: Path) -> None:
    command = argv(directives(cached / WEIGHTS_UNIT)["ExecStart"][0])
    options = dict(itertools.pairwise(command))
    assert options["--vfs-cache-mode"] == "full"
    assert (options["--vfs-cache-max-age"], options["--dir-cache-time"]) == ("87600h", "315360000s")
    assert options["--vfs-cache-max-size"] == "1610612736B", "rclone takes a number without a unit for KiB"
    assert options["--cache-dir"] == f"/var/cache/modelshelf/rclone/{SLUG}"
    assert {"--read-only", "--vfs-refresh"} <= set(command)


def test_socket_of_a_cached_mount_is_for_root_alone(cached: Path) -> None:
    unit = directives(cached / WEIGHTS_UNIT)
    command = argv(unit["ExecStart"][0])
    socket = command[command.index("--rc-addr") + 1]
    assert socket == f"unix:///run/{unit['RuntimeDirectory'][0]}/rc.sock"
    assert unit["RuntimeDirectoryMode"] == ["0700"]
    room = yaml.safe_load((ROOT / "roles/weights/vars/main.yml").read_text(encoding="utf-8"))["__weights_longest_slug"]
    assert len(socket.removeprefix("unix://")) - len(SLUG) + room == 107, "as sockaddr_un has it"


def test_reload_of_a_cached_mount_keeps_its_listing_when_the_store_is_down(cached: Path) -> None:
    shell, option, script = argv(directives(cached / WEIGHTS_UNIT)["ExecReload"][0])
    assert (shell, option) == ("/bin/sh", "-c")
    assert " vfs/refresh recursive=true || kill -HUP $MAINPID" in script


def test_arguments_that_a_cached_mount_sets_itself_are_refused(rendered: Path) -> None:
    assert json.loads((rendered / "refused.json").read_text()) == ["--vfs-cache-mode=full", "--rc", "--cache-dir"]


def test_a2_remote_path_ends_with_one_slash(rendered: Path) -> None:
    remote = argv(directives(rendered / WEIGHTS_UNIT)["ExecStart"][0])[2]
    assert remote == f"shelf-{SLUG}:models/{SLUG}/"


def test_dead_endpoint_is_cleaned_up_before_the_directory_is_made(rendered: Path) -> None:
    unit = directives(rendered / WEIGHTS_UNIT)
    clean, make = unit["ExecStartPre"][0], unit["ExecStartPre"][1]
    assert clean.startswith("-/usr/bin/fusermount3 -uz")
    assert make.startswith("/bin/mkdir -p")
    assert unit["ExecStopPost"] == [clean]
    assert (unit["Restart"], unit["StartLimitIntervalSec"]) == (["always"], ["0"])


def test_mount_unit_has_no_mount_namespace_of_its_own(rendered: Path) -> None:
    unit = directives(rendered / WEIGHTS_UNIT)
    assert not [name for name in unit if re.match(r"Protect|PrivateTmp|PrivateDevices|ReadOnly|BindPaths", name)]


def test_a19_percent_and_dollar_reach_the_process_unchanged(rendered: Path) -> None:
    text = (rendered / WEIGHTS_UNIT).read_text(encoding="utf-8")
    command = argv(directives(rendered / WEIGHTS_UNIT)["ExecStart"][0])
    assert command[3] == f"/srv/a %h/weights/{SLUG}"
    assert command[command.index("--header") + 1] == 'X-Note: 5% "off" $HOME'
    assert not re.search(r"(?<!%)%(?:%%)*[^%]", text), "a percent sign is not doubled"


def test_settings_of_rclone_hold_the_readers_key_only(rendered: Path) -> None:
    settings = configparser.RawConfigParser()
    settings.read(rendered / "rclone.conf")
    assert dict(settings[f"shelf-{SLUG}"])["secret_access_key"] == READER_SECRET
    assert settings[f"shelf-{SLUG}"]["no_check_bucket"] == "true"
    assert WRITER_SECRET not in (rendered / "rclone.conf").read_text(encoding="utf-8")


def test_a31_no_secret_in_a_unit(rendered: Path, cached: Path) -> None:
    for path in (*rendered.glob("*.*"), *cached.iterdir()):
        if path.name != "rclone.conf":
            text = path.read_text(encoding="utf-8").replace("%%", "%")
            for secret in (WRITER_SECRET, READER_SECRET, "key%s"):
                assert secret not in text, path.name


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


def test_models_that_no_instance_serves_are_not_mounted(rendered: Path) -> None:
    assert [path.name for path in rendered.glob("modelshelf-weights-*")] == [WEIGHTS_UNIT]


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
