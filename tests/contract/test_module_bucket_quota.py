# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotas: a server's first minute, a server that lacks them, and publishing below one. What the info module reads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.modules import model_version, rustfs_bucket, rustfs_bucket_info
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.model_trees import hf_files, write_tree
from tests.contract.matrix import Bench, bench_on
from tests.contract.s3_server import Server
from tests.support.rustfs_server import running_server

WARM_UP = 6  # seconds


@pytest.fixture
def bench(server: Server) -> Iterator[Bench]:
    found = bench_on(server)
    yield found
    found.clear()


def test_the_first_minute_of_a_server_is_waited_out(standin: Path, tmp_path: Path) -> None:
    with running_server(tmp_path / "young", standin, STANDIN_QUOTA_WARMUP_S=str(WARM_UP)) as young:
        begun, bench = time.monotonic(), bench_on(young)
        name = bench.name("models")
        assert bench.server.ask("GET", f"/rustfs/admin/v3/quota/{name}").status == 404
        wanted = {"name": name, "quota": "1GiB", "timeout": 1}
        assert bench.done(rustfs_bucket, check_mode=True, **wanted)["changed"] is True
        assert bench.server.ask("GET", f"/rustfs/admin/v3/quota/{name}").status == 404
        assert bench.done(rustfs_bucket, **wanted)["changed"] is True
        assert time.monotonic() - begun >= WARM_UP - 2
        young.stop()
        young.start()
        again = time.monotonic()
        assert bench.done(rustfs_bucket, **wanted)["changed"] is False, "the limit is known in the first minute too"
        shown = bench.done(rustfs_bucket_info, name=name)["buckets"][0]
        assert (shown["quota"], shown["used"]) == (2**30, None)
        assert time.monotonic() - again < WARM_UP


def test_a_server_without_quotas_is_named_with_what_was_done_before(standin: Path, tmp_path: Path) -> None:
    with running_server(tmp_path / "old", standin, STANDIN_LACKS="quota,get-bucket-quota") as old:
        bench = bench_on(old)
        said = bench.failure(rustfs_bucket, name=bench.name("models"), quota="1GiB")
        assert "does not support it" in said and "Done before that: create" in said
        assert bench.done(rustfs_bucket, name=bench.name("models"))["changed"] is False


def test_info_reads_what_was_set_and_is_quiet_about_others(bench: Bench) -> None:
    name = bench.name("models")
    bench.done(rustfs_bucket, name=name, versioning="enabled", quota="1MiB", tags={"team": "ml"})
    bench.server.client().put_object(Bucket=name, Key="k", Body=b"12345")
    shown = bench.done(rustfs_bucket_info, name=name)["buckets"]
    assert len(shown) == 1
    assert shown[0].pop("created").startswith("20")
    assert shown[0] == {
        "name": name,
        "versioning": "enabled",
        "quota": 2**20,
        "used": 5,
        "object_lock": False,
        "tags": {"team": "ml"},
        "policy": {},
    }
    assert bench.done(rustfs_bucket_info, name=bench.name("nothing"))["buckets"] == []
    assert name in [item["name"] for item in bench.done(rustfs_bucket_info)["buckets"]]


def writer(bench: Bench, *more: str) -> dict[str, str]:
    """A key that may publish, and `more` on the bucket."""
    name, bucket = bench.name("writer"), bench.name("models")
    statements: list[dict[str, Any]] = [
        {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": [f"arn:aws:s3:::{bucket}/*"]},
        {"Effect": "Allow", "Action": ["s3:ListBucket", *more], "Resource": [f"arn:aws:s3:::{bucket}"]},
    ]
    bench.ask("PUT", "add-canned-policy", {"name": name}, {"Version": "2012-10-17", "Statement": statements})
    bench.ask("PUT", "add-user", {"accessKey": name}, {"secretKey": "secret-of-a-user", "status": "enabled"})
    bench.ask("PUT", "set-user-or-group-policy", {"policyName": name, "userOrGroup": name, "isGroup": "false"})
    return {"access_key": name, "secret_key": "secret-of-a-user"}


def publish(bench: Bench, directory: Path, **params: Any) -> dict[str, Any]:
    wanted = {"bucket": bench.name("models"), "model": "opt", "version": "v1", "directory": str(directory)}
    return bench.run(model_version, **{**wanted, **params})


def test_a_version_that_does_not_fit_is_refused_before_its_first_byte(bench: Bench, tmp_path: Path) -> None:
    name, client = bench.name("models"), bench.server.client()
    directory = write_tree(tmp_path, {**hf_files(), "large": bytes(6 * 2**20)})
    size = sum(path.stat().st_size for path in directory.iterdir())
    bench.done(rustfs_bucket, name=name, quota="10MiB")
    client.put_object(Bucket=name, Key="other", Body=bytes(5 * 2**20))
    key = writer(bench, "s3:GetBucketQuota")
    left = 5 * 2**20
    for check_mode in (True, False):
        said = publish(bench, directory, check_mode=check_mode, **key)["msg"]
        assert f"needs {size} bytes more" in said and f"leaves {left}: " in said
        assert f"the limit is {10 * 2**20} bytes, of which {left} are used" in said
        assert [item["Key"] for item in client.list_objects_v2(Bucket=name)["Contents"]] == ["other"]
        assert not client.list_multipart_uploads(Bucket=name).get("Uploads")
    bench.done(rustfs_bucket, name=name, quota="20MiB")
    assert publish(bench, directory, **key)["changed"] is True
    assert publish(bench, directory, **key)["changed"] is False


def test_a_key_that_may_not_ask_for_the_quota_publishes(bench: Bench, tmp_path: Path) -> None:
    bench.done(rustfs_bucket, name=bench.name("models"), quota="1GiB")
    result = publish(bench, write_tree(tmp_path, hf_files()), **writer(bench))
    assert result.get("changed") is True, result["msg"]
    assert "warnings" not in result


def test_the_servers_own_refusal_is_told_with_its_numbers(bench: Bench, tmp_path: Path) -> None:
    bench.done(rustfs_bucket, name=bench.name("models"), quota="1MiB")
    directory = write_tree(tmp_path, {**hf_files(), "large": bytes(2 * 2**20)})
    said = publish(bench, directory, **writer(bench))["msg"]
    assert "Bucket quota exceeded" in said and "limit: 1048576 bytes" in said and "Nothing was published" in said
