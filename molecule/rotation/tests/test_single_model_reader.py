# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A served model gets a reader of its own while its hosts read with the key of the fleet."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from tests.support.fleet import Run, play
from tests.support.serving import MODEL
from tests.support.shelf import s3

FLEET = ("rotated-reader-key", "canary-rotated-8c1e-reader")
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
    run = play("--tags=access", *keys(FLEET))
    assert run.status == 0, run.output[-3000:]
    return run


def test_earlier_reader_keeps_its_rights_until_the_hosts_have_moved(announced: Run) -> None:
    assert "until playbooks/rotate.yml has moved all hosts: tiny-qwen2" in " ".join(announced.output.split())
    assert (may_read(FLEET, MODEL), may_read(OWN, MODEL)) == (True, True)
    assert not may_read(OWN, "tiny-llama-sharded")
    assert play("--tags=access", *keys(FLEET)).changed() == {}
