# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make standin`: the server in the foreground, with RustFS's own settings, so that any client can be tried on it.

Keys are never the known default ones: those of the environment, else fresh ones that are printed. Without
RUSTFS_VOLUMES the data lie in a folder that is removed at the end.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile

from .__main__ import main as server

ADDRESS = "127.0.0.1:9000"
KEYS = (("RUSTFS_ACCESS_KEY", "RUSTFS_ROOT_USER"), ("RUSTFS_SECRET_KEY", "RUSTFS_ROOT_PASSWORD"))


def main() -> int:
    """Run the server in this process until it is told to stop; its exit status."""
    for name, value in (("RUSTFS_ADDRESS", ADDRESS), ("RUSTFS_CONSOLE_ENABLE", "false")):
        os.environ.setdefault(name, value)
    for name, legacy in KEYS:
        if not any(os.environ.get(other) for other in (name, f"{name}_FILE", legacy)):
            os.environ[name] = secrets.token_hex(12)
            print(f"{name}={os.environ[name]}", flush=True)
    with tempfile.TemporaryDirectory(prefix="standin-") as folder:
        if not os.environ.get("RUSTFS_VOLUMES"):
            os.environ["RUSTFS_VOLUMES"] = folder
        print(f"RUSTFS_VOLUMES={os.environ['RUSTFS_VOLUMES']}", flush=True)
        return server()


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
