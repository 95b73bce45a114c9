# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What RustFS tells of itself, and its identities carried to another store and through restarts (rustfs.md 0, 1.7)."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from tests.contract.replay.calls import VERSION, Calls, allow
from tests.support.rustfs_server import RunningServer, running_server


def owner(server: RunningServer) -> Calls:
    return Calls(server.endpoint, server.access_key, server.secret_key)


def test_is_admin_answers_every_signer(root: Calls, fresh_name: str) -> None:
    expected = {"is_admin": True, "access_key": root.access_key, "message": "User is an administrator"}
    assert root.signs().ok().json == expected
    user = root.add_user(fresh_name)
    assert user.signs().ok().json["is_admin"] is False
    root.attach("consoleAdmin", fresh_name)
    assert user.signs().ok().json["is_admin"] is True


def test_info_names_the_store_and_its_servers(root: Calls) -> None:
    answer = root.admin("GET", "info").ok().json
    info = answer.get("info", answer)
    assert info["mode"] == "online" and info["deploymentID"]
    (server,) = info["servers"]
    assert server["state"] == "online" and server["version"]
    assert all(drive["state"] == "ok" and drive["totalspace"] > 0 for drive in server["drives"])


def test_storageinfo_has_the_space_of_the_drives(root: Calls) -> None:
    answer = root.admin("GET", "storageinfo").ok().json
    disks = answer.get("info", answer)["disks"]
    assert disks and all(disk["totalspace"] >= disk["availspace"] > 0 for disk in disks)


def test_accountinfo_tells_a_user_of_the_buckets_it_sees(root: Calls, fresh_name: str) -> None:
    root.put(fresh_name).ok()
    user = root.add_user(fresh_name)
    assert user.admin("GET", "accountinfo").ok().json["account_name"] == fresh_name
    root.add_policy(fresh_name, allow("s3:GetBucketLocation", fresh_name))
    root.attach(fresh_name, fresh_name)
    buckets = user.admin("GET", "accountinfo").ok().json["buckets"]
    assert [bucket["name"] for bucket in buckets] == [fresh_name]


def test_export_has_every_secret_and_is_for_admins_alone(root: Calls, fresh_name: str) -> None:
    user = root.add_user(fresh_name, "a-secret-to-export")
    root.add_key(fresh_name, f"{fresh_name}-key")
    answer = root.admin("GET", "export-iam").ok().answer
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        files = {Path(name).stem: json.loads(archive.read(name)) for name in archive.namelist()}
    assert set(files) == {
        *("policies", "users", "groups", "svcaccts"),
        *("user_mappings", "group_mappings", "stsuser_mappings"),
    }
    assert files["users"][fresh_name]["secretKey"] == "a-secret-to-export"
    assert files["svcaccts"][f"{fresh_name}-key"]["secretKey"] == "a-secret-of-a-key"
    assert "readonly" in files["policies"]
    assert user.admin("GET", "export-iam").refusal == (403, "AccessDenied")


def test_import_refuses_what_is_no_zip_file(root: Calls) -> None:
    assert root.admin("PUT", "import-iam", "not a zip").refusal == (500, "InternalError")


def make_identities(root: Calls) -> dict[str, Calls]:
    """A user, a disabled one, and three keys; the policies of the user come from itself and from a group."""
    root.put("models").ok()
    root.put("models/a/x", "ax").ok()
    root.add_policy("read-a", allow("s3:GetObject", "models/a/*"))
    root.add_policy("list-a", allow("s3:ListBucket", "models"))
    made = {"user": root.add_user("reader"), "off": root.add_user("sleeper", status="disabled")}
    root.attach("read-a", "reader")
    root.add_members("listers", "reader").ok()
    root.attach("list-a", "listers", group=True)
    made["key"] = root.add_key("reader", "reader-1", name="one", description="inherits")
    policy = {"Version": VERSION, "Statement": [allow("s3:GetObject", "models/b/*")]}
    made["narrow"] = root.add_key("reader", "reader-2", policy=policy, expiration="2099-01-01T00:00:00Z")
    made["switched off"] = root.add_key("reader", "reader-3")
    root.admin("POST", "update-service-account", {"newStatus": "off"}, accessKey="reader-3").ok()
    return made


