# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role weights writes for systemd and rclone, rendered by Ansible."""

from __future__ import annotations

import configparser
import itertools
import json
import re
from pathlib import Path

import yaml

from tests.render.unit_cases import READER_SECRET, SLUG, WEIGHTS_UNIT, WRITER_SECRET, argv, directives

ROOT = Path(__file__).resolve().parents[2]


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


def test_models_that_no_instance_serves_are_not_mounted(rendered: Path) -> None:
    assert [path.name for path in rendered.glob("modelshelf-weights-*")] == [WEIGHTS_UNIT]


def test_run_that_leaves_a_model_out_touches_neither_its_mount_nor_its_instance(rendered: Path) -> None:
    assert json.loads((rendered / "only-not-served-here.json").read_text()) == [[], []]
    assert json.loads((rendered / f"only-{SLUG}.json").read_text()) == [[WEIGHTS_UNIT], ["main"]]


def test_settings_of_rclone_are_those_of_all_mounts_also_in_a_run_that_leaves_one_out(rendered: Path) -> None:
    assert (rendered / "limited/rclone.conf").read_text() == (rendered / "rclone.conf").read_text()
