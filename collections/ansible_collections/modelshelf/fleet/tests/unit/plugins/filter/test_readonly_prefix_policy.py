# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.readonly_prefix_policy import FilterModule


def test_the_filter_makes_the_policy_and_reports_what_it_cannot() -> None:
    make = FilterModule().filters()["readonly_prefix_policy"]
    assert make("models", ["a"], versioned=True)["Statement"][1]["Action"] == ["s3:GetObject", "s3:GetObjectVersion"]
    with pytest.raises(AnsibleFilterError, match="readonly_prefix_policy: the prefix '' is empty"):
        make("models", "")


def test_what_is_neither_true_nor_false_is_refused_and_a_text_is_read() -> None:
    make = FilterModule().filters()["readonly_prefix_policy"]
    assert make("models", "a", versioned="false") == make("models", "a")
    assert make("models", "a", versioned="yes") == make("models", "a", versioned=True)
    with pytest.raises(AnsibleFilterError, match="versioned is 'often', neither true nor false"):
        make("models", "a", versioned="often")
