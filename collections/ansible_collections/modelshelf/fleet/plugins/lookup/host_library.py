# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: host_library
short_description: The collection's Python library as one file for the hosts
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Returns a zip archive on the controller with this collection's C(plugins/module_utils), which serving hosts import
    from without Ansible. The same library gives the same bytes.
  - The archive is gone when the run ends.
options:
  _terms:
    description: Not used. No term may be given.
    type: list
    elements: str
    required: false
"""

EXAMPLES = r"""
- name: Copy the library to the host
  ansible.builtin.copy:
    src: "{{ lookup('modelshelf.fleet.host_library') }}"
    dest: /usr/local/lib/modelshelf.zip
    mode: "0644"
"""

RETURN = r"""
_raw:
  description: One absolute path.
  type: list
  elements: path
"""

import os
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from ansible import constants
from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

_PACKAGE = ("ansible_collections", "modelshelf", "fleet", "plugins", "module_utils")


class LookupModule(LookupBase):
    """Answers with the archive, which it makes where the run keeps its temporary files."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[str]:
        if terms or kwargs:
            raise AnsibleLookupError("the lookup modelshelf.fleet.host_library takes neither terms nor options")
        archive = Path(constants.DEFAULT_LOCAL_TMP, "modelshelf-library.zip")
        if not archive.exists():
            draft = archive.with_suffix(f".{os.getpid()}")
            write_archive(Path(__file__).resolve().parents[1] / "module_utils", draft)
            draft.replace(archive)
        return [str(archive)]


def write_archive(library: Path, target: Path) -> None:
    """Writes the Python files of the directory `library` as that package, uncompressed and without times of day."""
    with ZipFile(target, "w") as archive:
        for depth in range(1, len(_PACKAGE) + 1):
            archive.writestr(ZipInfo("/".join((*_PACKAGE[:depth], "__init__.py"))), "")
        for file in sorted(library.glob("_*.py")):
            archive.writestr(ZipInfo("/".join((*_PACKAGE, file.name))), file.read_bytes())
