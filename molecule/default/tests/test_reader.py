# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The serving hosts read with the key of a reader that may do nothing else, with an old rclone as with the new."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fleet import SERVING, host, play
from tests.support.serving import MODEL
from tests.support.shelf import admin, pair, s3

OLD = "/tmp/old-rclone"
OLD_MOUNT = "/tmp/old-mount"


@pytest.mark.parametrize("name", SERVING)
def test_rclone_has_the_readers_key_and_no_other(name: str) -> None:
    settings = host(name).check_output("cat /etc/modelshelf/rclone.conf")
    keys = {line.partition(" = ")[2] for line in settings.splitlines() if line.startswith("access_key_id")}
    assert keys == {pair("reader")[0]}
    assert pair("root")[0] not in settings
    assert pair("writer")[0] not in settings


def test_that_key_belongs_to_a_user_with_the_generated_policy_alone() -> None:
    found = admin().get("info-service-account", {"accessKey": pair("reader")[0]}, doing="look")
    assert (found["parentUser"], found["impliedPolicy"]) == ("modelshelf-reader", True)
    user = admin().get("user-info", {"accessKey": "modelshelf-reader"}, doing="look")
    assert user["policyName"] == "modelshelf-reader"
    assert not user.get("memberOf")


@pytest.mark.parametrize("call", ["put", "delete", "list all"])
def test_that_key_can_only_read(call: str) -> None:
    client = s3(*pair("reader"))
    key = f"{MODEL}/v1/config.json"
    assert client.get_object(Bucket="models", Key=key)["ContentLength"] > 0
    tries = {
        "put": lambda: client.put_object(Bucket="models", Key=key, Body=b""),
        "delete": lambda: client.delete_object(Bucket="models", Key=key),
        "list all": lambda: client.list_objects_v2(Bucket="models"),
    }
    with pytest.raises(client.exceptions.ClientError, match="AccessDenied"):
        tries[call]()
    assert client.get_object(Bucket="models", Key=key)["ContentLength"] > 0


def test_verify_tries_the_rights_of_every_reader() -> None:
    run = play("--tags=verify")
    assert (run.status, run.changed()) == (0, {}), run.output[-2000:]
    assert "Try the rights of the readers" in run.output
    assert "(item=modelshelf-reader)" in run.output


@pytest.fixture
def old_mount() -> Iterator[str]:
    """Debian's own rclone, 1.60, on gpu2 with the settings that the role wrote."""
    host("gpu2").check_output("apt-get -q update && cd /tmp && apt-get -q download rclone")
    host("gpu2").check_output(f"dpkg -x /tmp/rclone_*.deb {OLD} && mkdir -p {OLD_MOUNT}")
    mount = f"mount shelf-{MODEL}:models/{MODEL}/ {OLD_MOUNT} --read-only --config /etc/modelshelf/rclone.conf"
    unit = "systemd-run --quiet --collect --unit=old-rclone --property=Type=notify"
    host("gpu2").check_output(f"{unit} {OLD}/usr/bin/rclone {mount}")
    yield OLD_MOUNT
    host("gpu2").run(f"systemctl stop old-rclone; umount -l {OLD_MOUNT}")
    host("gpu2").check_output(f"rm -rf {OLD} /tmp/rclone_*.deb; rmdir {OLD_MOUNT}")


def test_a2_an_old_rclone_reads_with_the_same_key(old_mount: str) -> None:
    assert "v1.60" in host("gpu2").check_output(f"{OLD}/usr/bin/rclone version")
    assert host("gpu2").check_output(f"ls {old_mount}").split() == ["v1"]
    assert "architectures" in host("gpu2").check_output(f"cat {old_mount}/v1/config.json")
