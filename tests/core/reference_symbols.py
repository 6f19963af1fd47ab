"""`core.symbols` and `core.signatures`, by regular expressions and Python's integers."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

import mmh3

from dedupcrawl.core.digests import Secret
from tests.content.definitions import SYMBOL

PRIME = (1 << 61) - 1
MASK = (1 << 64) - 1
BREAK, MASKED, INSTEAD_OF_BREAK = range(3)
FACTOR = 0xD1342543DE82EF95
_LEAST_POINT = 1 << 32
_DATES = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
am pm today yesterday ago second seconds minute minutes hour hours day days week weeks month months year years
"""
_URL = re.compile(r"(?:https?://|www\.)[!-~]+")


def fmix64(value: int) -> int:
    """The finalizer of MurmurHash3."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value ^= value >> 33
        value = value * factor & MASK
    return value ^ value >> 33


def symbol_hash(symbol: str, secret: Secret) -> int:
    """The polynomial of its characters, mixed; bit 0 for a digit."""
    first, mask = secret.symbol_key
    point = _LEAST_POINT + first % (PRIME - _LEAST_POINT)
    total = 0
    for character in symbol:
        total = (total * point + ord(character) + 1) % PRIME
    return fmix64(total ^ mask) & ~1 | any(character.isdecimal() for character in symbol)


def value_of(hashed: int) -> int:
    """What an outline holds of a symbol."""
    return (hashed >> 48 & 0xFFFE | hashed & 1) or INSTEAD_OF_BREAK


@cache
def _dates(secret: Secret) -> set[int]:
    return {value_of(symbol_hash(word, secret)) for word in _DATES.split()}


def skeleton_hash(values: list[int], secret: Secret) -> int:
    """Of a block of these values."""
    skeleton = [MASKED if value & 1 or value in _dates(secret) else value for value in values]
    return mmh3.hash(struct.pack(f"<{len(skeleton)}H", *skeleton), signed=False)


@dataclass(frozen=True)
class SymbolText:
    """Of a folded text."""

    text: str
    secret: Secret

    @property
    def found(self) -> list[re.Match[str]]:
        """Its symbols."""
        return [match for line in self.lines_of_text for match in line]

    @property
    def lines_of_text(self) -> list[list[re.Match[str]]]:
        """Those of each line."""
        ends = list(accumulate((len(line) + 1 for line in self.text.split("\n")), initial=0))
        return [list(SYMBOL.finditer(self.text, begin, end - 1)) for begin, end in pairwise(ends)]

    @property
    def blocks(self) -> list[list[int]]:
        """The values of each line that has any."""
        lines = ([value_of(symbol_hash(match[0], self.secret)) for match in line] for line in self.lines_of_text)
        return [values for values in lines if values]

    @property
    def values(self) -> list[int]:
        """All, with breaks between blocks."""
        return [value for block in self.blocks for value in (BREAK, *block)][1:]

    def without(self, left_out: list[bool]) -> SymbolText:
        """Without some of its blocks; those without a flag stay."""
        flagged = iter(left_out)
        stays = [not (bool(symbols) and next(flagged, False)) for symbols in self.lines_of_text]
        lines = zip(self.text.split("\n"), stays, strict=True)
        return SymbolText("\n".join(line for line, flag in lines if flag), self.secret)

    def without_urls(self) -> SymbolText:
        """With blanks in their place."""
        return SymbolText(_URL.sub(lambda match: " " * len(match[0]), self.text), self.secret)


def simhash(hashes: list[int], lengths: list[int], pairs: bool) -> tuple[int, int]:
    """`signatures.simhash` of a text with these symbols."""
    words = [fmix64(value) for value, length in zip(hashes, lengths, strict=True) if length >= 4]
    found = Counter(words)
    if pairs:
        found += Counter(fmix64((3 * one + other) & MASK) for one, other in pairwise(hashes))
        found = Counter({feature: min(count, 8) for feature, count in found.items()})
    bits = (sum(count for feature, count in found.items() if feature >> bit & 1) for bit in range(64))
    return sum(1 << bit for bit, ones in enumerate(bits) if 2 * ones > found.total()), found.total()


def shingles(hashes: list[int]) -> list[int]:
    """The lower 32 bits of the hash of each four neighbouring symbols."""
    runs = zip(*(hashes[first:] for first in range(4)), strict=False)
    return [fmix64(sum(one * FACTOR ** (3 - at) for at, one in enumerate(run)) & MASK) & 0xFFFFFFFF for run in runs]


def sampled(hashes: list[int], levels: int, fewest: int) -> tuple[int, list[int]]:
    """`signatures.sampled_shingles` of symbols with these hashes."""
    values = sorted(set(shingles(hashes)))
    samples = ([value for value in values if value % (1 << level) == 0] for level in range(levels, -1, -1))
    return next((levels - at, sample) for at, sample in enumerate(samples) if len(sample) >= fewest or at == levels)
