# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Namespaces that outlive the command that made them: the lab's hosts live in them and go with them.

A pure cgroup2 mount, a pid and a network namespace of the lab's own make the hosts work on machines whose
cgroups are hybrid and whose pid 1 is not systemd, and make sure that nothing is left behind. One veth joins them to the
machine, with a route to the hosts' subnet and masquerading for package downloads.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lab.run import LabError, run
from lab.settings import CHECKOUT, Lab

IP_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")


def holder(lab: Lab) -> dict[str, str] | None:
    """Who holds `lab`: {pid, started, checkout}, or None when nobody does (any more)."""
    return _held(lab.state)


def _held(state: Path) -> dict[str, str] | None:
    try:
        found: dict[str, str] = json.loads((state / "holder.json").read_text())
    except (FileNotFoundError, ValueError):
        return None
    return found if _start_time(int(found["pid"])) == found["started"] else None


def check_free(lab: Lab) -> None:
    """Raises LabError when another checkout holds `lab`, or its subnet is somebody else's."""
    held = holder(lab)
    if held and held["checkout"] != str(CHECKOUT):
        raise LabError(
            f"The hosts of '{lab.name}' are held by {held['checkout']} (pid {held['pid']}): "
            f"end them there first (make {lab.name}-down)."
        )
    route = run(["ip", "-4", "route", "show", "root", f"{lab.subnet}.0/24"])
    if not held and route.strip() and lab.link not in route:
        raise LabError(f"This machine already uses {lab.subnet}.0/24: {route.splitlines()[0].strip()}")


def start(lab: Lab) -> int:
    """The pid (on the machine) of the namespaces' first process; started when it does not run yet."""
    check_free(lab)
    held = holder(lab)
    if held:
        return int(held["pid"])
    stop(lab)  # what a killed run left
    lab.state.mkdir(parents=True, exist_ok=True)
    cgroup = _cgroup(lab)
    (cgroup / "init").mkdir(parents=True)
    unshare = "unshare --mount --propagation private --pid --net --fork --kill-child --mount-proc".split()
    script = Path(__file__).with_name("sandbox_init.sh")
    log = (lab.state / "holder.log").open("w")
    outer = subprocess.Popen(
        [*unshare, "bash", str(script), str(cgroup), lab.uplink, lab.subnet, sys.executable],
        stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    pid = _child(outer.pid)
    _join(lab, pid)
    (lab.state / "holder.json").write_text(
        json.dumps({"pid": str(pid), "started": _start_time(pid), "checkout": str(CHECKOUT)})
    )
    assert outer.stdin
    outer.stdin.write(b"go\n")
    outer.stdin.close()
    _wait_ready(lab, pid)
    return pid


def enter(lab: Lab, *argv: str | Path) -> list[str]:
    """The command line that runs `argv` inside the namespaces."""
    held = holder(lab)
    if not held:
        raise LabError(f"The hosts of '{lab.name}' are not running: make {lab.name}")
    into = f'echo $$ > {_cgroup(lab)}/init/cgroup.procs; exec nsenter -t {held["pid"]} -m -p -n -C -- "$@"'
    return ["bash", "-c", into, "enter", *map(str, argv)]


def stop(lab: Lab) -> None:
    """Ends the namespaces and all that lives in them, and takes away what they left on the machine."""
    held = holder(lab)
    if held:
        os.kill(int(held["pid"]), signal.SIGKILL)
        _until(lambda: holder(lab) is None, 30, f"pid {held['pid']} of the lab does not end")
    subprocess.run(["ip", "link", "del", lab.link], capture_output=True)
    subprocess.run(["nft", "delete", "table", "ip", _table(lab)], capture_output=True)
    _until(lambda: _remove_cgroup(_cgroup(lab)), 30, f"{_cgroup(lab)} is still in use")
    shutil.rmtree(lab.state, ignore_errors=True)
    saved = lab.state.parent / "ip_forward"
    # Another checkout may hold a lab that this one has not.
    if saved.exists() and not any(_held(other) for other in lab.state.parent.glob("*/")):
        IP_FORWARD.write_text(saved.read_text())
        shutil.rmtree(lab.state.parent)


def _join(lab: Lab, pid: int) -> None:
    saved = lab.state.parent / "ip_forward"
    if not saved.exists():
        saved.write_text(IP_FORWARD.read_text())
    run(["ip", "link", "add", lab.link, "type", "veth", "peer", "name", "up0", "netns", str(pid)])
    run(["ip", "addr", "add", f"{lab.uplink}.1/30", "dev", lab.link])
    run(["ip", "link", "set", lab.link, "up"])
    run(["ip", "route", "add", f"{lab.subnet}.0/24", "via", f"{lab.uplink}.2", "dev", lab.link])
    IP_FORWARD.write_text("1")
    table = _table(lab)
    rules = [
        f"add table ip {table}",
        f"add chain ip {table} post {{ type nat hook postrouting priority 100; }}",
        f"add rule ip {table} post ip saddr {lab.uplink}.0/30 masquerade",
        f"add rule ip {table} post ip saddr {lab.subnet}.0/24 masquerade",
        f"add chain ip {table} forward {{ type filter hook forward priority -10; }}",
        f'add rule ip {table} forward iifname "{lab.link}" accept',
        f'add rule ip {table} forward oifname "{lab.link}" accept',
    ]
    run(["nft", "-f", "-"], text="\n".join(rules) + "\n")


def _wait_ready(lab: Lab, pid: int) -> None:
    ready = Path(f"/proc/{pid}/root/run/modelshelf-lab-ready")
    log = lab.state / "holder.log"
    _until(ready.exists, 15, "the lab's namespaces did not come up", lambda: log.read_text(errors="replace"))


def _cgroup(lab: Lab) -> Path:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    roots = [fields[1] for fields in mounts if fields[2] == "cgroup2"]
    if not roots:
        raise LabError(
            "No cgroup2 hierarchy is mounted on this machine: mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified"
        )
    return Path(roots[0]) / f"modelshelf-{lab.name}"


def _remove_cgroup(top: Path) -> bool:
    for folder in sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True):
        if subprocess.run(["rmdir", folder], capture_output=True).returncode:
            return False
    return not top.exists() or subprocess.run(["rmdir", top], capture_output=True).returncode == 0


def _table(lab: Lab) -> str:
    return f"modelshelf_{lab.name}"


def _child(parent: int) -> int:
    """The child of `unshare --fork`, once it is in its own network namespace."""
    ours = Path("/proc/self/ns/net").readlink()
    children = Path(f"/proc/{parent}/task/{parent}/children")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = children.read_text().split() if children.exists() else []
        if found and Path(f"/proc/{found[0]}/ns/net").readlink() != ours:
            return int(found[0])
        time.sleep(0.05)
    raise LabError("unshare did not make the lab's namespaces (are they allowed here? unshare --net true)")


def _start_time(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _until(met: Callable[[], bool], seconds: float, failure: str, detail: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            raise LabError(f"{failure} within {seconds:.0f} s\n{detail()}".rstrip())
        time.sleep(0.1)
