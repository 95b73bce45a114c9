# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules for buckets, servers and probes up to the store; tests/contract goes on from there with a server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.modelshelf.fleet.plugins.modules import (
    rustfs_access_probe,
    rustfs_bucket,
    rustfs_bucket_info,
    rustfs_info,
)

NOBODY = {"endpoint": "http://127.0.0.1:9", "access_key": "root", "secret_key": "canary-secret", "timeout": 1}
READER = {"bucket": "models", "prefixes": ["opt"]}


def run(module: Any, capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    given = {key: value for key, value in {**NOBODY, **arguments}.items() if value is not None}
    with patch_module_args(given), pytest.raises(SystemExit):
        module.main()
    text = capsys.readouterr().out
    assert "canary-secret" not in text
    result: dict[str, Any] = json.loads(text)
    return result


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        (rustfs_bucket, {"name": "models"}),
        (rustfs_bucket_info, {}),
        (rustfs_info, {}),
        (rustfs_access_probe, READER),
    ],
)
def test_a_store_that_does_not_answer_fails(
    module: Any, arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(module, capsys, **arguments)
    assert result["failed"] is True
    assert "127.0.0.1:9" in result["msg"] and "no answer" in result["msg"]


def test_a44_check_mode_without_a_store_says_what_would_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    buckets = [{"name": "models", "versioning": "enabled"}, {"name": "old", "state": "absent"}]
    result = run(rustfs_bucket, capsys, buckets=buckets, _ansible_check_mode=True)
    assert result["results"] == [
        {"name": "models", "changed": True, "actions": ["create", "enable versioning"]},
        {"name": "old", "changed": False, "actions": []},
    ]
    assert (result["changed"], result["others"]) == (True, [])


def test_options_come_from_the_environment(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"ENDPOINT": "http://127.0.0.1:9", "ACCESS_KEY": "root", "SECRET_KEY": "canary-secret"}
    for name, value in given.items():
        monkeypatch.setenv(f"RUSTFS_{name}", value)
    nothing = dict.fromkeys(("endpoint", "access_key", "secret_key"))
    for module, arguments in ((rustfs_bucket, {"name": "models"}), (rustfs_access_probe, READER)):
        assert "no answer" in run(module, capsys, **nothing, **arguments)["msg"]


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        (rustfs_bucket, {}, "one of the following is required: name, buckets"),
        (rustfs_bucket, {"name": "models", "buckets": []}, "mutually exclusive"),
        (rustfs_bucket, {"name": "Models"}, "the name of the bucket is 'Models'"),
        (rustfs_bucket, {"buckets": [{"name": "models"}, {"name": "models"}]}, "more than once"),
        (rustfs_bucket, {"buckets": [{"name": "models"}], "quota": "1GiB"}, "quota and buckets exclude"),
        (rustfs_bucket, {"name": "models", "quota": "1 apple"}, "quota is '1 apple'"),
        (rustfs_bucket, {"name": "models", "endpoint": "store1:9000"}, "http://host:port"),
        (rustfs_access_probe, {**READER, "prefixes": [""]}, "is empty"),
        (rustfs_access_probe, {**READER, "cleanup_access_key": "root"}, "cleanup_secret_key"),
        (rustfs_access_probe, {**READER, "endpoint": "store1:9000"}, "http://host:port"),
    ],
)
def test_a45_unusable_parameters_are_refused_before_any_request(
    module: Any, arguments: dict[str, Any], said: str, check_mode: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(module, capsys, **arguments, _ansible_check_mode=check_mode)
    assert result["failed"] is True
    assert said in result["msg"]
