# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dangerous minute: stop, flip, start, gate, and back again when the gate fails. Standard library, Python 3.9.

Every step is written into the journal before it begins, and may be done twice: whoever goes on after a crash, from
whatever step, ends with the new generation proved, or with the old one proved, or says that neither serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._journal import Journal, Move

BEGUN, DRAINED = "begun", "drained"
"""Steps of the controller, before anything is stopped."""
FORWARD = ("stop", "flip", "start", "gate")
BACK = tuple(f"revert-{step}" for step in FORWARD)
SERVED, REVERTED, FAILED = "served", "reverted", "failed"
"""How the minute ends; then the controller puts the host back among those that get requests."""
ENDS = (SERVED, REVERTED, FAILED)


class ServerFault(Exception):
    """A server that cannot be stopped or started, or does not pass its gate. The message is for the operator."""


class Server(Protocol):
    """What a swap asks of the host. Every call waits until it is done, and may be made twice."""

    def stop(self, generations: Sequence[int]) -> None:
        """Ends the server with all its processes, and waits until the ports of `generations` are free.

        Raises ServerFault.
        """

    def start(self) -> None:
        """Starts the generation that is current, by the unit that it has. Raises ServerFault and OSError."""

    def gate(self, generation: int) -> None:
        """Proves that exactly this generation serves. Raises ServerFault."""


class Swap:
    """The move in an instance's journal, carried out on its host by the run that it belongs to."""

    def __init__(self, instance: Instance, journal: Journal, server: Server, run: str) -> None:
        self._instance, self._journal, self._server, self._run = instance, journal, server, run

    def go(self, *, back: bool = False) -> Move:
        """From the step in the journal to an end, `back` to the old generation even where the new one may serve.

        Raises JournalError when the move belongs to another run, by now or from the beginning.
        """
        step = self._first(self._journal.own(self._run), back)
        while step not in ENDS:
            step = self._do(step, self._journal.reach(self._run, step))
        return self._journal.reach(self._run, step)

    def _first(self, move: Move, back: bool) -> str:
        if back and move.before not in (None, move.to) and move.step not in (*BACK, REVERTED):
            return BACK[0]
        return move.step if move.step in (*FORWARD, *BACK, *ENDS) else FORWARD[0]

    def _do(self, step: str, move: Move) -> str:
        """Does one step. Returns the one that follows, or the end."""
        reverting = step in BACK
        steps = BACK if reverting else FORWARD
        try:
            self._carry_out(FORWARD[steps.index(step)], move, reverting)
        except (ServerFault, GenerationError, OSError) as fault:
            cause = str(fault).rstrip(".")
            if reverting:
                cause = f"{move.cause}; and back on generation {move.before}: {cause}"
            self._journal.reach(self._run, step, cause)
            # There is nothing to go back to from a first start or a mere restart, and nothing behind the old one.
            return FAILED if reverting or move.before in (None, move.to) else BACK[0]
        return (*steps, REVERTED if reverting else SERVED)[steps.index(step) + 1]

    def _carry_out(self, step: str, move: Move, reverting: bool) -> None:
        if step == "stop":
            # What is in the way of the new one's port must not keep the old one from coming back.
            taken = (move.before,) if reverting else (move.before, move.to)
            self._server.stop([number for number in taken if number is not None])
        elif step == "flip" and reverting:
            self._instance.restore(move.before, move.previous)
        elif step == "flip":
            self._instance.flip(move.to)
        elif step == "start":
            self._server.start()
        else:
            self._server.gate(move.before if reverting and move.before is not None else move.to)
