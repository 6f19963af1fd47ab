"""Feature codes: pages whose code lies largely, in one piece, inside a kept page's code (Guo, Chen, Xin, Wang; spec 1).

**Code.** The long paragraphs of a page, its Independent Extraction Units, are reduced to the symbols beside anchors;
short ones (advertisements, links, captions) are left out. All lengths are counted in symbols: what the paper calls a
character carries as much as a whole word of an alphabetic script, so an English page is cut after 1,000 words and a
Chinese one after 1,000 characters.

**Repeatability** says how much of one code lies, in one piece, inside another (Definition 2). Codes are strings there,
one character for each symbol, so that Python's own substring search does the work.

**Search is exact.** Of each kept code every s-th gram of q symbols is posted (`SAMPLING`, `GRAM`). Let a new code have
L symbols and t = ⌈δL⌉ >= q + s − 1. A common substring of t symbols covers a window [a, a + t) of the new code.

1. The windows of any group a₁ <= a <= a₂ share [a₂, a₁ + t). While a₂ − a₁ <= t − (q + s − 1), this contains s
   consecutive starts of grams.
2. These s grams also stand one after the other in the kept code, and of any s consecutive places there one is sampled.
3. So one look-up of any run of s grams for each group finds every keeper. For δ near 1 there is one group, and the run
   can be chosen: the rarest of a few.

The guarantee needs t >= q + s − 1 = 11. Codes have at least 4N = 20 symbols, because a page with fewer symbols
abstains, and δ > 1/2; so t >= 11 for every code and every setting.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.core.digests import Secret
from dedupcrawl.core.feature_code import (
    END_PARAGRAPHS,
    GRAM,
    GRAM_PAYLOAD,
    MANY_GRAMS,
    SAMPLING,
    code_of,
    code_positions,
    different_grams,
    grams,
    keys_of_code,
    pages_inside,
    with_grams,
)
from dedupcrawl.core.postings import Postings
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import one_of, parameter, share, whole

MIN_CODE = 4 * END_PARAGRAPHS
"""A code of fewer symbols says too little and is replaced by the text's first 4N symbols (Algorithm 2, step 4)."""

ANCHOR_SETS: Mapping[str, str] = {"punctuation": "", "words": "的 the of and to in a is"}
"""Name → words that are anchors besides punctuation (the paper's illustration uses the first, Table I the second)."""


class CodeRules(NamedTuple):
    """How codes are extracted."""

    anchors: str  # name of one of `ANCHOR_SETS`
    unit_length: int  # L_pth: a paragraph of at least this many symbols is an Independent Extraction Unit
    unit_share: float  # δ_p: so is a paragraph with at least this share of the text
    symbols: int  # only this many symbols of the text are read, its first ones; 0 for all


@lru_cache(maxsize=16)
def _anchor_words(anchors: str, secret: Secret) -> array[int]:
    """The hashes of the set's words in the texts of the index with this secret."""
    return SymbolText.of((ANCHOR_SETS[anchors],), secret).hashes


def feature_code(text: SymbolText, rules: CodeRules) -> array[int]:
    """Algorithm 2: the positions of the symbols of `text` that make its code, in text order.

    There are at least `MIN_CODE` of them, or all if the text has no more. In a page of short paragraphs, a paragraph of
    one symbol contributes it twice, as its first and as its last.
    """
    anchors = _anchor_words(rules.anchors, text.secret)
    return code_positions(text, anchors, rules.unit_length, rules.unit_share, rules.symbols, MIN_CODE)


@lru_cache(maxsize=4096)
def shortest_run(length: int, repeatability: float) -> int:
    """The paper's threshold as a length, ⌈δL⌉: the shortest common substring that makes a code a duplicate."""
    run = max(1, int(repeatability * length) - 1)
    while run / length < repeatability:
        run += 1
    return run


