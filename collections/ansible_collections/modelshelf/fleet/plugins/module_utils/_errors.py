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
    """The store does not accept the key, or the key may not do this."""


class BadSignature(NotPermitted):
    """The store knows the access key, but the secret is another one."""


class UnknownKey(NotPermitted):
    """The store does not know the access key."""


class KeyDisabled(NotPermitted):
    """The secret is right, but the access key is switched off."""


class ClockSkew(StoreError):
    """The clocks of this machine and of the store differ by more than a signature allows."""


class Unsupported(StoreError):
    """The server lacks a feature; trying again does not help."""


class InUse(StoreError):
    """The object cannot be removed, because something else needs it or is still in it."""


class Refused(StoreError):
    """The server does not take the input; the same input will be refused again."""


class Unreachable(StoreError):
    """No answer from the endpoint."""


class Unavailable(Unreachable):
    """The server answers that it cannot now: 429, 502, 503 or 504."""


class NotTrusted(StoreError):
    """The certificate of the endpoint is not one that this machine trusts."""


class AlreadyThere(StoreError):
    """What was to be made is there already."""


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
