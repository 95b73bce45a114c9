# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running commands and saying what happens: numbered stages with the time they took."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path


class LabError(Exception):
    """Something is missing or failed; the text says what and what to do."""


def run(
    argv: Sequence[object],
    *,
    log: Path | None = None,
    env: dict[str, str] | None = None,
    text: str | None = None,
    cwd: Path | None = None,
) -> str:
    """The standard output of `argv`; with `log`, all output goes to that file instead.

    Raises LabError with the last lines of output when the command fails or does not exist.
    """
    command = [str(part) for part in argv]
    try:
        if log:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("w") as out:
                done = subprocess.run(
                    command, stdout=out, stderr=subprocess.STDOUT, env=env, cwd=cwd, input=text, text=True
                )
            output = log.read_text(errors="replace") if done.returncode else ""
        else:
            done = subprocess.run(
                command, capture_output=True, env=env, cwd=cwd, input=text, text=True, errors="replace"
            )
            output = done.stdout + done.stderr
    except FileNotFoundError as error:
        raise LabError(f"{command[0]} is not on this machine") from error
    if done.returncode:
        tail = "\n".join(f"    {line}" for line in output.strip().splitlines()[-15:])
        where = f" (all of it: {log})" if log else ""
        raise LabError(f"{' '.join(command)[:300]} ended with {done.returncode}{where}\n{tail}")
    return done.stdout or ""


class Stages:
    """`[2/7] image` ... `done in 41 s`, so that a long run shows where it is."""

    def __init__(self, total: int) -> None:
        self.total, self.number, self.began = total, 0, time.monotonic()

    @contextlib.contextmanager
    def stage(self, title: str) -> Iterator[None]:
        self.number += 1
        began = time.monotonic()
        say(f"[{self.number}/{self.total}] {title}")
        yield
        say(f"      done in {time.monotonic() - began:.0f} s ({time.monotonic() - self.began:.0f} s in all)")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One builder at a time; the lock goes with the process that holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"      waiting for another run that holds {path}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
