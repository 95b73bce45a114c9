# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vllm_generation and vllm_generation_info, as Ansible runs them: check, real, check again, again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH
from ansible_collections.modelshelf.fleet.plugins.modules import vllm_generation, vllm_generation_info
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.host_parts import publish

SECRET = "canary-key-7f3a"
UNIT = "[Service]\nDescription=100%% %i\n"
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    publish(tmp_path / "v1")
    publish(tmp_path / "v2", {"config.json": b"[]"})
    (tmp_path / "engine" / "bin").mkdir(parents=True)
    (tmp_path / "engine" / "bin" / "vllm").write_text("#!/bin/sh\n")
    (tmp_path / "engine" / "bin" / "vllm").chmod(0o755)

    def run(module: Any = vllm_generation, version: str = "v1", check: bool = False, **changes: Any) -> dict[str, Any]:
        arguments = {"root": str(tmp_path / "instances"), "instance": "main", **changes}
        if module is vllm_generation and changes.get("state") not in ("current", "pruned"):
            wanted = {
                "model": "tiny",
                "version": version,
                "weights_path": str(tmp_path / version),
                "config": {"model": str(tmp_path / version), "port": 8000},
                "environment": {"VLLM_API_KEY": SECRET, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "0,1"},
                "engine": {"version": "0.32.0", "path": str(tmp_path / "engine")},
                "unit": UNIT,
            }
            arguments = {**wanted, **arguments}
        with (
            patch_module_args({**arguments, "_ansible_check_mode": check, "_ansible_inject_invocation": True}),
            pytest.raises(SystemExit),
        ):
            module.main()
        text = capsys.readouterr().out
        assert SECRET not in text
        result: dict[str, Any] = json.loads(text)
        return result

    return run


def test_check_then_real_then_again(run: Run, tmp_path: Path) -> None:
    for check, changed in ((True, True), (False, True), (True, False), (False, False)):
        before = sorted(map(str, tmp_path.rglob("*")))
        result = run(check=check)
        assert (result["changed"], result["generation"], result["current"]) == (changed, 1, None)
        assert result["restart_needed"] is True
        assert result["path"] == str(tmp_path / "instances/main/generations/1")
        assert (sorted(map(str, tmp_path.rglob("*"))) == before) == (check or not changed)


def test_a_new_version_is_a_new_generation_and_the_old_one_stays_current(run: Run) -> None:
    run()
    assert run(state="current", generation=1)["restart_needed"] is False
    for check in (True, False):
        result = run(version="v2", check=check)
        assert (result["generation"], result["current"], result["restart_needed"]) == (2, 1, True)
        assert result["diff"]["before"]["release"]["version"] == "v1"
        assert result["diff"]["after"]["release"]["version"] == "v2"


def test_another_unit_is_a_new_generation_that_holds_it(run: Run, tmp_path: Path) -> None:
    run()
    run(state="current", generation=1)
    changed = UNIT + "MemoryMax=1G\n"
    for check, differs in ((True, True), (False, True), (True, False), (False, False)):
        result = run(unit=changed, check=check)
        assert (result["changed"], result["generation"], result["restart_needed"]) == (differs, 2, True)
        assert result["diff"]["before"]["unit"] == UNIT.splitlines()
        assert result["diff"]["after"]["unit"] == changed.splitlines()
    generations = tmp_path / "instances/main/generations"
    assert [(generations / number / "unit.service").read_text() for number in "12"] == [UNIT, changed]
    digests = [json.loads((generations / number / "release.json").read_text())["unit_sha256"] for number in "12"]
    assert digests == [hashlib.sha256(text.encode()).hexdigest() for text in (UNIT, changed)]
    assert run()["generation"] == 1


def test_going_back_by_the_inventory_takes_the_generation_that_is_there(run: Run) -> None:
    """Also one that was written for hosts which the rollout never reached: it does not make them move."""
    run()
    run(state="current", generation=1)
    assert run(version="v2")["generation"] == 2
    for changed in (True, False):
        result = run()
        assert (result["changed"], result["generation"], result["restart_needed"]) == (changed, 1, False)
    run(state="current", generation=2)
    result = run()
    assert (result["changed"], result["generation"], result["restart_needed"]) == (False, 1, True)
    assert result["diff"]["before"]["release"]["version"] == "v2"


def test_what_is_staged_last_is_named(run: Run, tmp_path: Path) -> None:
    def staged() -> int | None:
        return Instance(str(tmp_path / "instances"), "main").linked("staged")

    result = run(check=True)
    assert (result["changed"], staged()) == (True, None)
    assert result["diff"]["after"]["staged"] == f"{tmp_path}/instances/main/staged -> generations/1"
    assert (run()["changed"], staged()) == (True, 1)
    run(version="v2")
    assert staged() == 2
    result = run(check=True)
    assert (result["changed"], staged()) == (True, 2)
    link = f"{tmp_path}/instances/main/staged -> generations"
    assert [result["diff"][side]["staged"] for side in ("before", "after")] == [f"{link}/2", f"{link}/1"]
    run()
    assert (staged(), run()["changed"]) == (1, False)


def test_flipping_and_flipping_back(run: Run) -> None:
    run()
    run(version="v2")
    for number, check, changed, previous in (
        (1, True, True, None),
        (1, False, True, None),
        (1, True, False, None),
        (2, True, True, 1),
        (2, False, True, 1),
        (2, False, False, 1),
    ):
        result = run(state="current", generation=number, check=check)
        assert (result["changed"], result["current"], result["previous"]) == (changed, number, previous)
    assert run(state="current", generation=1)["diff"] == {
        "before": {"current": 2, "previous": 1},
        "after": {"current": 1, "previous": 2},
    }


