# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option by which a dry run tells a module what earlier tasks would have done."""

from __future__ import annotations


class ModuleDocFragment:
    """For documentation only; plugin_utils/_announcing.py fills the option in."""

    DOCUMENTATION = r"""
options:
  announced:
    description:
      - In check mode, what earlier tasks of the play would do. C(policies), C(users), C(groups) and C(access_keys) have
        the names of what they would make, C(gone) those of what they would remove, and C(moved) the policies that
        C(users) and C(groups) would get (V(true)) or lose (V(false)), by their names.
      - It is filled in from the play. What is neither there nor on the store fails the task, as in a real run.
    type: dict
"""
