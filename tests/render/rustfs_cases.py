# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptions of a store, those that the role rustfs takes and those that it refuses, with what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ACCESS, SECRET, RPC = "shelf-root-4b1e", "canary-root-93d2-%s$x", "canary-rpc-0c4f-%h"
UNIT = "modelshelf-rustfs.service"
SUM = "sha256:" + "0f" * 32
GIVEN: dict[str, Any] = {
    "modelshelf_store": {"endpoint": "http://10.0.0.1:9000", "bucket": "models"},
    "modelshelf_root_access_key": ACCESS,
    "modelshelf_root_secret_key": SECRET,
    "__rustfs_host": {"paths": ["/srv/rustfs"]},
    "__rustfs_machine": {"stdout": "x86_64"},
}
POOL = {
    "rustfs_volumes": ["http://store{1...4}:9000/data/rustfs{0...1}"],
    "rustfs_mount_points": ["/data/rustfs0", "/data/rustfs1"],
    "rustfs_rpc_secret_key": RPC,
    "__rustfs_host": {"paths": ["/data/rustfs0", "/data/rustfs1"]},
}
CONTAINER = {"rustfs_source": "container", "rustfs_image_digest": SUM}


TLS = {"rustfs_tls_certificate_file": "/c.pem", "rustfs_tls_key_file": "/k.pem"}
BINARY = {"rustfs_source": "binary", "rustfs_binary_file": str(HERE / "rustfs.yml")}


def at(endpoint: str) -> dict[str, Any]:
    return {"modelshelf_store": {"endpoint": endpoint, "bucket": "models"}}


FINE: dict[str, dict[str, Any]] = {
    "single": {"rustfs_service_directives": {"MemoryMax": "8G", "SystemCallFilter": ["@mount", "bpf"]}},
    "plain": {"rustfs_allow_shared_device": "false"},
    "pool": POOL,
    "container": {**CONTAINER, **POOL},
    "docker": {**CONTAINER, "rustfs_container_engine": "docker"},
    "tls": {
        **at("https://store.example.net:9443"),
        **TLS,
        "rustfs_console_port": 9001,
        "rustfs_address": "2001:db8::1",
        "rustfs_allow_shared_device": True,
        "rustfs_set_drive_count": 4,
    },
    "http": at("http://store1"),
    "https": at("https://store1"),
    "deb": {"rustfs_source": "package"},
    "rpm": {"rustfs_source": "package", "rustfs_package_url": "https://example.net/rustfs-1.0.0-1.ARCH.rpm"},
    "binary": BINARY,
}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"modelshelf_root_access_key": "rustfsadmin"}, "neither may be rustfsadmin"),
    ({"modelshelf_root_secret_key": "rustfsadmin"}, "neither may be rustfsadmin"),
    ({"modelshelf_root_access_key": ""}, "Found 0 and 21 characters"),
    ({"modelshelf_root_access_key": "a,b"}, "without blanks, = and commas"),
    ({"modelshelf_root_secret_key": "short"}, "Found 15 and 5 characters"),
    ({"modelshelf_root_secret_key": " canary-begins-with-a-blank"}, "without a blank at either end"),
    ({**POOL, "rustfs_hosts": ["single", "pool"]}, "rustfs_volumes is not the same on all hosts of the store"),
    ({**POOL, "rustfs_hosts": ["pool", "refused-1"]}, "modelshelf_root_secret_key is not the same on all hosts"),
    ({"rustfs_version": "latest"}, "expected the number of one release"),
    ({"rustfs_source": "git"}, "rustfs_source is git; choose one of: archive, package, binary, container"),
    ({"rustfs_checksum": ""}, "a download needs sha256"),
    ({"rustfs_checksum": "md5:0123"}, "a download needs sha256"),
    ({"rustfs_source": "binary"}, "needs rustfs_binary_file"),
    ({"rustfs_source": "binary", "rustfs_binary_file": "/nowhere/rustfs"}, "does not exist"),
    ({**BINARY, "rustfs_checksum": SUM}, "should have the checksum sha256:0f0f"),
    ({"rustfs_source": "container"}, "needs the digest of the image"),
    ({"rustfs_source": "container", "rustfs_image_digest": "latest"}, "needs the digest of the image"),
    ({"rustfs_source": "container", "rustfs_image_archive": "/i.tar"}, "needs the digest of the image"),
    ({**CONTAINER, "rustfs_container_engine": "lxc"}, "choose one of: podman, docker"),
    ({"rustfs_tls_certificate_file": "/c.pem"}, "belong together"),
    (TLS, "has to begin with https://"),
    ({"rustfs_volumes": ["https://n{1...4}:9000/d"]}, "would not reach each other"),
    ({"rustfs_start_timeout": 180}, "expected more than 180 seconds"),
    ({"rustfs_mount_points": ["/data/a b"]}, "without blanks"),
    ({"rustfs_environment": {"RUSTFS_ADDRESS": ":1"}}, "remove RUSTFS_ADDRESS"),
    ({"rustfs_environment": {"RUSTFS_SECRET_KEY": "x"}}, "remove RUSTFS_SECRET_KEY"),
    ({"rustfs_environment": {"MINIO_ROOT_PASSWORD": "x"}}, "remove MINIO_ROOT_PASSWORD"),
    ({"rustfs_environment": {"rustfs region": "x"}}, "remove rustfs region"),
    ({"rustfs_environment": {"RUSTFS_LICENSE": 'a "quoted" word'}}, "no quote"),
]
