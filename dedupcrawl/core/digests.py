"""Digests of texts and bodies: nobody can make another text or body with a given digest.

With the secret of an index they are values of polynomials at secret points (`core.hashing.keyed_digest`), which take a
fraction of the time of BLAKE2b; nobody who does not know the secret can make two texts with one digest. Without one, as
in crawl logs, they are BLAKE2b, and the same everywhere.
"""

from __future__ import annotations

import os
import struct
from functools import lru_cache
from hashlib import blake2b

from dedupcrawl.core.hashing import keyed_digest

DIGEST_BYTES = 16
"""Among 2**64 texts, two share a digest with a probability of about one half."""
SECRET_BYTES = 32
"""BLAKE2b takes keys of up to 64 bytes."""


class Secret(bytes):
    """The key of one index's digests and hashes: `SECRET_BYTES` random bytes, or none.

    Whoever knows it can make texts that collide, so its repr does not show it.
    """

    __slots__ = ()

    @classmethod
    def random(cls) -> Secret:
        """A new secret from the operating system's random source."""
        return cls(os.urandom(SECRET_BYTES))

    @classmethod
    def of(cls, data: bytes) -> Secret:
        """The secret derived from `data`; whoever knows the data knows it too."""
        return cls(blake2b(data, digest_size=SECRET_BYTES, person=b"secret").digest())

    @property
    def symbol_key(self) -> tuple[int, int]:
        """The key of symbol hashes, two 64-bit numbers; a constant if there is no secret.

        The symbol hash is not cryptographic and may leak its key. The key is derived, so a leak does not reveal the
        secret itself.
        """
        if not self:
            return 0x9E3779B97F4A7C15, 0
        first, second = struct.unpack("<2Q", blake2b(key=self, digest_size=16, person=b"symbols").digest())
        return first, second

    def __repr__(self) -> str:
        return "Secret()"

    __str__ = __repr__


NO_SECRET = Secret()
"""For digests that are compared between indexes, or only within one process."""


@lru_cache(maxsize=16)
def points_of(secret: Secret) -> tuple[int, int]:
    """The points at which keyed digests are computed, derived from the secret."""
    one, other = struct.unpack("<2Q", blake2b(key=secret, digest_size=16, person=b"digests").digest())
    return one >> 4, other >> 4


def digest_of(data: bytes, secret: Secret = NO_SECRET) -> bytes:
    """The digest of `data`, `DIGEST_BYTES` long."""
    if secret:
        return keyed_digest(data, *points_of(secret))
    return blake2b(data, digest_size=DIGEST_BYTES).digest()
