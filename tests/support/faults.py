# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong on a fleet, made to happen on the test hosts."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.hosts import podman, ssh
from lab.settings import CHECKOUT
from tests.support.fleet import ADDRESSES, LAB, SSH_OPTIONS, command, controller_env, host, until

BOOT_SECONDS = 60
SERVE_SECONDS = 240
"""For one server to load and answer. About 50 s on two idle processors."""

PYTHON = "/usr/bin/python3"
OLD_SERVER = Path(__file__).with_name("old_server.py")


def restart_host(name: str) -> None:
    """Restarts a host and waits until its systemd works again."""
    host(name).run("touch /run/before-the-restart")
    subprocess.run(ssh(ADDRESSES[name], "systemctl", "reboot"), capture_output=True)
    # The connection that is kept open does not survive: new ones must not try to use it.
    subprocess.run(["ssh", *SSH_OPTIONS.split(), "-O", "exit", f"root@{ADDRESSES[name]}"], capture_output=True)
    question = "test ! -e /run/before-the-restart && systemctl list-jobs"
    until(lambda: _reached(name, question), BOOT_SECONDS, f"{name} boots")


def _reached(name: str, question: str) -> bool:
    """Whether a host answers a command with success, on a connection of its own."""
    return subprocess.run(ssh(ADDRESSES[name], question), capture_output=True).returncode == 0


@contextmanager
def stopped_store() -> Iterator[None]:
    """The store does not answer inside the block."""
    host("store1").check_output("systemctl stop modelshelf-rustfs.service")
    try:
        yield
    finally:
        host("store1").check_output("systemctl start modelshelf-rustfs.service")


@contextmanager
def lost(name: str, when: str) -> Iterator[None]:
    """Ssh no longer reaches a host from the moment on when the shell there finds `when` true, to the end of the block.

    Its servers go on.
    """
    cut = f"until {when}; do sleep 0.1; done; systemctl stop ssh; pkill -x sshd"
    host(name).check_output("systemd-run --quiet --collect --unit=lost sh -c %s", cut)
    try:
        yield
    finally:
        podman(LAB, "exec", name, "sh", "-c", "systemctl --quiet stop lost; systemctl start ssh")
        until(lambda: _reached(name, "true"), BOOT_SECONDS, f"{name} answers again")


@contextmanager
def old_server(name: str, port: int, model: str, root: str, *, shared: bool = True) -> Iterator[int]:
    """An older server on the port of an instance, outside its unit; gives its process.

    `shared`: with SO_REUSEPORT and as the same user, as vLLM itself listens, so that a newer one can listen beside it.
    """
    place, unit = "/run/old_server.py", "left-over-server.service"
    host(name).check_output(f"cat > {place} <<'END'\n{OLD_SERVER.read_text()}\nEND\n")
    program = f"{PYTHON} {place} {ADDRESSES[name]} {port} {model} {root} {int(shared)}"
    host(name).check_output(f"systemd-run --quiet --unit={unit} --uid=modelshelf --collect {program}")
    until(lambda: host(name).run(f"ss -Hltn sport = :{port} | grep -q .").rc == 0, 15, "the old server listens")
    try:
        yield int(host(name).check_output(f"systemctl show -p MainPID --value {unit}"))
    finally:
        host(name).check_output(f"systemctl stop {unit}")


def interrupted_play(
    marker: str, with_signal: signal.Signals, *arguments: str, when: Callable[[], bool] = lambda: True
) -> str:
    """Runs site.yml and sends it and its group of processes a signal once its output has `marker`; returns the output.

    SIGKILL lets the task that is under way come to its end: Ansible gives each a group of its own.
    `when`: what has to have happened on the hosts as well.
    """
    running = subprocess.Popen(
        command(*arguments), cwd=CHECKOUT, env=controller_env(), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert running.stdout
    seen = ""
    for line in running.stdout:
        seen += line
        if marker in line:
            until(when, SERVE_SECONDS, "the moment for the signal")
            os.killpg(running.pid, with_signal)
    assert running.wait() != 0, seen[-2000:]
    assert marker in seen, seen[-2000:]
    return seen
