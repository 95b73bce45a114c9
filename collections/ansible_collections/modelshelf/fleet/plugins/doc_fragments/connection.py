# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a module reaches one bucket of the store."""

from __future__ import annotations


class ModuleDocFragment:
    """The connection options, as the library's connection_arguments() has them."""

    DOCUMENTATION = r"""
options:
  endpoint:
    description:
      - The URL of the S3 server, such as V(http://store1:9000), without a path.
      - If it is not set, the value of the environment variable E(RUSTFS_ENDPOINT) is used.
    type: str
    required: true
  bucket:
    description:
      - The bucket that is the shelf. It must exist.
    type: str
    required: true
  access_key:
    description:
      - The access key. Without one, boto3 looks for credentials in its own places.
      - If it is not set, the value of the environment variable E(RUSTFS_ACCESS_KEY) is used.
    type: str
  secret_key:
    description:
      - The secret of the access key.
      - If it is not set, the value of the environment variable E(RUSTFS_SECRET_KEY) is used.
    type: str
  region:
    description:
      - The region that requests are signed for. RustFS and most servers of one's own take any.
      - If it is not set, the value of the environment variable E(RUSTFS_REGION) is used.
    type: str
    default: us-east-1
  ca_file:
    description:
      - A PEM file with the certificate authority of the server, when the system does not know it.
      - If it is not set, the value of the environment variable E(RUSTFS_CA_FILE) is used.
    type: path
  validate_certs:
    description:
      - Whether the certificate of the server is checked. Say V(false) for tests alone.
      - If it is not set, the value of the environment variable E(RUSTFS_VALIDATE_CERTS) is used.
    type: bool
    default: true
  timeout:
    description:
      - For how many seconds a request is tried again while the store cannot be reached or is busy.
    type: int
    default: 30
requirements:
  - boto3 >= 1.36.0
"""
