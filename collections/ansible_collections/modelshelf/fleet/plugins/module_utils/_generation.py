# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generations: complete, startable descriptions of an instance, numbered, of which `current` names one.

`<root>/<instance>/generations/<n>/{vllm.yaml,release.json,env,engine,unit.service}`, and the links `current`,
`previous`, `staged` -> generations/<n>.
A generation never changes after it was written. Standard library and Python 3.9 only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._durable import (
    make_directory,
    sync_directory,
    write_file,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_content import FORMAT, Content
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_files import parse_vllm_yaml

_UNIT = "unit.service"
"""A generation that was written before this file was part of it has none; its `unit` is empty."""
_INSTANCE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_PER_WRITE = ("generation", "created", "created_by")
"""Fields of a release that do not say what would be started."""


class GenerationError(Exception):
    """A generation that cannot be written, found or used."""


class Instance:
    """The generations of one instance below `root`."""

    def __init__(self, root: str, name: str) -> None:
        if not _INSTANCE.fullmatch(name):
            raise GenerationError(f"the instance name {name!r} is not usable: 1 to 63 characters of a-z 0-9 -")
        self.name = name
        self.path = Path(root, name)
        self.generations = self.path / "generations"

    def numbers(self) -> list[int]:
        """The generations that exist, oldest first."""
        if not self.generations.is_dir():
            return []
        return sorted(int(entry.name) for entry in self.generations.iterdir() if entry.name.isdigit())

    def directory(self, number: int) -> Path:
        """Where a generation is."""
        return self.generations / str(number)

    def linked(self, link: str) -> int | None:
        """The generation that `current`, `previous` or `staged` names, None when there is no such link."""
        path = self.path / link
        if not path.is_symlink():
            return None
        name = path.readlink().name
        return int(name) if name.isdigit() else None

    def release(self, number: int) -> dict[str, Any]:
        """The release.json of a generation. Raises GenerationError when it is not there or no JSON object."""
        path = self.directory(number) / "release.json"
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise GenerationError(f"{path} cannot be read: {error}") from None
        if not isinstance(data, dict) or data.get("format", FORMAT) > FORMAT:
            raise GenerationError(f"{path} has a format that this version cannot read: use a newer Modelshelf")
        return data

    def endpoint(self, number: int) -> dict[str, Any]:
        """Where a generation answers: `address`, `port` and `served_names`, as its vllm.yaml says.

        Raises GenerationError when that file was edited, and has them no more.
        """
        path = self.directory(number) / "vllm.yaml"
        try:
            config = parse_vllm_yaml(path.read_text(encoding="utf-8"))
            names = [str(name) for name in config["served-model-name"]]
            return {"address": str(config["host"]), "port": int(config["port"]), "served_names": names}
        except (OSError, KeyError, TypeError, ValueError):
            raise GenerationError(f"{path} was edited, and cannot be read any more") from None

    def summary(self) -> dict[str, Any]:
        """What vllm_generation_info tells about the instance."""
        generations: list[dict[str, Any]] = []
        for number in self.numbers():
            try:
                generations.append(self.release(number))
            except GenerationError as error:
                generations.append({"generation": number, "fault": str(error)})
            with suppress(GenerationError):
                generations[-1].update(self.endpoint(number))
        links = {link: self.linked(link) for link in ("current", "previous", "staged")}
        return {"instance": self.name, **links, "generations": generations}

    def content(self, number: int) -> Content | None:
        """The content of a generation, None when a part of it is missing: then it equals nothing."""
        directory = self.directory(number)
        try:
            release = {key: value for key, value in self.release(number).items() if key not in _PER_WRITE}
            yaml, env = ((directory / name).read_text(encoding="utf-8") for name in ("vllm.yaml", "env"))
            unit = (directory / _UNIT).read_text(encoding="utf-8") if (directory / _UNIT).exists() else ""
            return Content(release, yaml, env, str((directory / "engine").readlink()), unit)
        except (OSError, ValueError, GenerationError):
            return None

    def check_engine(self, content: Content) -> None:
        """Raise GenerationError unless the engine of a content can be run: better now than after a stop."""
        program = Path(content.engine, "bin", "vllm")
        if not os.access(program, os.X_OK):
            raise GenerationError(
                f"the engine at {content.engine} has no program bin/vllm: install it, or correct its path"
            )

    def write(self, number: int, content: Content, created_by: str) -> None:
        """Write a generation: complete under its number, or not at all. Raises OSError."""
        draft = self.generations / f".draft-{number}"
        if draft.exists():
            shutil.rmtree(draft)
        make_directory(draft)
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        release = {**content.release, "generation": number, "created": created, "created_by": created_by}
        write_file(draft / "vllm.yaml", content.vllm_yaml, 0o644)
        write_file(draft / "release.json", json.dumps(release, indent=2, ensure_ascii=False) + "\n", 0o644)
        write_file(draft / "env", content.env, 0o600)
        write_file(draft / _UNIT, content.unit, 0o644)
        (draft / "engine").symlink_to(content.engine)
        sync_directory(draft)
        # Renaming onto a generation that another run has written meanwhile fails: it is not empty.
        draft.rename(self.directory(number))
        sync_directory(self.generations)

    def stage(self, number: int) -> None:
        """Make `staged` name the generation that is to become current with the next move."""
        self._link("staged", number)

    def flip(self, number: int) -> bool:
        """Make `current` name a generation, and `previous` the one it named before. False when it already does.

        Each link is replaced at once; a crash between the two leaves `current` as it was.
        """
        if number not in self.numbers():
            there = ", ".join(map(str, self.numbers())) or "none"
            raise GenerationError(f"no generation {number} below {self.path}: there are {there}")
        before = self.linked("current")
        if before == number:
            return False
        if before is not None:
            self._link("previous", before)
        self._link("current", number)
        return True

    def restore(self, current: int | None, previous: int | None) -> None:
        """Make both links what they were before a flip. Raises GenerationError when that of `current` is not there.

        A generation before it that somebody has removed must not keep it from serving.
        """
        previous = previous if previous in self.numbers() else None
        for link, number in (("current", current), ("previous", previous)):
            if number is None:
                (self.path / link).unlink(missing_ok=True)
            elif number not in self.numbers():
                raise GenerationError(f"{link} cannot name generation {number} again: it is not below {self.path}")
            elif self.linked(link) != number:
                self._link(link, number)

    def _link(self, link: str, number: int) -> None:
        draft = self.path / f".{link}.draft"
        draft.unlink(missing_ok=True)
        draft.symlink_to(Path("generations", str(number)))
        draft.replace(self.path / link)
        sync_directory(self.path)


def instances(root: str) -> list[Instance]:
    """The instances that have generations below `root`, by name."""
    if not Path(root).is_dir():
        return []
    names = sorted(entry.name for entry in Path(root).iterdir() if (entry / "generations").is_dir())
    return [Instance(root, name) for name in names if _INSTANCE.fullmatch(name)]
