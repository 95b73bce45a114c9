# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side of rustfs_policy."""

from __future__ import annotations

from ansible_collections.modelshelf.fleet.plugins.plugin_utils._announcing import AnnouncingAction


class ActionModule(AnnouncingAction):
    """Knows who would have a policy in a dry run, and leaves the names of its policies for later tasks."""

    makes = "policies"
