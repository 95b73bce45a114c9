# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A served model gets a reader of its own, and the key that the hosts still use is deleted by somebody meanwhile."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from botocore.exceptions import ClientError

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotFound
from tests.support.fleet import SERVING, Run, host, play
from tests.support.serving import MODEL, MOUNTPOINT, answers
from tests.support.shelf import admin, pair, s3

FLEET = ("rotated-reader-key", "canary-rotated-8c1e-reader")
NEWER = ("newer-reader-key", "canary-newer-41b9-reader")
OWN = ("own-reader-key", "canary-own-77d2-reader")


def keys(fleet: tuple[str, str]) -> list[str]:
    own = {MODEL: {"access_key": OWN[0], "secret_key": OWN[1]}}
    given = {
        "modelshelf_reader_access_key": fleet[0],
        "modelshelf_reader_secret_key": fleet[1],
        "modelshelf_reader_keys": own,
    }
    return [f"--extra-vars={json.dumps(given)}", "--diff"]


def may_read(key: tuple[str, str], model: str) -> bool:
    try:
        s3(*key).get_object(Bucket="models", Key=f"{model}/v1/config.json")
    except ClientError as error:
        assert error.response["Error"]["Code"] == "AccessDenied"
        return False
    return True


@pytest.fixture(scope="module")
def announced() -> Run:
    assert play().status == 0
    run = play("--tags=access", *keys(FLEET))
    assert run.status == 0, run.output[-3000:]
    return run


@pytest.fixture(scope="module")
def moved(announced: Run) -> Run:
    """The key of every mount is refused by now: the running servers alone go on."""
    for key, _secret in (FLEET, pair("reader")):
        with suppress(NotFound):
            admin().delete("delete-service-account", {"accessKey": key}, doing="revoke a key")
    run = play(*keys(NEWER), playbook="playbooks/rotate.yml")
    assert run.status == 0, run.output[-3000:]
    return run


def test_earlier_reader_keeps_its_rights_until_the_hosts_have_moved(announced: Run) -> None:
    said = " ".join(announced.output.split())
    assert "may read tiny-qwen2 as well, until playbooks/rotate.yml has moved all hosts" in said
    assert (may_read(FLEET, MODEL), may_read(OWN, MODEL)) == (True, True)
    assert not may_read(OWN, "tiny-llama-sharded")
    assert play("--tags=access", *keys(FLEET)).changed() == {}


@pytest.mark.parametrize("name", SERVING)
def test_hosts_whose_key_was_deleted_are_moved_by_the_same_run(moved: Run, name: str) -> None:
    assert f"access_key_id = {OWN[0]}" in host(name).check_output("cat /etc/modelshelf/rclone.conf")
    assert host(name).run(f"cat {MOUNTPOINT}/v1/tokenizer_config.json").rc == 0
    assert answers(name)


def test_each_reader_has_its_own_models_alone_afterwards(moved: Run) -> None:
    assert (may_read(NEWER, MODEL), may_read(NEWER, "tiny-llama-sharded")) == (False, True)
    assert (may_read(OWN, MODEL), may_read(OWN, "tiny-llama-sharded")) == (True, False)
