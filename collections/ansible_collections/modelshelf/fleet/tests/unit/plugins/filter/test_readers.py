# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.modelshelf.fleet.plugins.filter.readers import FilterModule

MODELS = [{"name": "opt-125m", "version": "v1"}]
FILTERS = FilterModule().filters()


def made(versioned: Any) -> str:
    found = FILTERS["readers"](MODELS, "reader", "secret-of-the-reader")
    return str(FILTERS["store_identities"](MODELS, "models", found, {}, versioned=versioned))


def test_identities_read_a_text_for_true_and_false_and_refuse_others() -> None:
    assert made("false") == made(False)
    assert "s3:GetObjectVersion" in made("true")
    with pytest.raises(AnsibleFilterError, match="versioned is 'often', neither true nor false"):
        made("often")
