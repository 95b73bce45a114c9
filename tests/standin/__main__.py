# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`rustfs [server] [flags] VOLUMES..`, as `python3 -m tests.standin` or packed into one file."""

from __future__ import annotations

import os
import sys

from .server import serve
from .settings import Fatal, fatal, read_settings
from .volumes import open_volumes


def main() -> int:
    """The exit status: 0 after a stop, 1 when it cannot start."""
    os.umask(0o077)
    try:
        return serve(open_volumes(read_settings(sys.argv[1:], os.environ)))
    except Fatal as reason:
        return fatal(reason)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # connections that wait for their next request are nobody to wait for
