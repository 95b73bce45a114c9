# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance, instances
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_content import difference
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.generation_contents import (
    SECRET,
    UNIT,
    content,
)


@pytest.fixture
def main(tmp_path: Path) -> Instance:
    return Instance(str(tmp_path / "instances"), "main")


def test_what_is_written_is_read_back(main: Instance) -> None:
    main.write(1, content(), "ops")
    assert main.numbers() == [1]
    assert main.content(1) == content()
    release = main.release(1)
    assert (release["format"], release["generation"], release["created_by"]) == (1, 1, "ops")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", release["created"])
    assert release["engine"] == {"runtime": "venv", "version": "0.32.0", "path": "/opt/engines/vllm-0.32.0"}


def test_the_unit_is_kept_as_it_was_given_and_its_digest_is_in_the_release(main: Instance) -> None:
    main.write(1, content(), "ops")
    kept = main.directory(1) / "unit.service"
    assert kept.read_text() == UNIT
    assert main.release(1)["unit_sha256"] == hashlib.sha256(kept.read_bytes()).hexdigest()


def test_a_generation_from_before_units_were_kept_is_usable_and_another_content(main: Instance) -> None:
    main.write(1, content(), "ops")
    (main.directory(1) / "unit.service").unlink()
    earlier = main.content(1)
    assert earlier is not None
    assert (earlier.vllm_yaml, earlier.unit) == (content().vllm_yaml, "")
    assert earlier != content()
    shown = difference(earlier, content())
    assert (shown["before"]["unit"], shown["after"]["unit"]) == ([], ["[Service]", "User=modelshelf"])


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_modes_do_not_depend_on_the_umask(main: Instance, mask: int) -> None:
    before = os.umask(mask)
    try:
        main.write(1, content(), "ops")
    finally:
        os.umask(before)
    directory = main.directory(1)
    modes = {path.name: path.stat().st_mode & 0o777 for path in directory.iterdir() if not path.is_symlink()}
    assert modes == {"vllm.yaml": 0o644, "release.json": 0o644, "env": 0o600, "unit.service": 0o644}
    assert {path.stat().st_mode & 0o777 for path in (directory, directory.parent, main.path)} == {0o755}
    assert str((directory / "engine").readlink()) == "/opt/engines/vllm-0.32.0"


def test_the_secret_is_in_no_file_that_others_can_read(main: Instance) -> None:
    main.write(1, content(), "ops")
    texts = [path for path in main.directory(1).iterdir() if path.is_file() and SECRET in path.read_text()]
    assert [path.name for path in texts] == ["env"]
    assert SECRET not in f"{content()} {content().shown()}"


def test_a_file_that_was_edited_is_another_content(main: Instance) -> None:
    main.write(1, content(), "ops")
    (main.directory(1) / "vllm.yaml").write_text('{"model": "/srv/w/tiny/v1", "port":    8000}')
    edited = main.content(1)
    assert edited != content()
    assert "not as they were written" in difference(edited, content())["after"]["note"]


@pytest.mark.parametrize("name", ["vllm.yaml", "env", "engine", "release.json"])
def test_a_generation_with_a_missing_part_equals_nothing(main: Instance, name: str) -> None:
    main.write(1, content(), "ops")
    (main.directory(1) / name).unlink()
    assert main.content(1) is None


def test_what_a_killed_run_left_is_in_nobodys_way(main: Instance) -> None:
    (main.path / "generations" / ".draft-1").mkdir(parents=True)
    (main.path / "generations" / ".draft-1" / "env").write_text("half")
    (main.path / ".current.draft").symlink_to("nowhere")
    assert main.numbers() == []
    main.write(1, content(), "ops")
    main.flip(1)
    assert sorted(path.name for path in main.path.rglob(".*")) == []


def test_a_generation_is_never_overwritten(main: Instance) -> None:
    main.write(1, content(), "ops")
    with pytest.raises(OSError, match="not empty"):
        main.write(1, content(version="v2"), "ops")
    assert main.content(1) == content()


def test_flips(main: Instance) -> None:
    for number in (1, 2, 10):
        main.write(number, content(version=f"v{number}"), "ops")
    assert main.numbers() == [1, 2, 10]
    assert (main.linked("current"), main.linked("previous")) == (None, None)
    assert [main.flip(number) for number in (1, 10, 10, 2)] == [True, True, False, True]
    assert (main.linked("current"), main.linked("previous")) == (2, 10)
    assert (main.path / "current" / "vllm.yaml").exists()
    assert str((main.path / "current").readlink()) == "generations/2"


def test_a_generation_that_is_not_there_cannot_be_current(main: Instance) -> None:
    main.write(1, content(), "ops")
    main.flip(1)
    with pytest.raises(GenerationError, match=r"no generation 9 below .*: there are 1"):
        main.flip(9)
    assert main.linked("current") == 1


def test_an_engine_that_cannot_be_run_is_refused(main: Instance, tmp_path: Path) -> None:
    engine = {"runtime": "venv", "version": "1", "path": str(tmp_path)}
    with pytest.raises(GenerationError, match=r"has no program bin/vllm"):
        main.check_engine(content(engine=engine))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vllm").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "vllm").chmod(0o755)
    main.check_engine(content(engine=engine))


@pytest.mark.parametrize("name", ["", "..", "a/b", "Main", "-a", "x" * 64])
def test_names_that_are_no_directory_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(GenerationError, match="is not usable"):
        Instance(str(tmp_path), name)


def test_a_newer_format_is_refused_and_told(main: Instance) -> None:
    main.write(1, content(), "ops")
    (main.directory(1) / "release.json").write_text('{"format": 2}')
    assert "use a newer Modelshelf" in main.summary()["generations"][0]["fault"]


def test_instances(tmp_path: Path) -> None:
    assert instances(str(tmp_path / "absent")) == []
    for name in ("b", "a"):
        Instance(str(tmp_path), name).write(1, content(), "ops")
    (tmp_path / "lost+found").mkdir()
    assert [item.summary()["instance"] for item in instances(str(tmp_path))] == ["a", "b"]
