# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a module reaches RustFS as an administrator."""

from __future__ import annotations


class ModuleDocFragment:
    """The connection options, as the library's connection_options() has them."""

    DOCUMENTATION = r"""
options:
  endpoint:
    description:
      - The URL of the server, such as V(http://store1:9000), without a path. S3 and admin calls share it.
      - Without it, the value of E(RUSTFS_ENDPOINT) is used.
    type: str
    required: true
  access_key:
    description:
      - The access key that signs the requests, usually the root key or one that may administer.
      - Without it, the value of E(RUSTFS_ACCESS_KEY) is used.
    type: str
    required: true
  secret_key:
    description:
      - The secret of O(access_key).
      - Without it, the value of E(RUSTFS_SECRET_KEY) is used.
    type: str
    required: true
  region:
    description:
      - The region that requests are signed for. RustFS takes any.
      - Without it, the value of E(RUSTFS_REGION) is used.
    type: str
    default: us-east-1
  ca_file:
    description:
      - A PEM file with the certificate authority of the server, when the machine does not know it.
      - Without it, the value of E(RUSTFS_CA_FILE) is used.
    type: path
  validate_certs:
    description:
      - Whether the certificate of the server must be trusted and fit its name.
      - Without it, the value of E(RUSTFS_VALIDATE_CERTS) is used.
    type: bool
    default: true
  timeout:
    description:
      - For how many seconds a call is tried while the server cannot be reached, or answers 429, 502, 503 or 504.
      - A call that gets no answer ends after this time, too.
      - Any other failure ends the task at once.
    type: int
    default: 30
requirements:
  - boto3 >= 1.36.0
"""
