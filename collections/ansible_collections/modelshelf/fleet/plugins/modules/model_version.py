#!/usr/bin/python
# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Publishes a directory as a version of a model."""

from __future__ import annotations

DOCUMENTATION = r"""
module: model_version
short_description: Publish a directory as an immutable version of a model
version_added: 0.1.0
author:
  - Modelshelf contributors (@modelshelf)
description:
  - Checks that a directory holds a whole model, hashes every file once, uploads the files in parallel below
    C(<model>/<version>/) and writes the manifest last, so that a version is there exactly when it is complete.
  - A version that is on the shelf with the same content is left alone. With other content it is refused.
  - An interrupted upload is taken up again by the next run; files that are complete are not sent again.
  - Runs where the directory is, usually on the controller.
extends_documentation_fragment:
  - modelshelf.fleet.attributes
  - modelshelf.fleet.connection
attributes:
  check_mode:
    support: full
    details:
      - Checks and hashes the directory, and asks the store what it has.
      - A store that cannot be reached, or has no such bucket, is taken for empty with a warning, since the same play
        may be about to make it.
  diff_mode:
    support: full
    details:
      - Shows the number of files and bytes, and the digest, before and after.
options:
  model:
    description:
      - The name of the model. The prefix carries its slug; the manifest keeps the name for display.
    type: str
    required: true
  version:
    description:
      - The version, 1 to 64 characters of C(A-Z a-z 0-9 . _ -). V(latest) is refused.
    type: str
    required: true
  directory:
    description:
      - The directory with the model. Its kind is recognised by its files, which are those of the Hugging Face layout,
        Mistral's consolidated layout, GGUF, tensorizer, or a LoRA adapter.
      - Links are followed inside of it and refused when they leave it.
    type: path
    required: true
  exclude:
    description:
      - Globs of files that are not published.
      - One without a slash fits any part of a path, one with a slash the whole path.
      - A folder C(.modelshelf) is never published.
    type: list
    elements: str
    default:
      - .git
      - .gitattributes
      - .gitignore
      - .gitmodules
      - .cache
      - __pycache__
      - .ipynb_checkpoints
      - .DS_Store
      - .huggingface
  allow_missing:
    description:
      - Parts that the directory may lack. V(tokenizer) is for models whose tokenizer is given elsewhere.
    type: list
    elements: str
    choices:
      - tokenizer
    default: []
  concurrency:
    description:
      - How many files are hashed, and how many parts are sent, at the same time.
    type: int
    default: 8
  part_size:
    description:
      - The size of the parts in which larger files are sent, in bytes or written like V(64M).
      - Raised to 5 MiB, and to what a file needs to be sent in 10,000 parts.
    type: bytes
    default: 67108864
"""

EXAMPLES = r"""
- name: Publish version v3 of a model
  modelshelf.fleet.model_version:
    endpoint: http://store1:9000
    bucket: models
    access_key: "{{ modelshelf_writer_access_key }}"
    secret_key: "{{ modelshelf_writer_secret_key }}"
    model: qwen2-7b
    version: v3
    directory: /data/qwen2-7b
  delegate_to: localhost

- name: Publish only the weights of the consolidated layout
  modelshelf.fleet.model_version:
    endpoint: http://store1:9000
    bucket: models
    model: mistral-small
    version: "2026-11"
    directory: /data/mistral-small
    exclude:
      - .git*
      - model-*.safetensors
      - model.safetensors.index.json
"""

RETURN = r"""
manifest:
  description: The manifest of the version that is on the shelf, or in check mode will be.
  returned: success
  type: dict
  sample: {"format": 1, "model": "qwen2-7b", "version": "v3", "kind": "hf", "bytes": 15231000000}
prefix:
  description: The key prefix of the version, without a final slash.
  returned: success
  type: str
  sample: qwen2-7b/v3
uploaded:
  description: How much was sent, or in check mode would be. The manifest does not count.
  returned: success
  type: dict
  contains:
    files:
      description: Number of files.
      type: int
    bytes:
      description: Sum of their sizes.
      type: int
reused:
  description: How much was in the store already.
  returned: success
  type: dict
  contains:
    files:
      description: Number of files.
      type: int
    bytes:
      description: Sum of their sizes.
      type: int
faults:
  description: What is wrong with the directory, a sentence for each fault.
  returned: when the directory is refused
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.modelshelf.fleet.plugins.module_utils._errors import DirectoryFaults, ModelshelfError
from ansible_collections.modelshelf.fleet.plugins.module_utils._model_version import DEFAULT_EXCLUDE, publish_version
from ansible_collections.modelshelf.fleet.plugins.module_utils._rustfs_options import BOTO3
from ansible_collections.modelshelf.fleet.plugins.module_utils._s3_client import (
    BOTO3_ERROR,
    connection_arguments,
)


def main() -> None:
    """Checks the parameters, then publishes."""
    module = AnsibleModule(
        argument_spec={
            **connection_arguments(),
            "model": {"type": "str", "required": True},
            "version": {"type": "str", "required": True},
            "directory": {"type": "path", "required": True},
            "exclude": {"type": "list", "elements": "str", "default": DEFAULT_EXCLUDE},
            "allow_missing": {"type": "list", "elements": "str", "choices": ["tokenizer"], "default": []},
            "concurrency": {"type": "int", "default": 8},
            "part_size": {"type": "bytes", "default": 64 * 1024 * 1024},
        },
        required_together=[("access_key", "secret_key")],
        supports_check_mode=True,
    )
    if BOTO3_ERROR:
        module.fail_json(msg=missing_required_lib(BOTO3), exception=BOTO3_ERROR)
    try:
        result = publish_version(module.params, check_mode=module.check_mode, say=module.log, warn=module.warn)
    except DirectoryFaults as error:
        module.fail_json(msg=str(error), faults=list(error.faults))
    except ModelshelfError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
