# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the double does wrong, from DOUBLE_* in its environment.

The environment, because a generation has one: an instance's `environment` gives one version a fault, on one host
through host_vars, and a rollback takes it away again. The weights stay as they were published.
A span is a number of seconds, or the path of a file: it is over when that file is there.

DOUBLE_START            the span until the port opens (0.2)
DOUBLE_TOKEN_S          seconds for each token of an answer (0.001)
DOUBLE_UNREADY          the span in which /health says 200 and completions are answered with 503
DOUBLE_MODEL_ID         another id in /v1/models
DOUBLE_ROOT             another root in /v1/models
DOUBLE_FREEZE_AFTER     the span after the port opened, from when on it accepts and answers nothing, nor SIGTERM
DOUBLE_REFUSE_KEY       1: 401, whatever key is given
DOUBLE_CRASH            a start that fails: a name in `crashes.CRASHES`
DOUBLE_CRASH_AFTER      the span after the port opened, when the server ends with 1
DOUBLE_ENGINE_DIES_AFTER  the span after the port opened, when its engine dies, and then the server with 0
DOUBLE_STOP             the span for which a stop holds the port for longer
DOUBLE_DEVICE           a file that is locked while the engine lives, as its memory of a GPU is
DOUBLE_SURVIVE          the span for which the engine outlives the server and any SIGTERM, with what it holds
DOUBLE_SURVIVE_PORT     1: that is the port too
DOUBLE_WHILE            a file: without it there are no faults, so that one host can recover without a new generation
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .crashes import CRASHES
from .spans import Span, read_span

PREFIX = "DOUBLE_"
_START, _NONE = Span(0.2), Span()


class BadFault(Exception):
    """A DOUBLE_* variable that means nothing: a scenario that would try nothing."""


@dataclass(frozen=True)
class Faults:
    """The variables above, in lower case. A span that is None is never over, or not asked for."""

    start: Span = _START
    token_s: float = 0.001
    unready: Span = _NONE
    model_id: str = ""
    root: str = ""
    freeze_after: Span | None = None
    refuse_key: bool = False
    crash: str = ""
    crash_after: Span | None = None
    engine_dies_after: Span | None = None
    stop: Span = _NONE
    device: str = ""
    survive: Span | None = None
    survive_port: bool = False


def read_faults(environment: Mapping[str, str]) -> Faults:
    """The faults that an environment asks for. Raises BadFault for a name or a value that is none."""
    given = {name.removeprefix(PREFIX).lower(): text for name, text in environment.items() if name.startswith(PREFIX)}
    condition = given.pop("while", "")
    types = {field.name: str(field.type).removesuffix(" | None") for field in fields(Faults)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in types:
            raise BadFault(f"{PREFIX}{name.upper()} is no fault. There are: {', '.join(sorted(types))}")
        values[name] = _value(name, types[name], text)
    if values.get("crash", "") not in ("", *CRASHES):
        raise BadFault(f"{PREFIX}CRASH={values['crash']} is none of: {', '.join(sorted(CRASHES))}")
    return Faults(**values) if not condition or Path(condition).exists() else Faults()


_KINDS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "bool": ({"0": False, "1": True}.__getitem__, "0 or 1"),
    "float": (float, "a number of seconds"),
    "Span": (read_span, "a number of seconds or an absolute path"),
    "str": (str, "a text"),
}
"""Kind of a variable -> what reads it, and what it has to be."""


def _value(name: str, kind: str, text: str) -> Any:
    read, wanted = _KINDS[kind]
    try:
        return read(text)
    except (KeyError, ValueError):
        raise BadFault(f"{PREFIX}{name.upper()}={text} is not {wanted}") from None
