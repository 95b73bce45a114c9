# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab: test hosts with systemd as containers, and what they need, on one machine.

Standard library only: it runs before any environment exists (`python3 -m lab`).
"""
