# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: host_library
short_description: Where the collection's Python library lies on the controller
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Returns the directory of this collection's C(plugins/module_utils), from which roles copy the files
    that serving hosts run without Ansible.
options:
  _terms:
    description: Not used. No term may be given.
    type: list
    elements: str
    required: false
"""

EXAMPLES = r"""
- name: Copy the manifest reader to the host
  ansible.builtin.copy:
    src: "{{ lookup('modelshelf.fleet.host_library') }}/_manifest.py"
    dest: /usr/local/lib/modelshelf/
    mode: "0644"
"""

RETURN = r"""
_raw:
  description: One absolute path without a final slash.
  type: list
  elements: path
"""

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    """Answers with the directory of the collection's library."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[str]:
        if terms or kwargs:
            raise AnsibleLookupError("the lookup modelshelf.fleet.host_library takes neither terms nor options")
        return [str(Path(__file__).resolve().parents[1] / "module_utils")]
