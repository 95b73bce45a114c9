# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds up the JUnit files of a run: summary.py FOLDER.

Names each test that failed, with the first line of its reason, and where the time went. The last line is the count;
exits 1 when a test failed or none ran.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SLOWEST = 15  # tests named with their seconds


def main(folder: Path) -> int:
    passed = failed = 0
    times: list[tuple[float, str]] = []
    for path in sorted(folder.glob("*.xml")):
        root = ElementTree.parse(path).getroot()
        suites = root.iter("testsuite")
        for case in root.iter("testcase"):
            times.append((float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}"))
            for reason in [*case.findall("failure"), *case.findall("error")]:
                said = (reason.get("message") or "").partition("\n")[0]
                sys.stdout.write(f"FAILED {case.get('classname')}::{case.get('name')}: {said}\n")
        counts = [
            {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")} for suite in suites
        ]
        spent = sum(float(suite.get("time", 0)) for suite in root.iter("testsuite"))
        bad = sum(one["failures"] + one["errors"] for one in counts)
        good = sum(one["tests"] - one["skipped"] for one in counts) - bad
        sys.stdout.write(f"{path.stem}: {good} passed, {bad} failed, {spent:.0f} s\n")
        passed, failed = passed + good, failed + bad
    for seconds, name in sorted(times, reverse=True)[:SLOWEST]:
        sys.stdout.write(f"{seconds:5.0f} s  {name}\n")
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