def test_pruned_generations_are_gone_and_no_number_is_used_twice(run: Run, tmp_path: Path) -> None:
    for port in range(1, 9):
        run(config={"port": port})
    for number in (1, 3):
        run(state="current", generation=number)
    left = list(range(1, 9))
    for keep, after in ((5, [1, 3, 4, 5, 6, 7, 8]), (3, [1, 3, 6, 7, 8]), (2, [1, 3, 7, 8])):
        gone = sorted({*left} - {*after})
        for check, changed in ((True, True), (False, True), (True, False), (False, False)):
            result = run(state="pruned", keep=keep, check=check)
            assert (result["changed"], result["removed"]) == (changed, gone if changed else [])
            assert (result["current"], result["previous"]) == (3, 1)
            assert result["diff"]["before"] == {"generations": left if changed else after}
            assert result["diff"]["after"] == {"generations": after}
            there = sorted(int(path.name) for path in (tmp_path / "instances/main/generations").iterdir())
            assert there == (left if check and changed else after)
        left = after
    assert run(config={"port": 2})["generation"] == 9


def test_pruning_ends_a_removal_that_was_killed(run: Run, tmp_path: Path) -> None:
    run()
    rest = tmp_path / "instances/main/generations/.removed-4"
    rest.mkdir()
    for check, changed in ((True, True), (False, True), (True, False), (False, False)):
        result = run(state="pruned", keep=2, check=check)
        assert (result["changed"], result["removed"]) == (changed, [4] if changed else [])
        assert rest.exists() == (check and changed)


@pytest.mark.parametrize("check", [False, True])
def test_pruning_on_a_bare_host(run: Run, check: bool) -> None:
    assert run(state="pruned", keep=2, check=check)["changed"] is False


def test_a34_check_mode_on_a_bare_host(run: Run, tmp_path: Path) -> None:
    bare = {"weights_path": "/srv/nowhere/v1", "engine": {"version": "1", "path": "/opt/nowhere"}}
    result = run(check=True, **bare)
    assert (result["changed"], result["generation"]) == (True, 1)
    assert result["diff"]["after"]["release"]["manifest_digest"] is None
    assert run(state="current", generation=1, check=True)["changed"] is True
    assert not (tmp_path / "instances").exists()
    assert "/srv/nowhere is not a mount point" in run(**bare)["msg"]


def test_digest_is_known_although_the_weights_cannot_be_read_now(run: Run, tmp_path: Path) -> None:
    first = run()
    manifest = tmp_path / "v1" / MANIFEST_PATH
    digest = json.loads(manifest.read_text())["digest"]
    manifest.unlink()
    assert "msg" in run()
    assert run(check=True)["changed"] is False
    assert run(manifest_digest=digest)["changed"] is False
    assert run(check=True, weights_path="/srv/nowhere/v1")["diff"]["after"]["release"]["manifest_digest"] is None
    assert run(manifest_digest="sha256:other")["generation"] == first["generation"] + 1


def test_a35_short_values_of_the_environment_do_not_blank_out_the_result(run: Run) -> None:
    result = run()
    assert result["generation"] == 1
    names = ["CUDA_VISIBLE_DEVICES", "HF_HUB_OFFLINE", "VLLM_API_KEY"]
    assert result["diff"]["after"]["environment"] == names
    assert result["invocation"]["module_args"]["environment"] == names


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engine": {"version": "1", "path": "/opt/nowhere"}}, "the engine at /opt/nowhere has no program bin/vllm"),
        ({"config": {"api-key": SECRET}}, "api-key is a secret"),
        ({"environment": {"A-B": SECRET}}, "'A-B' is not a name of a variable"),
        ({"environment": {"VLLM_API_KEY": [SECRET]}}, "VLLM_API_KEY is of type list"),
        ({"instance": "Main"}, "'Main' is not usable"),
        ({"model": None, "version": ""}, "nothing is given for model, version"),
        ({"unit": ""}, "nothing is given for unit"),
        ({"state": "current"}, "generation"),
        ({"state": "current", "generation": 7}, "no generation 7"),
        ({"state": "pruned"}, "keep"),
        ({"state": "pruned", "keep": 1}, "keep is 1: 2 generations stay at least"),
    ],
)
def test_refusals_write_nothing_and_show_no_secret(
    run: Run, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    result = run(**changes)
    assert result["failed"] is True
    assert message in result["msg"]
    assert not (tmp_path / "instances").exists()


def test_info(run: Run) -> None:
    assert run(vllm_generation_info)["instances"] == []
    run()
    run(version="v2")
    run(state="current", generation=2)
    (found,) = run(vllm_generation_info, check=True)["instances"]
    assert (found["instance"], found["current"], found["previous"]) == ("main", 2, None)
    assert (found["move"], found["hold"], found["history"]) == (None, None, [])
    assert [item["version"] for item in found["generations"]] == ["v1", "v2"]
    assert run(vllm_generation_info, instance=None)["instances"] == [found]
    assert "is not usable" in run(vllm_generation_info, instance="../x")["msg"]


def test_info_says_where_each_generation_answers(run: Run, tmp_path: Path) -> None:
    for port in (8000, 8001):
        run(config={"model": "m", "host": "127.0.0.1", "port": port, "served-model-name": ["Tiny", "tiny"]})
    (tmp_path / "instances/main/generations/2/vllm.yaml").write_text("port: 8001\n")
    (found,) = run(vllm_generation_info)["instances"]
    answers = [[item.get(name) for name in ("address", "port", "served_names")] for item in found["generations"]]
    assert answers == [["127.0.0.1", 8000, ["Tiny", "tiny"]], [None, None, None]], "the second was edited"
