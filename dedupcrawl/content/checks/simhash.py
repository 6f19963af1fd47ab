"""SimHash: near-duplicates by the Hamming distance of 64-bit fingerprints (Charikar 2002; Manku, Jain, Das Sarma 2007).

**Features** have names, which are part of the stored format:

- "pairs": every pair of neighbouring symbols, which is about a word of Chinese, and also every word of more than three
  letters. Each counts as often as it occurs, at most eight times, so that one word that a page repeats does not decide
  its fingerprint.
- "words": words of more than three letters, as often as they occur, as in the experiment of Khan and Ali.

URLs in the text are no features (Khan and Ali, Sect. III-F).

A pair is hashed to fmix64(3·hash(a) + hash(b) mod 2^64), a word to fmix64(hash(a)); hash(a) is the symbol's own hash
and fmix64 the finalizer of MurmurHash3.

**Search** is exact for every distance k up to 7 with four postings per page. A fingerprint has four blocks of 16 bits.
If d <= k = 4r + a, r in {0, 1}, then one of the first a + 1 blocks differs in at most r bits or one of the others in at
most r − 1: otherwise d >= (a + 1)(r + 1) + (3 − a) r = 4r + a + 1 (Norouzi, Punjani, Fleet 2012, multi-index hashing).
So k <= 3 takes 4 look-ups and k = 7 takes 4 · 17. A key is the block's number (2 bits), the block (16) and 46 of the
other 48 bits, so a posting alone gives the distance up to two bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dedupcrawl.content.checks.base import Check, Keys, Probe
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.signatures import (
    FINGERPRINT_PAYLOAD,
    TERM_FREQUENCY_CAP,
    near,
    simhash,
    simhash_keys,
    simhash_prefixes,
)
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import one_of, parameter, whole

BITS = 64  # of a fingerprint (Manku, Jain, Das Sarma 2007)
MAX_DISTANCE = 7  # four postings a page are enough for this, see above
FEATURES = ("pairs", "words")


def similarity_at(distance: int) -> float:
    """The cosine of the feature vectors' angle as estimated by a Hamming distance: cos(π·d/64), at least 0."""
    return max(0.0, math.cos(math.pi * distance / BITS))


@dataclass(frozen=True, slots=True)
class SimHashCheck(Check):
    """Pages whose fingerprints differ in at most `distance` bits."""

    distance: int = parameter(
        "SIMHASH_DISTANCE",
        3,
        whole(0, MAX_DISTANCE),
        "The fingerprints of duplicates differ in at most this many bits.",
        loosest=max,
    )
    min_features: int = parameter(  # fingerprints of nearly empty pages would collide
        "SIMHASH_MIN_FEATURES", 20, whole(1, 10_000), "A page with fewer features has no fingerprint."
    )
    features: str = parameter("SIMHASH_FEATURES", "pairs", one_of(*FEATURES), "What fingerprints are made of.")

    name: ClassVar[str] = "simhash"
    payload_bits: ClassVar[int] = FINGERPRINT_PAYLOAD

    def header(self) -> Mapping[str, str | int | float]:
        return {
            "symbols": SYMBOLS_VERSION,
            "features": self.features,
            "cap": TERM_FREQUENCY_CAP,
            "hash": "murmur3_fmix64",
            "min_features": self.min_features,
        }

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """8 bytes, little-endian."""
        fingerprint, count = simhash(text.without_urls(), self.features == "pairs")
        return fingerprint.to_bytes(8, "little") if count >= self.min_features else None

    def keys(self, signature: bytes) -> Keys:
        """Four keys, one for each block."""
        return simhash_keys(signature)

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages within `distance`, not counting the two bits that a posting lacks."""
        return near(postings, signature, self.distance)

    def probe(self, signature: bytes) -> Probe:
        """The blocks themselves and, for some blocks, those that differ in one bit."""
        return Probe(simhash_prefixes(signature, self.distance))

    def dissimilarity(self, new: bytes, kept: bytes) -> float:
        """The Hamming distance as a share of the bits."""
        return (int.from_bytes(new, "little") ^ int.from_bytes(kept, "little")).bit_count() / BITS

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """cos(π·d/64), if d <= `distance`."""
        distance = (int.from_bytes(new, "little") ^ int.from_bytes(kept, "little")).bit_count()
        return similarity_at(distance) if distance <= self.distance else None
