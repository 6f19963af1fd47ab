"""Digests of texts and bodies: BLAKE2b, so that nobody can make another text or body with a given digest.

With the secret of an index they are keyed (RFC 7693, section 2.9), and nobody who does not know the secret can compute
them. Without one, as in crawl logs, they are the same everywhere.
"""

from __future__ import annotations

import os
import struct
from hashlib import blake2b

DIGEST_BYTES = 16
"""Of 2**64 texts two have the same digest about as probably as not."""
SECRET_BYTES = 32
"""A key of BLAKE2b has up to 64."""


class Secret(bytes):
    """What keys the digests and hashes of one index: `SECRET_BYTES` random bytes, or none.

    Who knows it can make texts that collide, so its repr does not show it.
    """

    __slots__ = ()

    @classmethod
    def random(cls) -> Secret:
        """One that nobody can know."""
        return cls(os.urandom(SECRET_BYTES))

    @classmethod
    def of(cls, data: bytes) -> Secret:
        """Always the same one for the same `data`: as secret as these are."""
        return cls(blake2b(data, digest_size=SECRET_BYTES, person=b"secret").digest())

    @property
    def symbol_key(self) -> tuple[int, int]:
        """The key of symbol hashes, two numbers of 64 bits; the same everywhere without a secret.

        Derived, because the hash of symbols is no cryptographic one: what it may leak of its key is no part of this.
        """
        if not self:
            return 0x9E3779B97F4A7C15, 0
        first, second = struct.unpack("<2Q", blake2b(key=self, digest_size=16, person=b"symbols").digest())
        return first, second

    def __repr__(self) -> str:
        return "Secret()"

    __str__ = __repr__


NO_SECRET = Secret()
"""Of what is compared between indexes, or within one process."""


def digest_of(data: bytes, secret: Secret = NO_SECRET) -> bytes:
    """`DIGEST_BYTES` bytes."""
    return blake2b(data, digest_size=DIGEST_BYTES, key=secret).digest()
