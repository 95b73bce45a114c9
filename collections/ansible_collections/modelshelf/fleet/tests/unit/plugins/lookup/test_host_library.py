# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest
from ansible.errors import AnsibleLookupError

from ansible_collections.modelshelf.fleet.plugins.lookup.host_library import LookupModule


def test_library_has_the_files_that_hosts_run() -> None:
    (found,) = LookupModule().run([])
    assert (Path(found) / "_manifest.py").is_file()
    assert (Path(found) / "_names.py").is_file()


def test_terms_and_options_are_refused() -> None:
    with pytest.raises(AnsibleLookupError, match="neither terms nor options"):
        LookupModule().run(["x"])
    with pytest.raises(AnsibleLookupError, match="neither terms nor options"):
        LookupModule().run([], x=1)
