# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import socket
from typing import Any

import pytest
from botocore.stub import ANY, Stubber

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe import (
    BATCH_DELETE,
    DELETE,
    DELETE_VERSION,
    DENIED,
    GET,
    GET_VERSION,
    LIST,
    LIST_FOLDERS,
    LIST_UPLOADS,
    LIST_VERSIONS,
    PUT,
    START_UPLOAD,
    TAG,
    Answer,
    Probe,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe_s3 import Cleaner, Reader
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import Unreachable
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import Connection

CONNECTION = Connection("http://127.0.0.1:9", "models", "reader", "canary-secret", timeout=1)


@pytest.mark.parametrize(
    ("probe", "operation", "expected"),
    [
        (Probe(LIST, "models", None, DENIED), "list_objects_v2", {}),
        (Probe(LIST, "models", "", DENIED), "list_objects_v2", {"Prefix": ""}),
        (Probe(LIST, "other", "opt", DENIED), "list_objects_v2", {"Bucket": "other", "Prefix": "opt"}),
        (Probe(LIST_FOLDERS, "models", None, DENIED), "list_objects_v2", {"Delimiter": "/"}),
        (Probe(LIST_VERSIONS, "models", None, DENIED), "list_object_versions", {}),
        (Probe(LIST_UPLOADS, "models", "opt/", DENIED), "list_multipart_uploads", {"Prefix": "opt/"}),
        (Probe(GET, "models", "k", DENIED), "get_object", {"Key": "k"}),
        (Probe(GET_VERSION, "models", "k", DENIED, version="v"), "get_object", {"Key": "k", "VersionId": "v"}),
        (Probe(PUT, "models", "k", DENIED), "put_object", {"Key": "k", "Body": ANY}),
        (Probe(START_UPLOAD, "models", "k", DENIED), "create_multipart_upload", {"Key": "k"}),
        (Probe(TAG, "models", "k", DENIED), "put_object_tagging", {"Key": "k", "Tagging": {"TagSet": []}}),
        (Probe(DELETE, "models", "k", DENIED), "delete_object", {"Key": "k"}),
        (Probe(DELETE_VERSION, "models", "k", DENIED, version="v"), "delete_object", {"Key": "k", "VersionId": "v"}),
        (Probe(BATCH_DELETE, "models", "k", DENIED), "delete_objects", {"Delete": {"Objects": [{"Key": "k"}]}}),
    ],
)
def test_each_probe_is_one_request(probe: Probe, operation: str, expected: dict[str, Any]) -> None:
    reader = Reader(CONNECTION)
    with Stubber(reader.client) as stub:
        stub.add_client_error(operation, "AccessDenied", "", 403, expected_params={"Bucket": "models", **expected})
        assert reader.ask(probe) == Answer(403, "AccessDenied")
        stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"Errors": [{"Key": "k", "Code": "AccessDenied"}]}, "AccessDenied"),
        ({"Deleted": [{"Key": "k"}]}, ""),
        ({}, ""),
    ],
)
def test_the_entry_of_the_key_in_a_batch_counts(answer: dict[str, Any], code: str) -> None:
    reader = Reader(CONNECTION)
    with Stubber(reader.client) as stub:
        stub.add_response("delete_objects", {**answer, "ResponseMetadata": {"HTTPStatusCode": 200}})
        assert reader.ask(Probe(BATCH_DELETE, "models", "k", DENIED)) == Answer(200, code, in_batch=True)


def test_no_answer_names_action_and_key() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        reader = Reader(Connection(endpoint, "models", "reader", "canary-secret", timeout=0.5))
        with pytest.raises(Unreachable, match=r"could not probe the put of s3://models/opt/x .*no answer"):
            reader.ask(Probe(PUT, "models", "opt/x", DENIED))


def test_markers_are_no_sample() -> None:
    listed = [{"Key": "opt/", "Size": 0}, {"Key": "opt/b", "Size": 7}, {"Key": "opt/a", "Size": 3}]
    reader = Reader(CONNECTION)
    assert reader.smallest_object({"Contents": listed}) == ("opt/a", 3)
    assert reader.smallest_object({"Contents": listed[:1]}) is None
    assert reader.smallest_object({}) is None


def test_the_cleaner_touches_its_own_key_alone() -> None:
    cleaner = Cleaner(CONNECTION)
    mine = {"Key": "opt/probe", "VersionId": "1"}
    versions = {"Versions": [mine, {"Key": "opt/probe-of-others", "VersionId": "2"}]}
    markers = {"DeleteMarkers": [{"Key": "opt/probe", "VersionId": "3"}]}
    uploads = {"Uploads": [{"Key": "opt/probe", "UploadId": "4"}, {"Key": "opt/probe2", "UploadId": "5"}]}
    with Stubber(cleaner.client) as stub:
        stub.add_response("list_object_versions", {**versions, **markers})
        stub.add_response("list_multipart_uploads", uploads)
        for version in ("1", "3"):
            stub.add_response("delete_object", {}, {"Bucket": "models", "Key": "opt/probe", "VersionId": version})
        stub.add_response("abort_multipart_upload", {}, {"Bucket": "models", "Key": "opt/probe", "UploadId": "4"})
        stub.add_response("list_object_versions", {"Versions": versions["Versions"][1:]})
        stub.add_response("list_multipart_uploads", {})
        assert cleaner.remove("opt/probe") == (True, "")
        stub.assert_no_pending_responses()


def test_what_stays_is_named() -> None:
    cleaner = Cleaner(CONNECTION)
    there = {"Versions": [{"Key": "opt/probe", "VersionId": "1"}]}
    with Stubber(cleaner.client) as stub:
        stub.add_response("list_object_versions", there)
        stub.add_response("list_multipart_uploads", {})
        stub.add_client_error("delete_object", "AccessDenied", "", 403)
        made, left = cleaner.remove("opt/probe")
    assert made is True
    assert "opt/probe" in left and "could not remove again" in left
