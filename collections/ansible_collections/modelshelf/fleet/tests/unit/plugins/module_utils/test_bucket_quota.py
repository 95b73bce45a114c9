# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ansible_collections.modelshelf.fleet.plugins.module_utils._bucket_quota import (
    Quota,
    impatient,
    patient,
    read_limit,
    read_quota,
    write_limit,
)
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import NotPermitted, Unsupported
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import Admin


class Server:
    """Answers by path; records what is asked."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.admin = Admin("http://store", "root", "canary-secret")
        self.calls: Counter[str] = Counter()
        self.answers, self.asked = answers, []

    def get(self, path: str, query: Any = None, *, doing: str) -> Any:
        self.asked.append(("GET", path, query))
        answer = self.answers[path]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def put(self, path: str, query: Any = None, body: Any = None, *, doing: str) -> None:
        self.asked.append(("PUT", path, body))

    def delete(self, path: str, query: Any = None, body: Any = None, *, doing: str) -> None:
        self.asked.append(("DELETE", path, body))


def server(**answers: Any) -> Any:
    return Server({name.replace("_", "/", 1) if name.startswith("quota") else name: answers[name] for name in answers})


def test_the_limit_comes_from_the_call_that_answers_in_the_first_minute() -> None:
    asked = server(**{"get-bucket-quota": {"quota": 5, "size": 5}})
    assert read_limit(asked, "models") == 5
    assert asked.asked == [("GET", "get-bucket-quota", {"bucket": "models"})]


def test_a10_an_older_server_is_asked_in_the_older_way() -> None:
    asked = server(**{"get-bucket-quota": Unsupported("501"), "quota_models": {"quota": None, "size": 3}})
    assert read_limit(asked, "models") == 0


def test_other_failures_pass() -> None:
    with pytest.raises(NotPermitted):
        read_limit(server(**{"get-bucket-quota": NotPermitted("403")}), "models")


@pytest.mark.parametrize(
    ("answer", "expected", "left"),
    [
        ({"quota": 10, "size": 4}, Quota(10, 4), 6),
        ({"quota": 10, "size": 14}, Quota(10, 14), 0),
        ({"quota": None, "size": 4}, Quota(0, 4), 0),
        (None, Quota(0, 0), 0),
    ],
)
def test_limit_and_use(answer: Any, expected: Quota, left: int) -> None:
    quota = read_quota(server(quota_models=answer), "models")
    assert (quota, quota.left) == (expected, left)


def test_a_limit_is_set_and_none_is_taken_away() -> None:
    asked = server()
    write_limit(asked, "models", 7)
    write_limit(asked, "models", 0)
    assert asked.asked == [
        ("PUT", "quota/models", {"quota": 7, "quota_type": "HARD"}),
        ("DELETE", "quota/models", None),
    ]


def test_patience_is_the_only_difference() -> None:
    asked = server()
    assert patient(asked).admin.deadline == 120
    assert patient(asked, 10).admin.deadline == asked.admin.deadline == 30
    assert impatient(asked).admin.deadline == 0
    assert patient(asked).calls is asked.calls
