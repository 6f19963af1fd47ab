"""Length-variable feature codes: which symbols of a page stand for it (Guo, Chen, Xin, Wang; spec 1).

The long paragraphs of a page, its Independent Extraction Units, are reduced to the symbols beside anchors; what is
short (advertisements, links, captions) is left out. All lengths are counted in symbols: what the paper calls a
character carries as much as a whole word of an alphabetic script does, so that an English page is cut after 1,000
words as a Chinese one after 1,000 characters.

Repeatability is how much of one code lies, in one piece, inside another (Definition 2). Codes are strings there, one
character a symbol, so that Python's own substring search does the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.characters import MARK
from dedupcrawl.content.symbols import SymbolText

END_PARAGRAPHS = 5
"""The paper's N: from a page of short paragraphs, the first N and the last N of them are used."""
MIN_CODE = 4 * END_PARAGRAPHS
"""A code of fewer symbols says too little and is replaced by the text's first 4N (Algorithm 2, step 4)."""

ANCHOR_SETS: Mapping[str, str] = {"punctuation": "", "words": "的 the of and to in a is"}
"""Name → words that are anchors besides punctuation (the paper's illustration uses the first, Table I the second)."""

Positions = NDArray[np.intp]

_OUTER = np.r_[0:END_PARAGRAPHS, -END_PARAGRAPHS:0]  # the first N paragraphs and the last N


class CodeRules(NamedTuple):
    """How codes are extracted."""

    anchors: str  # name of one of `ANCHOR_SETS`
    unit_length: int  # L_pth: a paragraph of so many symbols is an Independent Extraction Unit
    unit_share: float  # δ_p: so is one that makes up this share of the text
    symbols: int  # only so many symbols of the text are looked at; 0 for all


@cache
def _anchor_words(anchors: str) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Hashes of the set's words, and which upper 16 bits of a hash any of them has."""
    hashes = SymbolText.of((ANCHOR_SETS[anchors],)).hashes
    upper = np.zeros(1 << 16, dtype=np.bool_)
    upper[hashes >> np.uint64(48)] = True
    return hashes, upper


def _positions_of_words(hashes: NDArray[np.uint64], anchors: str) -> Positions:
    words, upper = _anchor_words(anchors)
    if not len(words):
        return np.zeros(0, dtype=np.intp)
    maybe = np.flatnonzero(upper[hashes >> np.uint64(48)])
    return maybe[np.isin(hashes[maybe], words)]


def feature_code(text: SymbolText, rules: CodeRules) -> Positions:
    """Algorithm 2: which symbols of `text` make its code, in text order.

    At least `MIN_CODE` of them, or all when the text has no more. In a page of short paragraphs a paragraph of one
    symbol gives it twice, as its first and as its last.
    """
    starts = text.starts[: rules.symbols or None]
    count = len(starts)
    if not count:
        return np.zeros(0, dtype=np.intp)
    end = int(text.starts[count]) if count < len(text.starts) else len(text.text)
    breaks = np.flatnonzero(text.code_points[:end] == ord("\n"))
    paragraph = np.searchsorted(breaks, starts)
    bounds = np.zeros(int(np.count_nonzero(paragraph[1:] != paragraph[:-1])) + 2, dtype=np.intp)
    bounds[1:-1] = (paragraph[1:] != paragraph[:-1]).nonzero()[0] + 1
    bounds[-1] = count
    firsts, lengths = bounds[:-1], bounds[1:] - bounds[:-1]
    units = (lengths >= rules.unit_length) | (lengths >= rules.unit_share * count)
    if not units.any() and len(firsts) >= 2 * END_PARAGRAPHS:  # case 3b
        ends = np.empty(MIN_CODE, dtype=np.intp)
        ends[0::2] = firsts[_OUTER]
        ends[1::2] = bounds[1:][_OUTER] - 1
        return ends

    if not units.any():  # case 3c: all paragraphs as one
        firsts, lengths, units = np.zeros(1, dtype=np.intp), np.array([count]), np.ones(1, dtype=np.bool_)
        breaks = breaks[:0]
        paragraph = np.zeros(count, dtype=np.intp)
    marks = np.flatnonzero(text.kinds[:end] & MARK)
    words = _positions_of_words(text.hashes[:count], rules.anchors)
    # What stands to the left and to the right of an anchor, where that is in the anchor's own paragraph.
    left = np.concatenate((np.searchsorted(starts, marks) - 1, words - 1))
    right = np.concatenate((left[: len(marks)] + 1, words + 1))
    home = np.concatenate((np.searchsorted(breaks, marks), paragraph[words]))
    beside = np.zeros(count, dtype=np.bool_)
    for neighbours in (left, right):
        inside = (neighbours >= 0) & (neighbours < count)
        there = neighbours[inside]
        beside[there[paragraph[there] == home[inside]]] = True
    beside[firsts[units]] = True
    beside[words] = False
    beside &= np.repeat(units, lengths)
    positions = np.flatnonzero(beside)
    return positions if len(positions) >= MIN_CODE else np.arange(min(MIN_CODE, count), dtype=np.intp)


@lru_cache(maxsize=4096)
def shortest_run(length: int, repeatability: float) -> int:
    """The paper's threshold as a length, ⌈δL⌉: how long a common substring makes a code of `length` a duplicate."""
    run = max(1, int(repeatability * length) - 1)
    while run / length < repeatability:
        run += 1
    return run


def _common_prefix(a: str, b: str) -> int:
    """Length of the longest common prefix, by bisection: comparing slices is quicker than comparing characters."""
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
    """Length of the longest common substring if that is `at_least`, which is more than half of `new`; else 0.

    Every window of `at_least` symbols of `new` covers its core, the middle ``2 · at_least − len(new)`` symbols. So it
    is enough to extend each occurrence of the core in `kept` both ways.
    """
    begin, end = len(new) - at_least, at_least
    core, head, tail = new[begin:end], new[:begin][::-1], new[end:]
    best = 0
    found = kept.find(core)
    while found >= 0 and best < len(new):
        before = kept[max(0, found - begin) : found][::-1]
        after = kept[found + len(core) : found + len(core) + len(tail)]
        best = max(best, _common_prefix(head, before) + len(core) + _common_prefix(tail, after))
        found = kept.find(core, found + 1)
    return best if best >= at_least else 0


def longest_common_substring(a: str, b: str) -> int:
    """Its length, by bisection: a common substring of some length has common substrings of all shorter ones."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        pieces = {a[start : start + middle] for start in range(len(a) - middle + 1)}
        if any(b[start : start + middle] in pieces for start in range(len(b) - middle + 1)):
            low = middle
        else:
            high = middle - 1
    return low


def repeatability(code_i: str, code_j: str) -> float:
    """S_ij = len(longest common substring of C_i and C_j) / len(C_j): how much of page j is inside page i (eq. 1).

    0 for an empty C_j.
    """
    return longest_common_substring(code_i, code_j) / len(code_j) if code_j else 0.0
