# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of a move that vllm_swap brings about, each with what it reports. Standard library and Python 3.9 only."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Hold, Journal, JournalError, Move
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import BACK, BEGUN, ENDS, FORWARD, SERVED
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd

ABANDONED = "abandoned"
"""The result of a move that ended before anything was stopped."""

_WORKER = "modelshelf-swap@{}.service"
_PROGRAM = "ansible_collections.modelshelf.fleet.plugins.module_utils._swap_run"


def begun(instance: Instance, move: Move, *, named: bool, check_mode: bool) -> dict[str, Any]:
    """Writes down that a move begins. The one of the same run that has begun before goes on.

    Raises JournalError when another run's has not ended, and for a rollback from where a rollback has led unless the
    generation was `named` by the user; GenerationError when it is not there.
    """
    journal = Journal(instance.path)
    hold = journal.hold()
    if move.action == "rollback" and hold and not named:
        raise JournalError(
            f"a rollback has left generation {hold.generation} ({hold.model} {hold.version}) already, at {hold.time}."
            f" To go to another one, name it as rollback_to; there are {_listed(instance)}"
        )
    # A dry run may ask for a generation that the same play would have written.
    if not check_mode and move.to not in instance.numbers():
        raise GenerationError(f"no generation {move.to} below {instance.path}: there are {_listed(instance)}")
    under_way = journal.free_for(move.run)
    if not check_mode:
        journal.begin(move)
    return {"changed": under_way is None, "move": (under_way or move).shown()}


def moved(
    instance: Instance, run: str, start: Callable[[Sequence[str]], None], systemd: Systemd, *, back: bool, library: str
) -> dict[str, Any]:
    """Has the host carry the move out, and waits until it has. `start` runs a command.

    A process that is at it already is waited for. It may be that of a run which the move was taken over from: that one
    ends at its next step, and the move goes on from there.

    Raises JournalError when the move is no longer this run's, or when its process ended before the move did.
    """
    journal, worker = Journal(instance.path), _WORKER.format(instance.name)
    done, started = journal.own(run).step in ENDS and not back, False
    while True:
        state, move = systemd.state(worker), journal.own(run)
        if state.is_active or state.active in ("activating", "deactivating"):
            time.sleep(0.1)
        elif started or (move.step in ENDS and not back):
            break
        else:
            start(worker_command(instance, run, back=back, library=library))
            started = True
    if move.step not in ENDS:
        log = " | ".join(systemd.journal(worker, lines=5))
        raise JournalError(f"{worker} ended at the step {move.step}: {log or state}. Run playbooks/recover.yml")
    return {"changed": not done, "move": move.shown()}


def worker_command(instance: Instance, run: str, *, back: bool, library: str) -> list[str]:
    """What has systemd carry the move out in a unit of its own, which no controller can take with it."""
    command = ["systemd-run", f"--unit={_WORKER.format(instance.name)}", "--collect", "--quiet", "--service-type=exec"]
    command += [f"--description=Modelshelf: move the instance {instance.name}", f"--setenv=PYTHONPATH={library}"]
    command += ["/usr/bin/python3", "-m", _PROGRAM, str(instance.path.parent), instance.name, run]
    return [*command, *(["--back"] if back else [])]


def reached(instance: Instance, run: str, step: str) -> dict[str, Any]:
    """Writes a step of the controller down. One that is reached already, or left behind, changes nothing."""
    journal = Journal(instance.path)
    move = journal.own(run)
    if move.step != BEGUN or move.step == step:
        return {"changed": False, "move": move.shown()}
    return {"changed": True, "move": journal.reach(run, step).shown()}


def taken_over(instance: Instance, run: str, who: str, *, check_mode: bool) -> dict[str, Any]:
    """Makes the move of a run that is gone this run's own, so that it can be ended; nothing where there is none."""
    journal = Journal(instance.path)
    move = journal.move()
    changed = move is not None and move.run != run
    if changed and not check_mode:
        move = journal.take_over(run, who)
    return {"changed": changed, "move": move.shown() if move else None}


def lifted(instance: Instance, *, check_mode: bool) -> dict[str, Any]:
    """Takes the hold away."""
    journal = Journal(instance.path)
    held = journal.hold() is not None
    if held and not check_mode:
        journal.lift()
    return {"changed": held}


def held(instance: Instance, move: Move, model: str, version: str, *, check_mode: bool) -> dict[str, Any]:
    """Holds the instance back from a version that it does not serve, on behalf of the rollback `move`.

    A dry run goes on beside what a run that is gone has left: a real one has ended it before.

    Raises JournalError when another run's move has not ended, GenerationError when there is no current generation.
    """
    journal = Journal(instance.path)
    if not check_mode:
        journal.free_for(move.run)
    if move.before is None:
        raise GenerationError(f"there is no current generation below {instance.path}: nothing is held back")
    hold = journal.hold()
    if hold and (hold.model, hold.version) == (model, version):
        return {"changed": False}
    if not check_mode:
        name = f"{model} {version}"
        number = [move.before, *(one for one in instance.numbers() if _version(instance, one) == name)]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        journal.hold_back(Hold(model, version, number[-1], move.who, now), move.before, move.inventory_commit)
    return {"changed": True}


def ended(instance: Instance, run: str) -> dict[str, Any]:
    """Ends the move. A rollback that serves leaves a hold on the version that it came from; a swap to another
    generation lifts it, a mere restart does not.

    Raises JournalError when the move is not this run's, or is in its dangerous minute.
    """
    journal = Journal(instance.path)
    move = journal.own(run)
    if move.step in (*FORWARD, *BACK):
        raise JournalError(f"{move} is in the middle: nothing was ended")
    result = move.step if move.step in ENDS else ABANDONED
    # Another version serves: what was left before no longer matters.
    if move.action == "swap" and result == SERVED and move.to != move.before:
        journal.lift()
    line = journal.end(run, result, _hold(instance, move, result))
    return {"changed": True, "move": move.shown(), "result": result, "line": line}


def _hold(instance: Instance, move: Move, result: str) -> Hold | None:
    if move.action != "rollback" or result != SERVED or move.before is None:
        return None
    # After a second rollback the version that the inventory names is still the one that the first has left.
    if Journal(instance.path).hold():
        return None
    left = instance.release(move.before)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Hold(str(left.get("model")), str(left.get("version")), move.before, move.who, now)


def _listed(instance: Instance) -> str:
    current = instance.linked("current")
    versions = {number: _version(instance, number) + ", current" * (number == current) for number in instance.numbers()}
    return ", ".join(f"{number} ({version})" for number, version in versions.items()) or "none"


def _version(instance: Instance, number: int) -> str:
    try:
        release = instance.release(number)
    except GenerationError:
        return "damaged"
    return f"{release.get('model')} {release.get('version')}"
