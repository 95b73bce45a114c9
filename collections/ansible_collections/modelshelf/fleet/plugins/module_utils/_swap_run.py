# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out the move in an instance's journal, on its host, without Ansible. Standard library and Python 3.9 only.

systemd runs it in a unit of its own, so that it ends what it began whatever becomes of the controller:
`python3 -m ansible_collections.modelshelf.fleet.plugins.module_utils._swap_run ROOT INSTANCE RUN [--back]`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, JournalError
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import SERVED, Swap
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap_server import Settings, UnitServer
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, through


def run_command(command: Sequence[str], **_options: object) -> tuple[int, str, str]:
    """What AnsibleModule.run_command does for a module, which this is not."""
    return asyncio.run(_run(command))


async def _run(command: Sequence[str]) -> tuple[int, str, str]:
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=environment)
    output, error = (text.decode(errors="replace") for text in await process.communicate())
    return await process.wait(), output, error


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the new generation serves; 1 when it does not, with the cause on standard error."""
    parser = argparse.ArgumentParser(prog="modelshelf-swap", description="Carry out the move in an instance's journal.")
    parser.add_argument("root", help="the directory of all instances")
    parser.add_argument("instance", help="the name of the instance")
    parser.add_argument("run", help="the run that the move belongs to")
    parser.add_argument("--back", action="store_true", help="to the old generation, even where the new one may serve")
    given = parser.parse_args(arguments)
    try:
        instance = Instance(given.root, given.instance)
        journal = Journal(instance.path)
        move = journal.own(given.run)
        server = UnitServer(instance, Settings.of(move.settings), Systemd(through(run_command)))
        move = Swap(instance, journal, server, given.run).go(back=given.back)
    except (JournalError, GenerationError) as error:
        sys.stderr.write(f"modelshelf: {error}\n")
        return 1
    if move.step != SERVED:
        sys.stderr.write(f"modelshelf: {move.step}: {' '.join(move.cause.split())}\n")
    return 0 if move.step == SERVED else 1


if __name__ == "__main__":
    raise SystemExit(main())
