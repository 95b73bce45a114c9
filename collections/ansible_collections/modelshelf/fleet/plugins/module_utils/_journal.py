# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an instance is in the middle of, what happened to it before, and what it must not go back to.

`<instance>/journal.json` exists while a move is under way, `history.jsonl` has a line for each move that ended,
`hold.json` names the version that a rollback has left. Standard library and Python 3.9 only.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._durable import replace_file, sync_directory

FORMAT = 1


class JournalError(Exception):
    """A journal that cannot be read, or that is in other hands. The message says whose, and what to do."""


@dataclass(frozen=True)
class Move:
    """A move of an instance from one generation to another.

    `run` is the run of Ansible that it belongs to: who has another one may not go on with it. `before` is the
    generation that was current, None for a first start; `previous` the one before that. `step` is the one that has
    begun. `settings` are for whoever carries it out, without secrets. Times are seconds since 1970.
    """

    run: str
    who: str
    action: str
    before: int | None
    to: int
    previous: int | None
    step: str
    began: float
    cause: str = ""
    inventory_commit: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    taken_over: bool = False

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.began))
        return f"the {self.action} to generation {self.to} that {self.who} began at {since} (step {self.step})"

    def shown(self) -> dict[str, Any]:
        """What modules tell about it."""
        names = ("run", "who", "action", "before", "to", "step", "cause")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Hold:
    """What a rollback has left: the instance does not go back to this version until it is told to."""

    model: str
    version: str
    generation: int
    who: str
    time: str


class Journal:
    """The files beside the generations of one instance. Every write is complete or does not happen."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._journal, self._hold = directory / "journal.json", directory / "hold.json"
        self._history = directory / "history.jsonl"

    def move(self) -> Move | None:
        """The move that has not ended. Raises JournalError when the file is no journal."""
        found = _read(self._journal)
        return _made(Move, self._journal, found) if found is not None else None

    def hold(self) -> Hold | None:
        """What the instance is held back from. Raises JournalError when the file is no hold."""
        found = _read(self._hold)
        return _made(Hold, self._hold, found) if found is not None else None

    def free_for(self, run: str) -> Move | None:
        """The move that this run has begun already. Raises JournalError when another run's has not ended."""
        move = self.move()
        if move and move.run != run:
            raise JournalError(f"{move} has not ended. Wait for it; if that run is gone, playbooks/recover.yml ends it")
        return move

    def begin(self, move: Move) -> None:
        """Writes down that a move begins. Raises JournalError when another run's has not ended."""
        with self._locked():
            if not self.free_for(move.run):
                self._write(self._journal, asdict(move))

    def reach(self, run: str, step: str, cause: str | None = None) -> Move:
        """Writes down that a step begins, before anything of it is done. Raises JournalError as `own` does."""
        with self._locked():
            move = self.own(run)
            moved = replace(move, step=step, cause=move.cause if cause is None else cause)
            self._write(self._journal, asdict(moved))
            return moved

    def own(self, run: str) -> Move:
        """The move of this run. Raises JournalError when there is none, or when another run has taken it over."""
        move = self.move()
        if not move:
            raise JournalError("no move is under way: it was ended from elsewhere. Run the playbook again")
        if move.run != run:
            raise JournalError(f"another run has taken the instance over: {move}. Wait for it")
        return move

    def take_over(self, run: str, who: str) -> Move | None:
        """Makes a move that did not end this run's own; its old run can do nothing more. None when there is none."""
        with self._locked():
            move = self.move()
            if move and move.run != run:
                move = replace(move, run=run, who=who, taken_over=True)
                self._write(self._journal, asdict(move))
            return move

    def end(self, run: str, result: str, hold: Hold | None = None, clock: float | None = None) -> dict[str, Any]:
        """Ends the move: a line of history, and a hold where one is given. Returns the line.

        The journal goes last: after a crash in between the move is ended again, and the line stands there twice.
        """
        with self._locked():
            move, now = self.own(run), time.time() if clock is None else clock
            line = {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
                "who": move.who,
                "action": "recover" if move.taken_over else move.action,
                "from": move.before,
                "to": move.to,
                "result": result,
                "cause": move.cause,
                "seconds": round(max(0.0, now - move.began), 1),
                "inventory_commit": move.inventory_commit,
            }
            if hold:
                self._write(self._hold, asdict(hold))
            self._append(line)
            self._journal.unlink()
            sync_directory(self._directory)
            return line

    def hold_back(self, hold: Hold, current: int | None, inventory_commit: str) -> None:
        """Holds an instance back from a version that it does not serve, and writes a line of history."""
        line = {"time": hold.time, "who": hold.who, "action": "hold", "from": current, "to": current, "result": "held"}
        cause = f"back from {hold.model} {hold.version}"
        with self._locked():
            self._write(self._hold, asdict(hold))
            self._append({**line, "cause": cause, "seconds": 0.0, "inventory_commit": inventory_commit})

    def lift(self) -> None:
        """Takes the hold away, if there is one."""
        with self._locked():
            self._hold.unlink(missing_ok=True)

    def history(self, newest: int = 20) -> list[dict[str, Any]]:
        """The last moves that ended, oldest first. A line that a crash has cut off is left out."""
        try:
            lines = self._history.read_text(encoding="utf-8").splitlines()[-newest:]
        except FileNotFoundError:
            return []
        return [line for line in map(_parsed, lines) if line is not None]

    def summary(self) -> dict[str, Any]:
        """What vllm_generation_info tells about the instance. Raises JournalError when a file cannot be read."""
        move, hold = self.move(), self.hold()
        return {
            "move": move.shown() if move else None,
            "hold": asdict(hold) if hold else None,
            "history": self.history(),
        }

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._history.open("a+b") as file:
            # A line that a crash has cut off must not swallow this one.
            if file.tell() and not _ends_a_line(file):
                file.write(b"\n")
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _write(self, path: Path, content: Mapping[str, Any]) -> None:
        replace_file(path, json.dumps({"format": FORMAT, **content}, indent=2, ensure_ascii=False) + "\n", 0o644)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keeps two processes from changing the files at the same time; ends with the process that holds it."""
        descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    found = _parsed(text)
    if found is None:
        raise JournalError(f"{path} is not the JSON that Modelshelf writes: look at it, then remove it")
    if found.get("format", FORMAT) > FORMAT:
        raise JournalError(f"{path} has a format that this version cannot read: use a newer Modelshelf")
    return found


def _made(kind: Any, path: Path, found: Mapping[str, Any]) -> Any:
    """The object that a file describes. Fields that this version does not know are left out."""
    known = {name: found[name] for name in kind.__dataclass_fields__ if name in found}
    try:
        return kind(**known)
    except TypeError as error:
        raise JournalError(f"{path} lacks something: {error}. Look at it, then remove it") from None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _ends_a_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
