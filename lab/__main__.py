# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's command line: python3 -m lab {up,down,status,hosts,environment}. `make` calls it."""

from __future__ import annotations

import argparse
import sys

from lab import engine, fleet, hosts, sandbox, store
from lab.environment import make_environment
from lab.image import image_store
from lab.machine import NEEDED_BY_TESTS, check_machine, install_packages
from lab.run import LabError, Stages, say
from lab.settings import CACHE, CHECKOUT, LABS, Lab


def prepare(stages: Stages, lab: Lab) -> dict[str, str]:
    """Everything up to running hosts; returns name -> address."""
    with stages.stage("this machine: what the lab needs"):
        check_machine()
        sandbox.check_free(lab)
        install_packages()
    with stages.stage("Python environment (.venv)"):
        environment = make_environment()
    with stages.stage("host image"):
        image_store()
    with stages.stage(f"namespaces and network ({lab.subnet}.0/24)"):
        hosts.make_secrets()
        hosts.configure(lab)
    with stages.stage("store: RustFS, or its stand-in"):
        store.store_binary()
    with stages.stage("engine: vLLM for CPUs, as a wheel folder and as an environment"):
        binds = engine.engine(lab, environment)
    with stages.stage("small models in Hugging Face format"):
        engine.models(lab, binds)
    with stages.stage("hosts with systemd and ssh"):
        return hosts.up(lab, environment, binds)


def up(lab: Lab) -> None:
    stages = Stages(10)
    addresses = prepare(stages, lab)
    with stages.stage("the fleet: ansible-playbook site.yml"):
        fleet.converge(lab)
    with stages.stage("a completion from every server"):
        fleet.show(lab, addresses)


def status(lab: Lab) -> None:
    held = sandbox.holder(lab)
    if not held:
        say(f"The hosts of '{lab.name}' do not run. Start them: make lab")
        return
    say(f"held by {held['checkout']} (pid {held['pid']})")
    say(hosts.podman(lab, "ps", "--all", "--format", "table {{.Names}}  {{.Status}}").rstrip())
    if held["checkout"] == str(CHECKOUT):
        fleet.table(lab)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m lab", description=__doc__)
    parser.add_argument("command", choices=["up", "down", "status", "hosts", "packages", "environment"])
    parser.add_argument("--name", choices=sorted(LABS), default="lab", help="which set of hosts (default: lab)")
    parser.add_argument("--python", metavar="3.X", help="for environment: this Python alone, linked as .venv-3.X")
    arguments = parser.parse_args()
    lab = LABS[arguments.name]
    try:
        if arguments.command == "up":
            up(lab)
        elif arguments.command == "hosts":
            prepare(Stages(8), lab)
        elif arguments.command == "packages":
            install_packages(NEEDED_BY_TESTS)
        elif arguments.command == "environment" and arguments.python:
            version = (3, int(arguments.python.removeprefix("3.")))
            make_environment(version, version, f".venv-{arguments.python}")
        elif arguments.command == "environment":
            make_environment()
        elif arguments.command == "status":
            status(lab)
        else:
            sandbox.check_free(lab)
            hosts.down(lab)
            say(f"The hosts of '{lab.name}' are gone. The caches stay in {CACHE}.")
    except LabError as error:
        sys.stderr.write(f"lab: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("lab: interrupted; run the same command again to go on, or make lab-down to end it\n")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
