# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a generation of the tests has in it."""

from __future__ import annotations

from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_content import Content, wanted_content

SECRET = "canary-key"
UNIT = "[Service]\nUser=modelshelf\n"


def content(**changes: Any) -> Content:
    """A content, with some of its inputs others."""
    wanted: dict[str, Any] = {
        "instance": "main",
        "model": "tiny",
        "version": "v1",
        "weights_path": "/srv/w/tiny/v1",
        "manifest_digest": "sha256:1",
        "config": {"model": "/srv/w/tiny/v1", "port": 8000},
        "environment": {"VLLM_API_KEY": SECRET, "A": "1"},
        "engine": {"runtime": "venv", "version": "0.32.0", "path": "/opt/engines/vllm-0.32.0/"},
        "unit": UNIT,
    }
    return wanted_content(**{**wanted, **changes})
