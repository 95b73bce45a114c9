# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role rustfs_config on a store: what it says of what the store has beyond the inventory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.rustfs_server import RunningServer

ROOT = Path(__file__).parents[2]
VERSIONED = "bucket models is versioned, the inventory says versioned: false"


@dataclass
class Fleet:
    """An inventory for a store."""

    server: RunningServer
    folder: Path

    def run(self, *options: str, versioned: Any = False, tasks: str = "main", **more: Any) -> str:
        """What a run of the role says. `more` are variables that are added or changed."""
        variables = {
            "modelshelf_store": {"endpoint": self.server.endpoint, "bucket": "models", "versioned": versioned},
            "modelshelf_models": [{"name": "opt-125m", "version": "v1"}],
            "modelshelf_reader_access_key": "reader-key-1",
            "modelshelf_reader_secret_key": "secret-of-the-reader",
            "modelshelf_root_access_key": self.server.access_key,
            "modelshelf_root_secret_key": self.server.secret_key,
            **more,
        }
        (self.folder / "fleet.json").write_text(json.dumps(variables))
        role = {"ansible.builtin.import_role": {"name": "rustfs_config", "tasks_from": tasks}}
        plays = [{"hosts": "localhost", "gather_facts": False, "tasks": [role]}]
        (self.folder / "play.json").write_text(json.dumps(plays))
        program = Path(sys.executable).with_name("ansible-playbook")
        command = [program, "-i", "/dev/null", "-e", f"@{self.folder / 'fleet.json'}", *options]
        environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
        done = subprocess.run(
            [*command, self.folder / "play.json"], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        return done.stdout + done.stderr


@pytest.fixture
def fleet(fresh_server: RunningServer, tmp_path: Path) -> Fleet:
    return Fleet(fresh_server, tmp_path)


def test_versioning_that_left_the_inventory_is_told_and_suspended_when_asked_for(fleet: Fleet) -> None:
    made = fleet.run(versioned=True)
    assert "failed=0" in made, made
    told = fleet.run("--check")
    assert "changed=1" in told and VERSIONED in told, told  # the policy of the reader
    suspended = fleet.run(rustfs_config_buckets=[{"name": "models", "versioning": "suspended"}])
    assert "changed=2" in suspended and VERSIONED not in suspended, suspended


def test_a_text_that_says_no_is_a_no(fleet: Fleet) -> None:
    other = {"rustfs_config_users": [{"name": "somebody", "policies": ["readonly"]}]}
    made = fleet.run(versioned="false", **other)
    assert "failed=0" in made, made
    assert "Status" not in fleet.server.client().get_bucket_versioning(Bucket="models")
    retired = fleet.run(versioned="no", tasks="retire", rustfs_config_remove_others="false")
    assert "changed=0" in retired and "users not in the inventory, left alone" in retired, retired


TWO = {"modelshelf_models": [{"name": name, "version": "v1"} for name in ("facebook/opt-125m", "facebook/opt")]}


def own_key(model: str, number: int) -> dict[str, Any]:
    return {model: {"access_key": f"key-{number}-of-a-model", "secret_key": f"secret-{number}-of-a-model"}}


def test_proof_holds_while_hosts_move_from_one_reader_to_another(fleet: Fleet) -> None:
    made = fleet.run(**TWO, modelshelf_reader_keys=own_key("facebook/opt-125m", 1))
    assert "failed=0" in made and "as well" not in made, made
    moved = {**TWO, "modelshelf_reader_keys": own_key("facebook/opt", 2)}
    for options in ([], ["--tags", "verify"]):
        said = fleet.run(*options, **moved)
        assert "failed=0" in said, said
        assert "the reader modelshelf-reader may read facebook-opt as well" in said, said


def test_a_reader_that_can_read_another_model_is_found(fleet: Fleet) -> None:
    """The right comes from a group, which no listing of the reader's own policy shows."""
    allow = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::models/qwen2/*"]}
    wide = {"name": "wide", "policy": {"Version": "2012-10-17", "Statement": [allow]}}
    group = {"name": "all", "members": ["modelshelf-reader-facebook-opt-125m"], "policies": ["wide"]}
    said = fleet.run(
        modelshelf_models=[{"name": name, "version": "v1"} for name in ("facebook/opt-125m", "qwen2")],
        modelshelf_reader_keys=own_key("facebook/opt-125m", 1),
        rustfs_config_policies=[wide],
        rustfs_config_groups=[group],
    )
    text = " ".join(said.split())
    assert "'key-1-of-a-model' is not exactly a reader of facebook-opt-125m/" in text, said
    assert "get of s3://models/qwen2/" in text, said


def test_a43_another_secret_is_refused_unless_the_variable_or_the_entry_says_otherwise(fleet: Fleet) -> None:
    own = {"key": "key-of-its-own", "secret": "secret-of-a-key-1", "user": "modelshelf-reader"}
    made = fleet.run(rustfs_config_access_keys=[own])
    assert "failed=0" in made, made
    other = {"modelshelf_reader_secret_key": "another-secret-of-it"}
    refused = fleet.run("--check", **other)
    assert "access key 'reader-key-1': secret is not the one" in " ".join(refused.split()), refused
    assert "(role rustfs_config: rustfs_config_rotate_secrets)" in " ".join(refused.split()), refused
    keeps = {**own, "secret": "secret-of-a-key-2", "rotate_secret": False}
    rotated = fleet.run("--check", **other, rustfs_config_rotate_secrets=True, rustfs_config_access_keys=[keeps])
    assert "access key 'key-of-its-own': secret is not the one" in " ".join(rotated.split()), rotated
