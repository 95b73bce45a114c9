# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on a host, so that two moments can be compared: paths, units, packages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.support.fleet import host

# What changes on any host by itself, and what Ansible's own connection leaves.
IGNORED = (
    "/proc /sys /run /dev /tmp /var/tmp /var/log /var/lib/systemd /var/cache/apt /var/lib/apt /var/lib/dpkg "
    "/var/cache/debconf /var/cache/ldconfig /etc/ld.so.cache /etc/ssh /etc/resolv.conf /etc/hosts /etc/hostname "
    "/root/.ansible /root/.ssh /opt/lab"
).split()
IGNORED_UNITS = re.compile(
    r"unit(-file)? (session-|user@|user-runtime-dir@|apt-|run-user|run-credentials-|systemd-tmpfiles)"
)


def snapshot(name: str) -> dict[str, str]:
    """Path -> kind, mode, owner, size, time, link; `unit X`, `unit-file X` -> state; `package X` -> version."""
    pruned = " -o ".join(f"-path {path}" for path in IGNORED)
    script = (
        f"find / \\( {pruned} -o -name __pycache__ -o -fstype fuse.rclone \\) -prune"
        " -o -printf '%p\\t%y %m %U:%G %s %T@ %l\\n';"
        'systemctl list-unit-files --no-legend --no-pager | awk \'{print "unit-file "$1"\\t"$2}\';'
        "systemctl list-units --no-legend --no-pager --plain --type=service,mount"
        ' | awk \'{print "unit "$1"\\t"$4}\';'
        "dpkg-query -W -f 'package ${Package}\\t${Version}\\n'"
    )
    result = host(name).run(script)
    entries = dict(line.split("\t", 1) for line in result.stdout.splitlines() if "\t" in line)
    # A directory's time changes when anything below it does; its own entry says nothing more.
    return {
        path: re.sub(r" \d+ [\d.]+ $", "", value) if value.startswith("d ") else value
        for path, value in entries.items()
        if not IGNORED_UNITS.match(path)
    }


def differences(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """What came, went or changed between two snapshots."""
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def package_files(name: str, packages: Iterable[str]) -> set[str]:
    """The paths that packages brought to a host."""
    names = " ".join(packages)
    return set(host(name).check_output(f"dpkg -L {names}").splitlines()) if names else set()
