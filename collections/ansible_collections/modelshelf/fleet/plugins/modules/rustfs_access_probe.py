#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries with a reader's own key what it must be able to do and what it must not."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rustfs_access_probe
short_description: Try with a reader's key what it must and must not be able to do
version_added: 0.2.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Sends requests that are signed with the key of a reader, and fails unless each is answered as it must be.
  - Listing below a prefix and reading an object there must be allowed. Where nothing lies below a prefix, the answer
    to reading a random key must be 404 NoSuchKey, which only a key with the right to read is told.
  - Denied must be listing without a prefix, with an empty one, with the prefix without its slash, with shorter and
    longer neighbours of it such as V(opt) and V(opt-125m-v2); reading from such neighbours; listing open uploads;
    listing and reading another bucket; writing, starting an upload, tagging, deleting and deleting in a batch, below
    the prefix and beside it; listing the users of the server, which is an admin call. Where the bucket is versioned,
    versions are listed, read and deleted likewise.
  - That is all that is tried. Not found is a right to one other path, such as that of a model that is not in
    O(forbidden_prefixes), to the settings of the bucket, to one bucket other than O(other_bucket), or to another admin
    call.
  - Denied means 403 AccessDenied. Any other answer, or none, proves nothing and is a failure.
  - The requests that write use keys with random names. What one of them wrongly made is removed again, with versions,
    delete markers and open uploads.
extends_documentation_fragment:
  - modelshelf.fleet.attributes
  - modelshelf.fleet.connection
attributes:
  check_mode:
    support: partial
    details:
      - Sends only the requests that read. Those that write are left out.
  diff_mode:
    support: none
    details:
      - This module changes nothing.
options:
  access_key:
    description:
      - The access key of the reader.
    required: true
  secret_key:
    description:
      - The secret of the reader's access key.
    required: true
  prefixes:
    description:
      - The prefixes that the key is to read, with or without slashes at their ends.
    type: list
    elements: str
    required: true
  forbidden_prefixes:
    description:
      - Prefixes of the same bucket that the key must not read, such as those of other models.
    type: list
    elements: str
    default: []
  other_bucket:
    description:
      - Another bucket, which the key must not read. A random name if it is not given, since the server refuses a key
        without rights before it looks whether there is such a bucket.
    type: str
  versioned:
    description:
      - Whether the bucket is versioned, so that the policy of the reader has C(s3:GetObjectVersion).
    type: bool
    default: false
  cleanup_access_key:
    description:
      - The access key that removes what wrongly succeeded. It must be able to list, delete and abort uploads.
      - Without it, the reader's own key is tried.
    type: str
  cleanup_secret_key:
    description:
      - The secret of O(cleanup_access_key).
    type: str
seealso:
  - plugin: modelshelf.fleet.readonly_prefix_policy
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Try that the reader of a model reads it, and not its neighbours
  modelshelf.fleet.rustfs_access_probe:
    endpoint: http://store1:9000
    bucket: models
    access_key: "{{ modelshelf_reader_access_key }}"
    secret_key: "{{ modelshelf_reader_secret_key }}"
    prefixes:
      - opt-125m
    cleanup_access_key: "{{ modelshelf_store_access_key }}"
    cleanup_secret_key: "{{ modelshelf_store_secret_key }}"
  delegate_to: localhost
"""

RETURN = r"""
probes:
  description: The requests with their answers.
  returned: when any were sent
  type: list
  elements: dict
  contains:
    action:
      description: What was tried.
      type: str
    target:
      description: The object or listing.
      type: str
    expected:
      description: The answer that a reader must get.
      type: str
    found:
      description: The answer of the server, its status and the code of the error.
      type: str
    right:
      description: Whether the two agree.
      type: bool
  sample:
    - action: put
      target: s3://models/opt-125m/modelshelf-probe-1f0c3cfbd3b2a4d6
      expected: 403 AccessDenied
      found: 403 AccessDenied
      right: true
left_behind:
  description: What a request wrongly made and the cleanup key could not remove.
  returned: when a probe failed
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.modelshelf.fleet.plugins.module_utils._access_probe_run import ProbeFailed, probe_access
from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import ModelshelfError
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import BOTO3, connection_options
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import BOTO3_ERROR


def main() -> None:
    """Checks the parameters, then probes."""
    module = AnsibleModule(
        argument_spec={
            **connection_options(),
            "bucket": {"type": "str", "required": True},
            "prefixes": {"type": "list", "elements": "str", "required": True},
            "forbidden_prefixes": {"type": "list", "elements": "str", "default": []},
            "other_bucket": {"type": "str"},
            "versioned": {"type": "bool", "default": False},
            "cleanup_access_key": {"type": "str", "no_log": False},
            "cleanup_secret_key": {"type": "str", "no_log": True},
        },
        required_together=[("cleanup_access_key", "cleanup_secret_key")],
        supports_check_mode=True,
    )
    if BOTO3_ERROR:
        module.fail_json(msg=missing_required_lib(BOTO3), exception=BOTO3_ERROR)
    try:
        result = probe_access(module.params, check_mode=module.check_mode, warn=module.warn)
    except ProbeFailed as error:
        probes = [verdict.as_dict() for verdict in error.verdicts]
        module.fail_json(msg=str(error), probes=probes, left_behind=list(error.left))
    except ModelshelfError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
