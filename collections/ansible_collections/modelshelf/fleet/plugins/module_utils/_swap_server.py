# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A vLLM unit of this host as a swap handles it. Standard library and Python 3.9 only.

All that its gate needs is in the generation itself: address, port, names and key.
"""

from __future__ import annotations

import pwd
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._devices import holders
from ansible_collections.modelshelf.fleet.plugins.module_utils._durable import replace_file
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_files import plain_env_values
from ansible_collections.modelshelf.fleet.plugins.module_utils._listeners import describe, foreign
from ansible_collections.modelshelf.fleet.plugins.module_utils._ready import Gate, GateFailure, Ladder
from ansible_collections.modelshelf.fleet.plugins.module_utils._swap import ServerFault
from ansible_collections.modelshelf.fleet.plugins.module_utils._systemd import Systemd, SystemdError

_UNIT = "modelshelf-vllm@{}.service"


@dataclass(frozen=True)
class Settings:
    """The option `gate` of vllm_swap: how the gate tries a server, and how long things may take, in seconds.

    `user` is whom servers run as. `restart` names the units, mounts, whose new settings need the server out of the way.
    """

    user: str
    prompt: str = "the quick brown"
    max_tokens: int = 8
    timeout: float = 1800.0
    completion_timeout: float = 60.0
    stop_timeout: float = 150.0
    free_timeout: float = 60.0
    restart: Sequence[str] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """From the settings of a move; what it does not know is left out."""
        return cls(**{item.name: given[item.name] for item in fields(cls) if item.name in given})


class UnitServer:
    """The unit of an instance."""

    def __init__(
        self,
        instance: Instance,
        settings: Settings,
        systemd: Systemd,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        proc: str = "/proc",
        units: str = "/etc/systemd/system",
    ) -> None:
        self._instance, self._settings = instance, settings
        self._systemd, self._clock, self._sleep, self._proc = systemd, clock, sleep, proc
        self.unit = _UNIT.format(instance.name)
        self._place = Path(units, self.unit)

    def stop(self, generations: Sequence[int]) -> None:
        """Ends the unit and what it has started, and waits until the ports of `generations` and the GPUs are free."""
        try:
            if self._systemd.state(self.unit).active not in ("inactive", "failed"):
                self._systemd.stop(self.unit)
            self._wait(self._settings.stop_timeout, self._still_runs)
            self._wait(self._settings.free_timeout, partial(self._still_held, generations))
        except SystemdError as error:
            raise ServerFault(str(error)) from error

    def start(self) -> None:
        """Starts the unit as the generation that is current has it."""
        self._put_unit()
        try:
            for unit in self._settings.restart:
                self._systemd.restart(unit)
                self._wait(self._settings.stop_timeout, partial(self._not_yet, unit))
            self._systemd.start(self.unit)
        except SystemdError as error:
            raise ServerFault(str(error)) from error

    def gate(self, generation: int) -> None:
        """Climbs the ladder that proves this generation."""
        try:
            Ladder(self._gate(generation), self._systemd, proc=self._proc).climb()
        except (GateFailure, SystemdError) as failure:
            raise ServerFault(f"generation {generation} does not serve: {failure}") from failure

    def _put_unit(self) -> None:
        """Puts the unit of the current generation in its place. A generation without one leaves that as it is."""
        current = self._instance.linked("current")
        content = None if current is None else self._instance.content(current)
        if content is None or not content.unit:
            return
        if self._place.exists() and self._place.read_bytes() == content.unit.encode():
            return
        # A host that was restarted since the flip may run this generation by the unit of the other one.
        self.stop(())
        replace_file(self._place, content.unit, 0o644)

    def _gate(self, generation: int) -> Gate:
        content = self._instance.content(generation)
        if content is None:
            raise GenerationError(f"generation {generation} below {self._instance.path} is not complete")
        endpoint, given = self._instance.endpoint(generation), self._settings
        return Gate(
            unit=self.unit,
            address=endpoint["address"],
            port=endpoint["port"],
            served_names=tuple(endpoint["served_names"]),
            root=content.release["weights_path"],
            api_key=plain_env_values(content.env).get("VLLM_API_KEY", ""),
            prompt=given.prompt,
            max_tokens=given.max_tokens,
            timeout=given.timeout,
            completion_timeout=given.completion_timeout,
            interval=0.25,  # the host is out of service meanwhile
            user=given.user,
        )

    def _not_yet(self, unit: str) -> str:
        state = self._systemd.state(unit)
        return "" if state.is_active and not state.job else f"{unit} does not start: it is {state}"

    def _still_runs(self) -> str:
        state = self._systemd.state(self.unit)
        return "" if state.active in ("inactive", "failed") else f"{self.unit} does not stop: it is {state}"

    def _still_held(self, generations: Sequence[int]) -> str:
        """Who still has a port or a GPU, as a sentence; empty when nobody has."""
        for generation in generations:
            try:
                gate = self._gate(generation)
            except GenerationError:
                continue  # its own gate says so
            if others := foreign(gate.address, gate.port, "", self._proc):
                return f"{', '.join(others)} still has the port {gate.port}. Stop that process"
        try:
            user = pwd.getpwnam(self._settings.user).pw_uid
        except KeyError:
            return ""
        # Other instances of the host go on with their GPUs.
        for owner in (describe(pid, self._proc) for pid in holders(user, self._proc)):
            if owner.unit == self.unit or not owner.unit.startswith(_UNIT.partition("{")[0]):
                return f"{owner} still holds a GPU. Stop that process"
        return ""

    def _wait(self, seconds: float, problem: Callable[[], str]) -> None:
        deadline = self._clock() + seconds
        while found := problem():
            if self._clock() >= deadline:
                raise ServerFault(f"after {seconds:g} s {found}")
            self._sleep(0.1)
