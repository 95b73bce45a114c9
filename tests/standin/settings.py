# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The server's own settings (rustfs.md 3.1), from flags and the environment, and the stand-in's."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

VERSION = "1.0.0-rc.3"
TRUE = ("true", "1", "on", "yes")
# Flag -> (variable, default). Those without a meaning here are taken and ignored.
FLAGS = {
    "address": ("RUSTFS_ADDRESS", ":9000"),
    "console-enable": ("RUSTFS_CONSOLE_ENABLE", "true"),
    "console-address": ("RUSTFS_CONSOLE_ADDRESS", ":9001"),
    "access-key": ("RUSTFS_ACCESS_KEY", ""),
    "access-key-file": ("RUSTFS_ACCESS_KEY_FILE", ""),
    "secret-key": ("RUSTFS_SECRET_KEY", ""),
    "secret-key-file": ("RUSTFS_SECRET_KEY_FILE", ""),
    "region": ("RUSTFS_REGION", "us-east-1"),
    "server-domains": ("RUSTFS_SERVER_DOMAINS", ""),
    "tls-path": ("RUSTFS_TLS_PATH", ""),
    "obs-endpoint": ("RUSTFS_OBS_ENDPOINT", ""),
    "license": ("RUSTFS_LICENSE", ""),
    "buffer-profile": ("RUSTFS_BUFFER_PROFILE", ""),
}


class Fatal(Exception):
    """The server cannot start: exit 1 with this on a `[FATAL]` line."""


@dataclass(frozen=True)
class Settings:
    """What one run of the server is told. Volumes as given: `volumes.open_volumes` checks them."""

    address: tuple[str, int]
    access_key: str
    secret_key: str = field(repr=False)
    volume_arguments: tuple[str, ...]
    region: str = "us-east-1"
    tls_path: str = ""
    bypass_disk_check: bool = False
    quota_warmup_s: float = 0.0
    lacks: frozenset[str] = frozenset()
    never_ready: bool = False
    access_log: str = ""
    version: str = VERSION
    warnings: tuple[str, ...] = ()
    volumes: tuple[Path, ...] = ()
    deployment_id: str = ""
    started: float = field(default_factory=time.time)

    @property
    def system(self) -> Path:
        """The folder of the server's own files."""
        return self.volumes[0] / ".rustfs.sys"


def build() -> dict[str, str]:
    """What was packed with the program: a version, and defaults of STANDIN_* settings."""
    with resources.files(__package__).joinpath("build.json").open() as file:
        found: dict[str, str] = json.load(file)
    return found


def read_settings(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Settings of `rustfs [server] [flags] VOLUMES..`. Raises Fatal. `--version` prints and exits 0."""
    packed = build()
    version = packed.get("version", VERSION)
    environment = {**packed, **environment}
    arguments = list(arguments)
    if arguments and arguments[0] == "server":
        del arguments[0]
    parser = argparse.ArgumentParser(prog="rustfs", description="A stand-in for RustFS.", exit_on_error=False)
    parser.add_argument("--version", action="version", version=f"rustfs {version} (stand-in)")
    parser.add_argument("volumes", nargs="*")
    for flag, (variable, default) in FLAGS.items():
        parser.add_argument(f"--{flag}", default=environment.get(variable) or default)
    try:
        given, unknown = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise Fatal(f"Command parse failed: {error}") from None
    if unknown:
        raise Fatal(f"Command parse failed: unexpected argument '{unknown[0]}'")
    values: dict[str, str] = {name: value for name, value in vars(given).items() if name != "volumes"}
    volumes = tuple(given.volumes or environment.get("RUSTFS_VOLUMES", "").split())
    if not volumes:
        raise Fatal("Command parse failed: no volumes: give VOLUMES or set RUSTFS_VOLUMES")
    warnings = []
    keys = []
    for name, legacy in (("access_key", "RUSTFS_ROOT_USER"), ("secret_key", "RUSTFS_ROOT_PASSWORD")):
        key = _key(name, values[name] or environment.get(legacy, ""), values[f"{name}_file"])
        if not key:
            key = "rustfsadmin"
            warnings.append(f"the default {name.replace('_', ' ')} is in use: anybody knows it")
        keys.append(key)
    address = _address(values["address"])
    if values["console_enable"].lower() in TRUE and _address(values["console_address"])[1] == address[1]:
        raise Fatal("RUSTFS_CONSOLE_ADDRESS must not use the port of the S3 API")
    return Settings(
        address=address,
        access_key=keys[0],
        secret_key=keys[1],
        volume_arguments=volumes,
        region=values["region"],
        tls_path=values["tls_path"],
        bypass_disk_check=environment.get("RUSTFS_UNSAFE_BYPASS_DISK_CHECK", "").lower() in TRUE,
        quota_warmup_s=float(environment.get("STANDIN_QUOTA_WARMUP_S") or 0),
        lacks=frozenset(filter(None, environment.get("STANDIN_LACKS", "").replace(" ", "").split(","))),
        never_ready=environment.get("STANDIN_NEVER_READY", "").lower() in TRUE,
        access_log=environment.get("STANDIN_ACCESS_LOG", ""),
        version=version,
        warnings=tuple(warnings),
    )


def _key(name: str, value: str, file: str) -> str:
    if value and file:
        variable = f"RUSTFS_{name.upper()}"
        raise Fatal(f"{variable} and {variable}_FILE are mutually exclusive")
    if not file:
        return value
    try:
        return Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Fatal(f"cannot read {name.replace('_', ' ')} file {file}: {error}") from None


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise Fatal(f"invalid address: {text!r}: expected [host]:port")
    return host.strip("[]"), int(port)


def fatal(reason: object) -> int:
    """The last words of a server that cannot start, and its exit status."""
    print(f"[FATAL] Server runtime failed: {reason}", file=sys.stderr, flush=True)
    return 1
