# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a module reaches the store."""

from __future__ import annotations


class ModuleDocFragment:
    """The connection options, as the library's connection_arguments() has them."""

    DOCUMENTATION = r"""
options:
  endpoint:
    description:
      - The URL of the S3 server, such as V(http://store1:9000), without a path.
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
    type: str
  secret_key:
    description:
      - The secret of the access key.
    type: str
  region:
    description:
      - The region that requests are signed for. Most servers of one's own take any.
    type: str
    default: us-east-1
  ca_file:
    description:
      - A PEM file with the certificate authority of the server, when the system does not know it.
    type: path
requirements:
  - boto3 >= 1.36.0
"""
