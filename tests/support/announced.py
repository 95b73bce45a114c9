# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check run announced: which of the things that the real run then changed it had named."""

from __future__ import annotations

import re
from functools import cache

# Folders whose content a program makes: naming the folder is enough.
WHOLE_FOLDERS = re.compile(
    r"(/srv/rustfs|/opt/modelshelf/rustfs/[^/]+|/opt/modelshelf/engines/[^/]+|/var/cache/modelshelf/vllm/[^/]+|/var/lib/modelshelf/instances/[^/]+/generations/[0-9]+)/"
)
BUCKET = "object models/"
"""How a change in the bucket of the models is told, before the key."""
ACCOUNTS = re.compile(r"/etc/(passwd|group|shadow|gshadow)-?|/etc/\.pwd\.lock")


def announcements(output: str, host: str) -> str:
    """What a run at -vvv said in tasks that would change `host`, without the parameters that were merely passed."""
    kept = []
    for task in re.split(r"^TASK ", output, flags=re.M)[1:]:
        if f"changed: [{host}]" in task:
            lines = [line for line in task.splitlines() if not line.startswith("<")]
            kept.append(_without_invocations(lines))
    return "\n".join(kept)


def unannounced(changes: list[str], said: str, published: str) -> list[str]:
    """Those of `changes` (keys of a snapshot) that were not named; `published`: what the publishing tasks said."""
    return [change for change in changes if not _announced(change, said, published)]


def _announced(change: str, said: str, published: str) -> bool:
    if change.startswith(BUCKET):
        return _object_named(change.removeprefix(BUCKET), published)
    if not change.startswith("/"):
        name = change.partition(" ")[2]
        place = _mount_point(name) if name.endswith(".mount") else name
        return _named(place, said) or _named(f"/etc/systemd/system/{name}", said)
    if ACCOUNTS.fullmatch(change):
        return "Add the user" in said
    whole = WHOLE_FOLDERS.match(change)
    return _named(whole[1] if whole else change, said)


def _mount_point(unit: str) -> str:
    """The path that a mount unit stands for (systemd.unit(5): - for /, everything else escaped)."""
    path = "/" + unit.removesuffix(".mount").replace("-", "/")
    return re.sub(r"\\x([0-9a-f]{2})", lambda code: chr(int(code[1], 16)), path)


@cache
def _named(name: str, said: str) -> bool:
    """Whether `said` has the name, or a path below it: what is above a path is made with it."""
    return re.search(rf"(?<![\w./@-]){re.escape(name)}(?![\w.@-])", said) is not None


def _object_named(key: str, published: str) -> bool:
    """Whether the publishing tasks named the version, and the file in it."""
    model, _, rest = key.partition("/")
    version, _, file = rest.partition("/")
    prefix = f"{model}/{version}" if version else f"{model}/"
    if not file or file.startswith(".modelshelf"):
        return prefix in published
    return prefix in published and re.search(rf"path: '?{re.escape(file)}'?$", published, re.M) is not None


def _without_invocations(lines: list[str]) -> str:
    kept, inside = [], -1
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if inside >= 0 and indent > inside:
            continue
        inside = indent if line.strip() == "invocation:" else -1
        if inside < 0:
            kept.append(line)
    return "\n".join(kept)
