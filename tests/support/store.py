# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A store of its own on a test host: runs of the role, what the host then has, releases to install."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from lab.settings import CHECKOUT, SSH_KEY
from tests.standin.pack import pack
from tests.support.fleet import ADDRESSES, RUNS, SSH_OPTIONS, Run, controller_env, host

NAME = "gpu3"
UNIT = "modelshelf-rustfs.service"
VOLUME = "/srv/rustfs"
SETTINGS = "/etc/modelshelf/rustfs"
ROOT = "/opt/modelshelf/rustfs"
ACCESS, SECRET = "shelf-root-canary", "canary-root-58f1-%s$x&y"
GATE_SECONDS = 30
GOOD, NEWER, BROKEN = "1.0.0-rc.3", "1.0.0-rc.4", "1.0.1"
"""Releases of the stand-in: two that work, and one that never becomes ready."""


@dataclass
class Shop:
    """The test host, or several, as a store, with the variables of its inventory."""

    folder: Path
    variables: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = (NAME,)

    def run(self, *arguments: str, **changes: Any) -> Run:
        """Runs the role with the variables and `changes`. What is None is left to the role."""
        given = {**self.defaults(), **self.variables, **changes}
        facts = {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(SSH_KEY),
            "ansible_ssh_common_args": "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
            **{name: value for name, value in given.items() if value is not None},
        }
        inventory = self.folder / "hosts.json"
        hosts = {name: {"ansible_host": ADDRESSES[name], **facts} for name in self.names}
        inventory.write_text(json.dumps({"all": {"children": {"store": {"hosts": hosts}}}}))
        program = CHECKOUT / ".venv/bin/ansible-playbook"
        done = subprocess.run(
            [program, CHECKOUT / "molecule/store/store.yml", f"--inventory={inventory}", *arguments],
            cwd=CHECKOUT, env=controller_env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        rows = re.findall(r"^(\S+)\s+: (ok=\d+ .*)$", done.stdout, re.M)
        recap = {name: {key: int(count) for key, count in re.findall(r"(\w+)=(\d+)", row)} for name, row in rows}
        assert SECRET not in done.stdout
        RUNS.append(Run(done.returncode, done.stdout, recap))
        return RUNS[-1]

    def defaults(self) -> dict[str, Any]:
        return {
            "modelshelf_store": {"endpoint": f"http://{ADDRESSES[NAME]}:9000", "bucket": "models"},
            "modelshelf_root_access_key": ACCESS,
            "modelshelf_root_secret_key": SECRET,
            "rustfs_source": "binary",
            "rustfs_binary_file": str(self.binary(GOOD)),
            "rustfs_gate_timeout": GATE_SECONDS,
            "rustfs_minimum_free": 1,
        }

    def binary(self, version: str) -> Path:
        """A release of the stand-in as one file; BROKEN listens and is never ready."""
        target = self.folder / f"rustfs-{version}"
        if not target.exists():
            pack(target, version=version, defaults={"STANDIN_NEVER_READY": "true"} if version == BROKEN else {})
        return target

    def s3(self, scheme: str = "http", ca_file: str | None = None, secret: str = SECRET) -> Any:
        """A client with the root key."""
        return boto3.client(
            "s3", endpoint_url=f"{scheme}://{ADDRESSES[NAME]}:9000", verify=ca_file, region_name="us-east-1",
            aws_access_key_id=ACCESS, aws_secret_access_key=secret,
            config=Config(s3={"addressing_style": "path"}, connect_timeout=5, retries={"total_max_attempts": 3}),
        )  # fmt: skip


def said(run: Run) -> str:
    """The output of a run on one line, as its messages are."""
    return re.sub(r"\s+", " ", run.output)


def sh(command: str) -> str:
    """The output of a command on the test host, which must succeed."""
    return str(host(NAME).check_output(command))


def pid() -> int:
    """The main process of the unit; 0 when it does not run."""
    return int(sh(f"systemctl show --property=MainPID --value {UNIT}"))


def release() -> str:
    """The name of the release that the link points to."""
    return Path(sh(f"readlink {ROOT}/current")).name


def reset(name: str = NAME) -> None:
    """A test host as if there had never been a store on it."""
    host(name).run(
        f"systemctl disable --now {UNIT} 2>/dev/null;"
        f" rm -rf /etc/systemd/system/{UNIT} /etc/systemd/system/{UNIT}.d /etc/modelshelf/rustfs {ROOT}"
        f" /var/lib/modelshelf/store.json; systemctl daemon-reload; umount -q {VOLUME}; rm -rf {VOLUME}; true"
    )


def deployment() -> str:
    """Which store the host has, as the role wrote it down."""
    return str(json.loads(sh("cat /var/lib/modelshelf/store.json"))["deployment_id"])


def put(source: Path, target: str) -> None:
    """Copies a file to the test host."""
    place = f"root@{ADDRESSES[NAME]}:{target}"
    subprocess.run(["scp", "-q", "-i", SSH_KEY, *SSH_OPTIONS.split(), source, place], check=True)
