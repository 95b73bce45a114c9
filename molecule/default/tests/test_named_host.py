# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A minimal host that is added to the fleet, with awkward names, reached as a user with sudo: no acl, no FUSE."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lab.settings import CHECKOUT
from tests.support.fleet import SERVING, Run, host, play
from tests.support.serving import (
    API_KEY,
    BROWN,
    argv,
    as_user,
    ask,
    complete,
    environ,
    generated_secrets,
    manifest,
    pid,
    pids,
    reloads,
)

NAMED = CHECKOUT / "molecule" / "named-host"
NAME = "gpu-01.example.net"
MODEL, SLUG, VERSION = "Qwen2.5_7B/Instruct", "qwen2-5-7b-instruct", "2.5_b-1"
SERVER, MOUNT = "modelshelf-vllm@chat-1.service", f"modelshelf-weights-{SLUG}.service"
MOUNTPOINT = f"/srv/modelshelf/100%h/weights/{SLUG}"
PORT = 8001
LIMIT = f"--limit={NAME},localhost"


@pytest.fixture(scope="module")
def bare() -> None:
    """The host as a minimal installation has it, with the user `ops`."""
    there = host(NAME)
    there.check_output(
        "useradd --create-home --shell /bin/bash ops && echo 'ops ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/ops"
    )
    there.check_output("install -D -o ops -m 0600 /root/.ssh/authorized_keys /home/ops/.ssh/authorized_keys")
    there.check_output("apt-get purge -qq -y fuse3 && ! command -v fusermount3 fusermount")
    assert there.run("command -v setfacl").rc != 0


@pytest.fixture(scope="module", autouse=True)
def readers() -> Iterator[None]:
    """What the readers may read follows the models of the inventory: put back what the fleet's own says."""
    yield
    run = play("--tags=access")
    assert run.status == 0, run.output[-2000:]


@pytest.fixture(scope="module")
def checked(bare: None) -> Run:
    return play("--check", "--diff", LIMIT, inventories=[NAMED])


def state() -> tuple[dict[str, tuple[int, int]], list[int]]:
    """The processes that serve, and how often systemd read its units."""
    return pids(*SERVING), [reloads(name) for name in SERVING]


@pytest.fixture(scope="module")
def before() -> tuple[dict[str, tuple[int, int]], list[int]]:
    return state()


@pytest.fixture(scope="module")
def converged(checked: Run, before: object) -> Iterator[Run]:
    yield play("-vvv", "--diff", inventories=[NAMED], ANSIBLE_INJECT_INVOCATION="1")
    host(NAME).run(f"systemctl disable --now {SERVER} {MOUNT}")


def test_a34_check_mode_announces_packages_and_the_new_model(checked: Run) -> None:
    assert checked.status == 0, checked.output[-2000:]
    assert set(checked.changed()) == {NAME, "localhost"}
    installs = checked.output.partition("Install the FUSE helper")[2].partition("TASK")[0]
    assert f"changed: [{NAME}]" in installs
    assert "fuse3" in installs
    assert f"{SLUG}/{VERSION}" in checked.output


def test_a36_login_user_with_sudo_and_no_acl_is_enough(converged: Run) -> None:
    assert converged.status == 0, converged.output[-2000:]
    assert host(NAME).run("command -v setfacl").rc != 0
    assert complete(NAME, MODEL, port=PORT) == BROWN


def test_a25_nothing_else_was_changed_restarted_or_reloaded(converged: Run, before: object) -> None:
    assert converged.changed().keys() == {NAME, "localhost"}
    assert {"store1", *SERVING} <= converged.recap.keys()
    assert state() == before


def test_a37_names_are_slugged_once_and_kept_for_display(converged: Run) -> None:
    units = host(NAME).check_output("systemctl list-units --plain --no-legend 'modelshelf-*' | awk '{print $1, $3}'")
    assert units.splitlines() == [f"{SERVER} active", f"{MOUNT} active"]
    data = manifest(NAME, VERSION, MOUNTPOINT)
    assert (data["model"], data["display_name"], data["version"]) == (SLUG, MODEL, VERSION)
    release = json.loads(host(NAME).file("/var/lib/modelshelf/instances/chat-1/current/release.json").content_string)
    assert (release["model"], release["version"]) == (SLUG, VERSION)
    assert f"shelf-{SLUG}:models/{SLUG}/" in argv(NAME, pid(NAME, MOUNT))


def test_a27_names_are_served_exactly(converged: Run) -> None:
    cards = ask(NAME, "/v1/models", port=PORT)[1]["data"]
    assert {card["id"]: card["root"] for card in cards} == dict.fromkeys([MODEL, "100%h"], f"{MOUNTPOINT}/{VERSION}")
    assert complete(NAME, "100%h", port=PORT) == BROWN


def test_a19_percent_signs_arrive_as_themselves(converged: Run) -> None:
    assert MOUNTPOINT in argv(NAME, pid(NAME, MOUNT))
    assert host(NAME).check_output(f"findmnt -no FSTYPE '{MOUNTPOINT}'") == "fuse.rclone"
    assert environ(NAME, pid(NAME, SERVER))["VLLM_API_KEY"] == API_KEY
    assert ask(NAME, "/v1/models", port=PORT)[0] == 200


def test_a14_missing_helper_was_installed_and_used(converged: Run) -> None:
    helper = host(NAME).check_output(f"systemctl cat {MOUNT} | sed -n 's/^ExecStartPre=-\\(\\S*\\) .*/\\1/p'")
    assert host(NAME).file(helper).exists
    assert host(NAME).package("fuse3").is_installed


def test_a15_user_of_the_servers_reads_and_cannot_write(converged: Run) -> None:
    assert as_user(NAME, f"cat '{MOUNTPOINT}/{VERSION}/config.json'").rc == 0
    assert as_user(NAME, f"touch '{MOUNTPOINT}/{VERSION}/new'").rc != 0


def test_a35_first_run_in_full_detail_shows_no_secret(converged: Run) -> None:
    for secret in ("canary-", *generated_secrets()):
        assert secret not in converged.output