def rights(made: dict[str, Calls], endpoint: str) -> dict[str, Any]:
    """What each of the identities may do, on any server."""
    calls = {name: Calls(endpoint, one.access_key, one.secret_key) for name, one in made.items()}
    return {
        name: (one.signs().status, one.get("models/a/x").status, one.list("models").status)
        for name, one in calls.items()
    }


EXPECTED = {
    "user": (200, 200, 200),
    "off": (400, 400, 400),
    "key": (200, 200, 200),
    "narrow": (200, 403, 403),
    "switched off": (400, 400, 400),
}


def test_an_export_makes_old_keys_sign_on_an_empty_store(fresh_server: RunningServer, tmp_path: Path) -> None:
    old = owner(fresh_server)
    made = make_identities(old)
    assert rights(made, old.endpoint) == EXPECTED
    packed = old.admin("GET", "export-iam").ok().answer.body
    with running_server(tmp_path / "another", Path(fresh_server.binary)) as server:
        new = owner(server)
        new.put("models").ok()
        new.put("models/a/x", "ax").ok()
        assert new.by("reader", made["user"].secret_key).signs().refusal == (403, "InvalidAccessKeyId")
        result = new.admin("PUT", "import-iam", packed).ok().json
        assert sorted(result["added"]["users"]) == ["reader", "sleeper"]
        assert sorted(result["added"]["serviceAccounts"]) == ["reader-1", "reader-2", "reader-3"]
        assert not any(result["failed"].values())
        assert rights(made, new.endpoint) == EXPECTED
        shown = new.admin("GET", "info-service-account", accessKey="reader-2").ok().json
        assert (shown["impliedPolicy"], shown["expiration"]) == (False, "2099-01-01T00:00:00Z")
        assert new.admin("GET", "group", group="listers").ok().json["policy"] == "list-a"


def test_an_import_overwrites_what_is_there(fresh_server: RunningServer) -> None:
    root = owner(fresh_server)
    made = make_identities(root)
    packed = root.admin("GET", "export-iam").ok().answer.body
    root.add_user("reader", "another-secret-1")
    root.attach("readwrite", "reader")
    root.admin("POST", "update-service-account", {"newStatus": "off"}, accessKey="reader-1").ok()
    root.add_user("newcomer")
    root.admin("PUT", "import-iam", packed).ok()
    assert rights(made, root.endpoint) == EXPECTED
    assert "newcomer" in root.admin("GET", "list-users").ok().json


def test_identities_are_there_after_a_stop_and_after_a_kill(fresh_server: RunningServer) -> None:
    root = owner(fresh_server)
    made = make_identities(root)
    fresh_server.stop()
    fresh_server.start()
    assert rights(made, root.endpoint) == EXPECTED
    root.add_user("reader", "a-rotated-secret")
    late = root.add_key("reader", "reader-4")
    fresh_server.kill()
    fresh_server.start()
    assert made["user"].signs().refusal == (403, "SignatureDoesNotMatch")
    assert root.by("reader", "a-rotated-secret").get("models/a/x").status == 200
    assert late.get("models/a/x").status == 200


def test_other_root_keys_after_a_restart_leave_users_policies_and_data(fresh_server: RunningServer) -> None:
    made = make_identities(owner(fresh_server))
    fresh_server.stop()
    fresh_server.start(RUSTFS_ACCESS_KEY="another-root", RUSTFS_SECRET_KEY="another-root-secret")
    assert owner(fresh_server).signs().refusal == (403, "InvalidAccessKeyId")
    root = Calls(fresh_server.endpoint, "another-root", "another-root-secret")
    assert {"reader", "sleeper"} <= set(root.admin("GET", "list-users").ok().json)
    assert rights(made, fresh_server.endpoint) == EXPECTED
