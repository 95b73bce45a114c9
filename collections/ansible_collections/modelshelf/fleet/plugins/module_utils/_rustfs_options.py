# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options with which modules reach RustFS as an administrator."""

from __future__ import annotations

import importlib
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ansible.module_utils.basic import env_fallback

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import StoreError

try:
    importlib.import_module("botocore")
except ImportError:
    BOTOCORE_ERROR: str | None = traceback.format_exc()
else:
    BOTOCORE_ERROR = None

BOTO3 = "boto3 >= 1.36.0"
"""How a message names the library that is missing; it brings botocore, which signs and sends."""


@dataclass(frozen=True)
class Admin:
    """Where a RustFS server is and who asks. `deadline` is the number of seconds for which a call is tried."""

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = "us-east-1"
    ca_file: str = ""
    validate_certs: bool = True
    deadline: float = 30

    @property
    def where(self) -> str:
        """How messages name the server."""
        return f"(endpoint {self.endpoint})"


def connection_options() -> dict[str, dict[str, Any]]:
    """The options that every module for RustFS has; the fragment `rustfs` documents them."""

    def option(name: str, **more: Any) -> dict[str, Any]:
        return {"fallback": (env_fallback, [f"RUSTFS_{name.upper()}"]), **more}

    return {
        "endpoint": option("endpoint", type="str", required=True),
        "access_key": option("access_key", type="str", required=True, no_log=False),
        "secret_key": option("secret_key", type="str", required=True, no_log=True),
        "region": option("region", type="str", default="us-east-1"),
        "ca_file": option("ca_file", type="path"),
        "validate_certs": option("validate_certs", type="bool", default=True),
        "timeout": {"type": "int", "default": 30},
    }


def check_connection(params: Mapping[str, Any]) -> None:
    """Raises StoreError for an endpoint or a time limit that cannot work."""
    endpoint = params["endpoint"]
    if not _is_endpoint(endpoint):
        # A user and a password may be in it.
        shown = re.sub(r"//.*@", "//...@", endpoint)
        raise StoreError(
            f"endpoint is {shown!r}, expected http://host:port or https://host:port, without user and path, the port"
            " from 1 to 65535, a host of IPv6 as [::1]"
        )
    if params["timeout"] < 1:
        raise StoreError(f"timeout is {params['timeout']}; expected at least 1 second")


def _is_endpoint(text: str) -> bool:
    try:
        address = urlsplit(text)
        known = bool(address.hostname) and address.port != 0
    except ValueError:  # a port that is none, or half an address of IPv6
        return False
    return known and bool(re.fullmatch(r"https?://[^/?#@\s]*[^/?#@\s:]/?", text))


def admin_from(params: Mapping[str, Any]) -> Admin:
    """The connection that a module's parameters describe. Raises StoreError for values that cannot work."""
    endpoint = params["endpoint"]
    check_connection(params)
    for name in ("access_key", "secret_key"):
        if not params[name]:
            raise StoreError(f"{name} is empty: give the keys of an administrator of {endpoint}")
    return Admin(
        endpoint=endpoint.rstrip("/"),
        access_key=params["access_key"],
        secret_key=params["secret_key"],
        region=params["region"],
        ca_file=params["ca_file"] or "",
        validate_certs=params["validate_certs"],
        deadline=params["timeout"],
    )
