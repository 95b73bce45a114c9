# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of one access key."""

from __future__ import annotations

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_key_changes import Wanted, update
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import BadSignature, Refused
from ansible_collections.modelshelf.fleet.tests.unit.plugins.module_utils.fake_client import FakeClient

LISTED = {"accessKey": "k", "parentUser": "alice", "accountStatus": "on", "impliedPolicy": True}


def test_a43_another_secret_is_refused_with_the_names_of_option_and_variable() -> None:
    client = FakeClient(list_service_accounts=BadSignature("x"))
    wanted = Wanted("k", absent=False, secret="canary-secret-1")
    with pytest.raises(Refused, match=r"set rotate_secret \(role rustfs_config: rustfs_config_rotate_secrets\)"):
        update(client, wanted, LISTED)
    change, _after = update(client, Wanted("k", absent=False, secret="canary-secret-1", rotate=True), LISTED)
    assert change.actions == ["update secret"]
