# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong between a directory of weights and the shelf. Every message is meant for the operator."""

from __future__ import annotations

from collections.abc import Sequence


class ModelshelfError(Exception):
    """The base of all errors whose message says what was expected, what was found, where, and what to do."""


class StoreError(ModelshelfError):
    """The store answered with a failure that has no narrower class."""


class NotFound(StoreError):
    """The bucket or the object is not there."""


class NotPermitted(StoreError):
    """The store does not know the key, or the key may not do this."""


class Unsupported(StoreError):
    """The server lacks a feature; trying again does not help."""


class Unreachable(StoreError):
    """No answer from the endpoint."""


class AlreadyThere(StoreError):
    """A conditional write found an object under its key."""


class DamagedManifest(StoreError):
    """There is a manifest, but it cannot be understood or contradicts itself."""


class DirectoryFaults(ModelshelfError):
    """A directory that cannot be published. `faults` has a sentence for each fault found."""

    def __init__(self, directory: str, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        number = f"{len(faults)} faults" if len(faults) > 1 else "1 fault"
        super().__init__(f"{directory} was not published, {number}: " + "; ".join(faults))


class VersionTaken(ModelshelfError):
    """The version is on the shelf, or half on it, with other content."""
