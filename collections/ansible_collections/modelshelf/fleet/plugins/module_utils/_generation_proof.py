# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a generation could serve, as far as that can be told before anything is stopped. Python 3.9 only."""

from __future__ import annotations

import os
import posixpath

from ansible_collections.modelshelf.fleet.plugins.module_utils._generation import GenerationError, Instance
from ansible_collections.modelshelf.fleet.plugins.module_utils._generation_files import plain_env_values
from ansible_collections.modelshelf.fleet.plugins.module_utils._manifest import MANIFEST_PATH
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights import WeightsFault
from ansible_collections.modelshelf.fleet.plugins.module_utils._weights_files import read_inside

_KEY = "VLLM_API_KEY"


def prove(instance: Instance, number: int, *, user: str, timeout: float, other_key: bool) -> None:
    """Raises GenerationError unless the generation is complete, its engine is there, and `user` can read its weights.

    `timeout`: seconds for reading from the weights. `other_key`: whether it may have another API key than the current
    generation.
    """
    content = instance.content(number)
    if content is None:
        raise GenerationError(f"generation {number} below {instance.path} is not complete: it cannot be started")
    instance.endpoint(number)
    instance.check_engine(content)
    manifest = posixpath.join(str(content.release["weights_path"]), MANIFEST_PATH)
    try:
        read_inside(os.getpid(), manifest, user=user, timeout=timeout)
    except WeightsFault as fault:
        raise GenerationError(f"generation {number} could not read its weights, {manifest}: {fault}") from None
    current = instance.linked("current")
    serves = instance.content(current) if current is not None else None
    if serves and not other_key and _key(serves.env) != _key(content.env):
        raise GenerationError(
            f"generation {number} has another API key than what serves now, so its clients and the gateway would be"
            " refused. Name the version in the inventory and run site.yml, which gives it the key of today; or name the"
            " generation as rollback_to, and give clients and gateway that key again"
        )


def _key(env: str) -> str:
    return plain_env_values(env).get(_KEY, "")
