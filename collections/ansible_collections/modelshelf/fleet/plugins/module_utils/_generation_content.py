# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a generation would have vLLM start, as a whole: made from inputs, compared, shown.

Standard library and Python 3.9 only.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_files import (
    env_file,
    env_values,
    parse_vllm_yaml,
    vllm_yaml,
)

FORMAT = 1
"""The newest format of a release.json."""


@dataclass(frozen=True)
class Content:
    """What would be started, as the bytes of its files: two equal contents are the same to vLLM."""

    release: Mapping[str, Any]
    vllm_yaml: str
    env: str = field(repr=False)
    engine: str
    unit: str

    def shown(self) -> dict[str, Any]:
        """The content fit to be shown: variables of the environment by name only."""
        return {
            "release": dict(self.release),
            "vllm.yaml": parse_vllm_yaml(self.vllm_yaml),
            "environment": sorted(env_values(self.env)),
            "unit": self.unit.splitlines(),
        }


def wanted_content(
    *,
    instance: str,
    model: str,
    version: str,
    weights_path: str,
    manifest_digest: str | None,
    config: Mapping[str, Any],
    environment: Mapping[str, Any],
    engine: Mapping[str, Any],
    unit: str,
) -> Content:
    """The content that these inputs describe. Raises ValueError that names an input which cannot be used."""
    text = vllm_yaml(config)
    path = posixpath.normpath(engine["path"])
    release = {
        "format": FORMAT,
        "instance": instance,
        "model": model,
        "version": version,
        "weights_path": weights_path,
        "manifest_digest": manifest_digest,
        "engine": {**{key: value for key, value in engine.items() if value is not None}, "path": path},
        "config_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "unit_sha256": hashlib.sha256(unit.encode()).hexdigest(),
    }
    return Content(release, text, env_file(environment), path, unit)


def difference(old: Content | None, new: Content) -> dict[str, Any]:
    """`before` and `after`, as Ansible shows them. Of the environment only names, and which have another value."""
    before: dict[str, Any] = old.shown() if old else {}
    after = new.shown()
    if old:
        ours, theirs = env_values(old.env), env_values(new.env)
        after["environment"] = [
            name if ours.get(name) == theirs[name] or name not in ours else f"{name} (changed)"
            for name in sorted(theirs)
        ]
        # A file that was edited by hand can differ without any of what is shown here.
        if old != new and before == after:
            after["note"] = "the files of the generation are not as they were written"
    return {"before": before, "after": after}
