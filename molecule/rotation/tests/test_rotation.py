# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reader's key is replaced while clients read from the store and ask the servers."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_client import KeyState
from tests.support.fleet import ADDRESSES, SERVING, Run, host, play
from tests.support.serving import MODEL, MOUNTPOINT, answers, pids
from tests.support.shelf import admin, pair, s3

NEW = ("rotated-reader-key", "canary-rotated-8c1e-reader")
OBJECT = {"Bucket": "models", "Key": f"{MODEL}/v1/config.json"}


def reads(client: Any) -> bool:
    try:
        return len(client.get_object(**OBJECT)["Body"].read()) > 0
    except Exception:
        return False


def healthy(name: str) -> bool:
    """Asked often: a completion each time would take the processors from the server that starts."""
    try:
        with urllib.request.urlopen(f"http://{ADDRESSES[name]}:8000/health", timeout=15) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@dataclass
class Watch:
    """What clients saw, again and again, while the rotation ran."""

    old: list[bool] = field(default_factory=list)
    new: list[bool] = field(default_factory=list)
    out: list[list[str]] = field(default_factory=list)
    """The hosts that did not answer, at each look."""

    def look(self, stop: threading.Event) -> None:
        """Until stop is set, and once more after it: the old key is deleted in the last second of the run."""
        old, new = s3(*pair("reader")), s3(*NEW)
        last = False
        while not last:
            last = stop.wait(1)
            self.old.append(reads(old))
            self.new.append(reads(new))
            self.out.append([name for name in SERVING if not healthy(name)])


@pytest.fixture(scope="module")
def policies() -> Any:
    return admin().get("list-canned-policies", doing="look")


def rotate(*arguments: str, **more: Any) -> Run:
    keys = [
        f"--extra-vars=modelshelf_reader_{part}_key={value}"
        for part, value in zip(("access", "secret"), NEW, strict=True)
    ]
    return play(*keys, *arguments, playbook="playbooks/rotate.yml", **more)


@pytest.fixture(scope="module")
def rotated(policies: Any) -> Iterator[tuple[Run, Watch]]:
    watch, stop = Watch(), threading.Event()
    looking = threading.Thread(target=watch.look, args=(stop,))
    looking.start()
    try:
        run = rotate("-vvv", "--diff")
    finally:
        stop.set()
        looking.join()
    assert run.status == 0, run.output[-3000:]
    return run, watch


@pytest.mark.parametrize("part", ["--limit=gpu1", f"--extra-vars=modelshelf_only={MODEL}"])
def test_a_part_of_the_fleet_is_refused(part: str) -> None:
    run = play(part, playbook="playbooks/rotate.yml")
    assert run.status != 0
    assert "would keep the old key, which this playbook deletes" in " ".join(run.output.split())


def test_host_that_does_not_answer_keeps_every_key_and_server(policies: Any, tmp_path: Path) -> None:
    gone = tmp_path / "hosts.yml"
    gone.write_text("all: {children: {gpu: {hosts: {gpu9: {ansible_host: 10.89.51.99}}}}}\n")
    before = pids(*SERVING)
    run = rotate(inventories=[gone], ANSIBLE_TIMEOUT="3")
    said = " ".join(run.output.split())
    assert run.status != 0
    assert "gpu9 failed or did not answer earlier in this run, so nothing more is stopped" in said
    assert "gpu9 did not move to the new key: the old one was left" in said
    assert admin().signs(*pair("reader")) is KeyState.GOOD
    assert pids(*SERVING) == before


def test_a_key_reads_at_every_moment(rotated: tuple[Run, Watch]) -> None:
    """The old one until it is deleted in the end, the new one from when it was made."""
    _, watch = rotated
    assert len(watch.old) > 50
    assert all(old or new for old, new in zip(watch.old, watch.new, strict=False))
    assert watch.new[watch.new.index(True) :].count(False) == 0
    assert watch.old[: watch.old.index(False)].count(False) == 0
    assert watch.old.index(False) > watch.new.index(True)


def test_one_host_is_out_at_most_and_each_was(rotated: tuple[Run, Watch]) -> None:
    _, watch = rotated
    assert max(len(names) for names in watch.out) == 1
    assert {name for names in watch.out for name in names} == set(SERVING)


def test_no_policy_was_touched(rotated: tuple[Run, Watch], policies: Any) -> None:
    assert admin().get("list-canned-policies", doing="look") == policies


def test_the_old_key_is_refused(rotated: tuple[Run, Watch]) -> None:
    assert admin().signs(*pair("reader")) is KeyState.UNKNOWN
    assert admin().signs(*NEW) is KeyState.GOOD


@pytest.mark.parametrize("name", SERVING)
def test_hosts_read_with_the_new_key(rotated: tuple[Run, Watch], name: str) -> None:
    assert f"access_key_id = {NEW[0]}" in host(name).check_output("cat /etc/modelshelf/rclone.conf")
    assert host(name).run(f"cat {MOUNTPOINT}/v1/tokenizer_config.json {MOUNTPOINT}/v1/config.json").rc == 0
    assert answers(name)


def test_a35_neither_secret_was_said(rotated: tuple[Run, Watch]) -> None:
    run, _ = rotated
    assert NEW[0] in run.output
    for secret in (NEW[1], "canary-reader-5e0d", "canary-root-2d4f"):
        assert secret not in run.output
