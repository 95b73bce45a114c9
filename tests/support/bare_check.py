# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Before the first converge: check mode on bare hosts, with snapshots before and after, kept for the tests to judge."""

from __future__ import annotations

import json
import sys

from tests.support.fleet import ADDRESSES, RESULTS, play
from tests.support.snapshots import snapshot


def main() -> int:
    RESULTS.mkdir(exist_ok=True)
    before = {name: snapshot(name) for name in ADDRESSES}
    run = play("--check", "--diff", "-vvv", ANSIBLE_INJECT_INVOCATION="1")
    after = {name: snapshot(name) for name in ADDRESSES}
    kept = {"status": run.status, "output": run.output, "before": before, "after": after}
    (RESULTS / "bare-check.json").write_text(json.dumps(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
