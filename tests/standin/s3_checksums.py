# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checksums of S3 objects: verified while the bytes arrive, joined when an upload is completed."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

# Algorithm -> (bits, reflected polynomial). CRC-32 is in zlib.
POLYNOMIALS = {
    "CRC32": (32, 0xEDB88320),
    "CRC32C": (32, 0x82F63B78),
    "CRC64NVME": (64, 0x9A6C9329AC4BC9B5),
}
ALGORITHMS = ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256")


def header(algorithm: str) -> str:
    """The header that carries this checksum."""
    return f"x-amz-checksum-{algorithm.lower()}"


class Running(Protocol):
    """A checksum that takes bytes as they come."""

    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...


class _Crc32:
    def __init__(self) -> None:
        self._value = 0

    def update(self, data: bytes) -> None:
        self._value = zlib.crc32(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(4, "big")


class _Crc:
    """A reflected CRC with all bits set at the start and flipped at the end."""

    def __init__(self, bits: int, polynomial: int) -> None:
        self._bits, self._polynomial = bits, polynomial
        self._state = (1 << bits) - 1

    def update(self, data: bytes) -> None:
        self._state = _fold(data, self._state, self._bits, self._polynomial)

    def digest(self) -> bytes:
        return (self._state ^ ((1 << self._bits) - 1)).to_bytes(self._bits // 8, "big")


def running(algorithm: str) -> Running:
    """A new checksum of a known algorithm."""
    if algorithm == "CRC32":
        return _Crc32()
    if algorithm in POLYNOMIALS:
        return _Crc(*POLYNOMIALS[algorithm])
    return hashlib.new(algorithm.lower())


def encoded(digest: bytes) -> str:
    """A digest as headers carry it."""
    return base64.b64encode(digest).decode()


def composite(algorithm: str, digests: Iterable[str]) -> str:
    """The checksum of an upload from those of its parts: that of the digests one after the other, and their number."""
    parts = [base64.b64decode(digest) for digest in digests]
    whole = running(algorithm)
    whole.update(b"".join(parts))
    return f"{encoded(whole.digest())}-{len(parts)}"


def joined(algorithm: str, parts: Iterable[tuple[str, int]]) -> str:
    """The CRC of a whole object from those of its parts (digest, bytes), without reading them again."""
    bits, polynomial = POLYNOMIALS[algorithm]
    whole = 0
    for digest, size in parts:
        shifted = _times(whole, _power(size * 8, bits, polynomial), bits, polynomial) if whole else 0
        whole = shifted ^ int.from_bytes(base64.b64decode(digest), "big")
    return encoded(whole.to_bytes(bits // 8, "big"))


# Below, a polynomial over two elements is an integer with the highest power in the lowest bit: so these CRCs read.


def _fold(data: bytes, state: int, bits: int, polynomial: int) -> int:
    """The state after `data`. A loop over bytes takes seconds for a large object; this halves the message again and
    again: its first half times x^n, taken modulo the polynomial, is added to the second (shifts of long integers)."""
    width, message = len(data) * 8, int.from_bytes(data, "little") ^ state
    if width < bits:
        for _ in range(width):
            message = message >> 1 ^ (polynomial if message & 1 else 0)
        return message
    while width > 8 * bits:
        first = (width - bits) // 2
        rest = width - first
        factor = _power(rest, bits, polynomial)
        low, message = message & ((1 << first) - 1), message >> first
        shift = rest - (first + bits - 1)
        while factor:
            if factor & 1:
                message ^= low << shift
            factor >>= 1
            shift += 1
        width = rest
    for _ in range(width):
        message = message >> 1 ^ (polynomial if message & 1 else 0)
    return message


@lru_cache(maxsize=4096)
def _power(exponent: int, bits: int, polynomial: int) -> int:
    """x^exponent modulo the polynomial."""
    result, square = 1 << (bits - 1), 1 << (bits - 2)
    while exponent:
        if exponent & 1:
            result = _times(result, square, bits, polynomial)
        square = _times(square, square, bits, polynomial)
        exponent >>= 1
    return result


def _times(left: int, right: int, bits: int, polynomial: int) -> int:
    result = 0
    for bit in range(bits - 1, -1, -1):
        if left >> bit & 1:
            result ^= right
        right = right >> 1 ^ (polynomial if right & 1 else 0)
    return result
