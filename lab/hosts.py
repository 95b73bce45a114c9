# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's hosts: containers with systemd as pid 1 and ssh, made from the inventory."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lab import sandbox
from lab.image import IMAGE, image_store
from lab.run import LabError, run, say
from lab.settings import CACHE, CHECKOUT, SECRETS, SSH_KEY, Lab, fingerprint

CONTAINERS_CONF = """[containers]
pids_limit = 0
default_ulimits = ["nofile={nofile}:{nofile}", "nproc=32768:32768"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
[network]
network_backend = "netavark"
network_config_dir = "/run/containers/networks"
"""
STORAGE_CONF = """[storage]
driver = "overlay"
graphroot = "{graphroot}"
runroot = "/run/containers/storage"
[storage.options]
additionalimagestores = ["{images}"]
"""
# What a host needs to be a host: systemd, FUSE mounts, nested engines.
RUN = (
    "--restart=always --systemd=always --shm-size=1g --stop-timeout=5 "
    "--cap-add=SYS_ADMIN,NET_ADMIN,SYS_PTRACE,MKNOD,NET_RAW,AUDIT_WRITE --device=/dev/fuse "
    "--security-opt=seccomp=unconfined --security-opt=unmask=ALL --security-opt=apparmor=unconfined"
).split()


def inventory_options(lab: Lab) -> list[str]:
    return [f"--inventory={path}" for path in lab.inventories]


def inventory_data(lab: Lab, environment: Path) -> dict[str, dict[str, Any]]:
    """Host name -> its variables, as Ansible reads them from the lab's inventories (untemplated)."""
    argv = [environment / "bin" / "ansible-inventory", "--list", *inventory_options(lab)]
    hosts: dict[str, dict[str, Any]] = json.loads(run(argv, cwd=CHECKOUT))["_meta"]["hostvars"]
    return {name: facts for name, facts in hosts.items() if "ansible_host" in facts}


def make_secrets() -> None:
    """The lab's ssh key and credentials, each made once, readable by their owner alone."""
    if not SSH_KEY.exists():
        SSH_KEY.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "modelshelf-lab", "-f", SSH_KEY])
    names = [f"{who}_{part}_key" for who in ("root", "writer", "reader") for part in ("access", "secret")]
    known = json.loads(SECRETS.read_text()) if SECRETS.exists() else {}
    made = {name: secrets.token_urlsafe(24) for name in [*names, "vllm_api_key"] if name not in known}
    if made:
        SECRETS.touch(mode=0o600)
        SECRETS.write_text(json.dumps(known | made))


def podman(lab: Lab, *argv: str | Path, log: Path | None = None) -> str:
    """Runs podman inside the lab's namespaces with the lab's own configuration."""
    conf, storage = lab.storage / "containers.conf", lab.storage / "storage.conf"
    env = {**os.environ, "CONTAINERS_CONF": str(conf), "CONTAINERS_STORAGE_CONF": str(storage)}
    return run(sandbox.enter(lab, "podman", *argv), env=env, log=log)


def configure(lab: Lab) -> None:
    """Starts the lab's namespaces and writes podman's configuration for them."""
    images = image_store()
    fresh = sandbox.holder(lab) is None
    sandbox.start(lab)
    if fresh:
        shutil.rmtree(lab.storage, ignore_errors=True)
    lab.storage.mkdir(parents=True, exist_ok=True)
    hard = min(int(run(["bash", "-c", "ulimit -Hn"]).strip().replace("unlimited", "1048576")), 1048576)
    (lab.storage / "containers.conf").write_text(CONTAINERS_CONF.format(nofile=hard))
    (lab.storage / "storage.conf").write_text(STORAGE_CONF.format(graphroot=lab.storage / "graph", images=images))


def up(lab: Lab, environment: Path, binds: dict[Path, str]) -> dict[str, str]:
    """Makes the hosts of the lab's inventory run; `binds`: folder on this machine -> read-only place in every host.

    A host that runs already, made from the same image and options, is kept. Returns name -> address.
    """
    hosts = {name: str(facts["ansible_host"]) for name, facts in inventory_data(lab, environment).items()}
    if not hosts:
        raise LabError(f"No host of {', '.join(lab.inventories)} has an ansible_host")
    if "fleet" not in podman(lab, "network", "ls", "--format", "{{.Name}}").split():
        podman(lab, "network", "create", "--subnet", f"{lab.subnet}.0/24", "fleet")
    options = [*RUN, *(f"--volume={source}:{place}:ro" for source, place in binds.items())]
    options.append(f"--volume={SSH_KEY}.pub:/root/.ssh/authorized_keys:ro")
    wanted = fingerprint(json.dumps([options, str(image_store())]))
    listed = json.loads(podman(lab, "ps", "--all", "--format", "json") or "[]")
    running = {
        item["Names"][0]: (item["Labels"] or {}).get("made-from", "") for item in listed if item["State"] == "running"
    }
    for name in {item["Names"][0] for item in listed}:
        if name not in hosts or running.get(name) != f"{wanted}-{hosts[name]}":
            podman(lab, "rm", "--force", "--volumes", "--time=2", name)
    for name, address in hosts.items():
        if running.get(name) != f"{wanted}-{address}":
            say(f"      starting {name} ({address})")
            label = f"--label=made-from={wanted}-{address}"
            place = [f"--name={name}", f"--hostname={name}", "--network=fleet", f"--ip={address}", label]
            podman(lab, "run", "--detach", *place, *options, IMAGE, log=CACHE / "logs" / f"{lab.name}-{name}.log")
    known = lab.storage / "known_hosts"
    with ThreadPoolExecutor() as pool:
        keys = list(pool.map(_wait_booted, hosts.values()))
    known.write_text("".join(keys))
    return hosts


def ssh(address: str, *command: str) -> list[str]:
    """The command line that runs `command` on a host of the lab as root."""
    options = (
        "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=5".split()
    )
    return ["ssh", "-i", str(SSH_KEY), *options, f"root@{address}", *command]


def _wait_booted(address: str) -> str:
    """Waits until systemd has started everything; returns the host's key in known_hosts form."""
    deadline = time.monotonic() + 60
    while True:
        try:
            run(ssh(address, "systemctl", "is-system-running", "--wait"))
            return run(["ssh-keyscan", "-t", "ed25519", address])
        except LabError as error:
            if time.monotonic() > deadline:
                raise LabError(f"{address} did not boot within 60 s: {error}") from error
            time.sleep(0.5)


def down(lab: Lab) -> None:
    """Ends the hosts and their namespaces and removes their storage."""
    sandbox.stop(lab)
    shutil.rmtree(lab.storage, ignore_errors=True)
