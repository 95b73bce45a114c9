# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the double does wrong, from DOUBLE_* in its environment.

The environment, because a generation has one: an instance's `environment` gives one version a fault, on one host
through host_vars, and a rollback takes it away again. The weights stay as they were published.

DOUBLE_START_S          seconds until the port opens (0.2)
DOUBLE_TOKEN_S          seconds for each token of an answer (0.001)
DOUBLE_UNREADY_S        seconds in which /health says 200 and completions are answered with 503
DOUBLE_MODEL_ID         another id in /v1/models
DOUBLE_ROOT             another root in /v1/models
DOUBLE_FREEZE_AFTER_S   seconds after the port opened, from when on it accepts and answers nothing, nor SIGTERM
DOUBLE_REFUSE_KEY       1: 401, whatever key is given
DOUBLE_CRASH            a start that fails: a name in `crashes.CRASHES`
DOUBLE_CRASH_AFTER_S    seconds after the port opened, when the server ends with 1
DOUBLE_ENGINE_DIES_AFTER_S  seconds after the port opened, when its engine dies, and then the server with 0
DOUBLE_STOP_S           seconds that a stop holds the port for longer
DOUBLE_DEVICE           a file that is locked while the engine lives, as its memory of a GPU is
DOUBLE_SURVIVE_S        seconds that the engine outlives the server and any SIGTERM, with what it holds
DOUBLE_SURVIVE_PORT     1: that is the port too
DOUBLE_WHILE            a file: without it there are no faults, so that one host can recover without a new generation
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from .crashes import CRASHES

PREFIX = "DOUBLE_"


class BadFault(Exception):
    """A DOUBLE_* variable that means nothing: a scenario that would try nothing."""


@dataclass(frozen=True)
class Faults:
    """The variables above, in lower case. Times are in seconds, None is never."""

    start_s: float = 0.2
    token_s: float = 0.001
    unready_s: float = 0.0
    model_id: str = ""
    root: str = ""
    freeze_after_s: float | None = None
    refuse_key: bool = False
    crash: str = ""
    crash_after_s: float | None = None
    engine_dies_after_s: float | None = None
    stop_s: float = 0.0
    device: str = ""
    survive_s: float = 0.0
    survive_port: bool = False


def read_faults(environment: Mapping[str, str]) -> Faults:
    """The faults that an environment asks for. Raises BadFault for a name or a value that is none."""
    given = {name.removeprefix(PREFIX).lower(): text for name, text in environment.items() if name.startswith(PREFIX)}
    condition = given.pop("while", "")
    types = {field.name: str(field.type) for field in fields(Faults)}
    values: dict[str, float | bool | str] = {}
    for name, text in given.items():
        if name not in types:
            raise BadFault(f"{PREFIX}{name.upper()} is no fault. There are: {', '.join(sorted(types))}")
        values[name] = _value(name, types[name], text)
    if values.get("crash", "") not in ("", *CRASHES):
        raise BadFault(f"{PREFIX}CRASH={values['crash']} is none of: {', '.join(sorted(CRASHES))}")
    return Faults(**values) if not condition or Path(condition).exists() else Faults()  # type: ignore[arg-type]


def _value(name: str, kind: str, text: str) -> float | bool | str:
    try:
        if kind == "bool":
            return {"0": False, "1": True}[text]
        return float(text) if kind.startswith("float") else text
    except (KeyError, ValueError):
        wanted = "0 or 1" if kind == "bool" else "a number of seconds"
        raise BadFault(f"{PREFIX}{name.upper()}={text} is not {wanted}") from None