def _common_prefix(a: str, b: str) -> int:
    """The length of the longest common prefix, by bisection: comparing slices is quicker than comparing characters."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_run(new: str, kept: str, at_least: int) -> int:
    """The length of the longest common substring if it is at least `at_least`, more than half of `new`; else 0.

    Every window of `at_least` symbols of `new` covers its core, the middle ``2 · at_least − len(new)`` symbols. So it
    is enough to extend each occurrence of the core in `kept` both ways.
    """
    begin, end = len(new) - at_least, at_least
    core, head, tail = new[begin:end], new[:begin][::-1], new[end:]
    best = 0
    start = kept.find(core)
    while start >= 0 and best < len(new):
        before = kept[max(0, start - begin) : start][::-1]
        after = kept[start + len(core) : start + len(core) + len(tail)]
        best = max(best, _common_prefix(head, before) + len(core) + _common_prefix(tail, after))
        start = kept.find(core, start + 1)
    return best if best >= at_least else 0


MAX_CODE = 2048
"""The most symbols of a code that are kept, so that an endless page stays cheap."""

_RUN = GRAM + SAMPLING - 1
_FEW = 8  # postings; with no more, no rarer run is searched for


@dataclass(frozen=True, slots=True)
class FeatureCodeCheck(Check):
    """One-way: a kept page's code must contain the share `repeatability` of the new page's code, in one piece.

    A signature is the code, two bytes a symbol, little-endian: the upper 15 bits of each symbol's hash.
    """

    repeatability: float = parameter(  # δ; above .5 every candidate can be verified from the middle of its code
        "REPEATABILITY",
        0.75,
        share(above=0.5),
        "How much of a page's feature code a kept page's code must contain, in one piece.",
        loosest=min,
    )
    ieu_length: int = parameter(  # L_pth
        "IEU_LENGTH", 300, whole(1, 1_000_000), "A paragraph with at least this many symbols is a unit of extraction."
    )
    ieu_share: float = parameter(  # δ_p
        "IEU_SHARE", 0.75, share(), "A paragraph that makes up at least this share of the text is one, too."
    )
    characters: int = parameter(
        "CODE_CHARACTERS",
        1000,
        whole(MIN_CODE, 1_000_000, or_zero=True),
        "Feature codes are made of this many symbols of the main text; 0 for the whole text.",
    )
    anchors: str = parameter(
        "CODE_ANCHORS",
        "punctuation",
        one_of(*ANCHOR_SETS),
        "The anchors beside which feature codes take their symbols.",
    )

    name: ClassVar[str] = "feature_code"
    payload_bits: ClassVar[int] = GRAM_PAYLOAD

    def header(self) -> Mapping[str, str | int | float]:
        """What signatures and keys depend on; this does not include the threshold."""
        return {
            "symbols": SYMBOLS_VERSION,
            "anchors": self.anchors,
            "ieu_length": self.ieu_length,
            "ieu_share": self.ieu_share,
            "characters": self.characters,
            "gram": GRAM,
            "sampling": SAMPLING,
            "hash": "murmur3_fmix64",
        }

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """The code; None for a page with fewer than `MIN_CODE` symbols."""
        if len(text) < MIN_CODE:
            return None
        rules = CodeRules(self.anchors, self.ieu_length, self.ieu_share, self.characters)
        return code_of(text, feature_code(text, rules)[:MAX_CODE])

    def keys(self, signature: bytes) -> Keys:
        """The different grams at every `SAMPLING`-th symbol; the payload is the number of grams sampled."""
        return keys_of_code(signature)

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        """Pages that share a gram which every keeper must have."""
        places, least = grams(signature), shortest_run(len(signature) // 2, self.repeatability)
        groups = _groups(len(signature) // 2, least)
        wanted = array("Q")
        for first, last in groups:
            middle = (first + last) // 2
            wanted += places[middle : middle + SAMPLING]
        counts = postings.count(wanted)
        if not any(counts):
            return []
        for run, starts in enumerate(groups):
            begin, end = run * SAMPLING, (run + 1) * SAMPLING
            fewest = sum(counts[begin:end])
            for start in starts:
                if fewest <= _FEW:
                    break
                other = places[start : start + SAMPLING]
                postings_of_other = sum(postings.count(other))
                if postings_of_other < fewest:
                    fewest = postings_of_other
                    wanted[begin:end] = other
        keys, pages = postings.find(wanted)
        return with_grams(keys, pages, min(MANY_GRAMS, math.ceil((least - GRAM + 1) / SAMPLING)))

    def contained(self, signature: bytes, postings: Postings) -> list[int]:
        """Kept pages that share enough grams with this page for it to contain their codes."""
        keys, pages = postings.find(different_grams(signature))
        return pages_inside(keys, pages, self.repeatability)

    def compare(self, new: bytes, kept: bytes) -> float | None:
        """S of `new` over `kept`, if it reaches `repeatability`."""
        length = len(new) // 2
        least = shortest_run(length, self.repeatability)
        if new[2 * (length - least) : 2 * least] not in kept:  # the core, which every common substring covers
            return None
        run = common_run(new.decode("utf-16-le"), kept.decode("utf-16-le"), least)
        return run / length if run else None


@lru_cache(maxsize=256)
def _groups(length: int, least: int) -> list[tuple[int, int]]:
    """For each of as few groups of windows as possible, the first and the last run that all its windows cover.

    A run is given by the position where it begins. `length` is that of a code, `least` that of a window.
    """
    slack = least - _RUN
    return [(min(first + slack, length - least), first + slack) for first in range(0, length - least + 1, slack + 1)]
