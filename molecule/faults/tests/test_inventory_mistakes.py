# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistakes in the inventory are found before anything is stopped, and the message says what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lab.settings import CACHE
from tests.support.fleet import SERVING, Run, host, play
from tests.support.serving import MODEL, MOUNT, answers, pids

OTHER_MODEL = {"name": "tiny-llama-sharded", "version": "v1"}  # without it, its readers would lose their right
STORE = {"endpoint": "http://10.89.51.11:9000", "bucket": "modelz"}


def models(version: str, directory: str = "") -> str:
    model: dict[str, Any] = {"name": MODEL, "version": version}
    if directory:
        model["directory"] = str(CACHE / "models" / directory)
    return "--extra-vars=" + json.dumps({"modelshelf_models": [model, OTHER_MODEL]})


@pytest.fixture(autouse=True)
def nothing_is_stopped() -> Iterator[None]:
    """Around each test: the same processes serve, of the same generation."""
    link = "readlink /var/lib/modelshelf/instances/main/current"
    before = pids(*SERVING), [host(name).check_output(link) for name in SERVING]
    yield
    assert (pids(*SERVING), [host(name).check_output(link) for name in SERVING]) == before
    assert all(answers(name) for name in SERVING)


def said(run: Run) -> str:
    return " ".join(run.output.split())


def test_a3_missing_version_is_refused_with_the_versions_there_are() -> None:
    run = play(models("v9"))
    assert run.status != 0
    assert f"version v9 of {MODEL} is not on the shelf: no manifest at s3://models/{MODEL}/v9/" in said(run)
    assert "choose one of: v1" in said(run)


def test_key_that_reads_nothing_is_not_written() -> None:
    """A mount that is started again by itself would take it up."""
    settings = "sha256sum /etc/modelshelf/rclone.conf"
    before = host("gpu1").check_output(settings)
    run = play("--limit=gpu1", "--tags=mount", "--extra-vars=modelshelf_reader_access_key=nobody-has-this")
    assert run.status != 0
    assert f"the new settings of rclone do not read {MODEL}/v1 in the bucket models" in said(run)
    assert "were left as they are: failed to validate" in said(run)
    assert host("gpu1").check_output(settings) == before


@pytest.mark.parametrize("tags", ["mount", "serve"])
def test_a3_a18_missing_version_is_seen_on_the_host_too(tags: str) -> None:
    """With a limit the store is not asked: the mount is, after its listing was refreshed."""
    run = play(models("v9"), "--limit=gpu1", f"--tags={tags}")
    assert run.status != 0
    assert f"no manifest at shelf-{MODEL}:models/{MODEL}/v9/" in said(run)
    assert "not uploaded or not listable" in said(run)
    assert "Versions there: v1" in said(run)
    assert "listing cache (3600 s)" in said(run)


def test_version_with_other_content_is_refused() -> None:
    run = play(models("v1", "tiny-opt"))
    assert run.status != 0
    assert "model.safetensors" in run.output
    assert "PLAY [Mount the weights]" not in run.output


@pytest.fixture
def kept_unit() -> Iterator[None]:
    """The mount's unit file of gpu1 is the same again afterwards, its time included: the mount then is not stale."""
    place = f"/etc/systemd/system/{MOUNT}"
    host("gpu1").check_output(f"cp -p {place} /run/kept-unit")
    yield
    host("gpu1").check_output(f"mv /run/kept-unit {place} && systemctl daemon-reload")


def test_a3_bucket_that_does_not_exist_stops_nothing(kept_unit: None) -> None:
    run = play("--extra-vars=" + json.dumps({"modelshelf_store": STORE}), "--limit=gpu1")
    assert run.status != 0
    assert f"expected a manifest at s3://modelz/{MODEL}/v1/" in said(run)


@pytest.mark.parametrize(
    ("tag", "name", "value", "message"),
    [
        ("serve", "modelshelf_instances", [{"name": "main", "model": "nosuch", "port": 8000}], "'nosuch' is not in"),
        (
            "serve",
            "modelshelf_instances",
            [{"name": "main", "model": MODEL, "port": 8000, "args": {"port": 1}}],
            "'port'",
        ),
        (
            "serve",
            "vllm_arguments",
            {"data-parallel-size": 2, "data-parallel-size-local": 1},
            "this plan cannot work, and nothing was stopped: - gpu1: main: data-parallel-size 2",
        ),
        ("engine", "vllm_engine_path", "/opt/nosuch", "there is no bin/vllm in /opt/nosuch"),
        ("serve", "vllm_engine_path", "/opt/nosuch", "/opt/nosuch is not a working engine"),
    ],
)
def test_other_mistakes_stop_nothing(tag: str, name: str, value: Any, message: str) -> None:
    run = play("--extra-vars=" + json.dumps({name: value}), "--limit=gpu1", f"--tags={tag}")
    assert run.status != 0
    assert message in said(run)
