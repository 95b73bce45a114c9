# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as an older server: admin calls that it is told to lack answer 501, as RustFS before them does."""

from __future__ import annotations

from pathlib import Path

from tests.contract.replay.calls import Calls, allow
from tests.support.rustfs_server import running_server

LACKS = "idp/builtin,add-service-account, delete-service-account,quota"


def test_calls_that_are_lacking_are_501_and_the_older_ones_work(standin: Path, tmp_path: Path) -> None:
    with running_server(tmp_path, standin, STANDIN_LACKS=LACKS) as server:
        root = Calls(server.endpoint, server.access_key, server.secret_key)
        root.put("models").ok()
        root.add_user("reader")
        root.add_policy("read", allow("s3:GetObject", "models/*"))
        body = {"policies": ["read"], "user": "reader"}
        lacking = [
            root.admin("POST", "idp/builtin/policy/attach", body),
            root.admin("GET", "idp/builtin/policy-entities"),
            root.admin("PUT", "add-service-account", {"targetUser": "reader"}),
            root.admin("GET", "quota/models"),
        ]
        assert [reply.refusal for reply in lacking] == [(501, "NotImplemented")] * len(lacking)
        root.attach("read", "reader")
        made = root.admin("PUT", "add-service-accounts", {"targetUser": "reader"}).ok().json["credentials"]
        root.admin("DELETE", "delete-service-accounts", accessKey=made["accessKey"]).ok()
