"""What kind of words differ: whether a page was edited, or its slots hold something else.

Typos, corrections and rewording change function words, add words and leave some out, besides exchanging one word for
another. Two pages of one form (vacancies, shops, reports) differ where a name, a thing or an amount stands in place of
another, and nowhere else; and a single "not" turns a sentence around. All that is left of a kept page is hashes, so
function words and negations are known by theirs: with 15 bits, one other word in 200 is taken for one of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.alignment import BLOCK, Places, Symbols
from dedupcrawl.content.stop_words import STOP_WORDS
from dedupcrawl.content.symbols import SymbolText

_NEGATIONS = """
no not nor never none nobody nothing nowhere neither without cannot aren couldn didn doesn don hadn hasn haven isn
mightn mustn shan shouldn wasn weren won wouldn 不 没 无 未 非 否 勿 莫 禁
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Folded. Contractions by their first part: an apostrophe ends a symbol."""

Pair = tuple[bytes, bytes]
"""What the kept page says and what the new one says instead."""

_CONTENT, _FUNCTION, _NEGATION = 1, 2, 4
_MOST_EXCHANGED = 64  # pieces that are looked for in the other page; a page with more was edited all over


@dataclass(frozen=True, slots=True)
class Wording:
    """The pieces that differ, by what differs in them.

    Attributes:
        exchanged: Pieces with content words on both sides that neither page has on the other's side: things of which
            the new page speaks instead.
        edits: The other pieces, but for those where only numbers differ.
        unexpected: Exchanged pieces, less those that edits at random would look like. That is all of them where every
            word stands in the page once, and hardly any in prose.
        negated: Pieces where one side has more negations than the other.
        renamed: How often the same piece was replaced by the same other piece and hardly ever left as it was.
    """

    exchanged: int = 0
    edits: int = 0
    unexpected: float = 0.0
    negated: int = 0
    renamed: int = 0


@cache
def _kinds() -> NDArray[np.uint8]:
    """Shape (65536,): the kind of each value that a symbol of an outline may have."""
    kinds = np.full(1 << 16, _CONTENT, dtype=np.uint8)
    kinds[1::2] = 0  # numbers are compared by themselves
    for words, kind in ((STOP_WORDS, _FUNCTION), (NEGATIONS, _NEGATION)):
        text = SymbolText.of((" ".join(sorted(word for word in words if word.isascii() or len(word) == 1)),))
        kinds[symbols_of(text)] = kind
    return kinds


def symbols_of(text: SymbolText) -> Symbols:
    """Shape (n,) uint16: the upper 15 bits of each symbol's hash and, as bit 0, whether it holds a digit."""
    symbols: Symbols = (text.hashes >> np.uint64(48)).astype("<u2")
    symbols &= np.uint16(0xFFFE)
    symbols |= (text.hashes & np.uint64(1)).astype("<u2")
    return symbols


def wording(new: Symbols, kept: Symbols, pieces: Places) -> Wording:
    """Sort the pieces in which two sequences differ; `pieces` as in `Differences`."""
    if not len(pieces):
        return Wording()
    begin, end, kept_begin, kept_end = pieces.T
    here, there = _of_each(new, begin, end), _of_each(kept, kept_begin, kept_end)
    swaps = (here[_CONTENT] > 0) & (there[_CONTENT] > 0)
    words = end - begin + kept_end - kept_begin
    numbers = words - sum(here.values()) - sum(there.values())
    pairs = _exchanged(new, kept, pieces[swaps].tolist())
    exchanged = len(pairs)
    return Wording(
        exchanged=exchanged,
        edits=int(np.count_nonzero(numbers < words)) - exchanged,
        unexpected=_unexpected(pairs, _rare(new)) if exchanged else 0.0,
        negated=int(np.count_nonzero(here[_NEGATION] != there[_NEGATION])),
        renamed=_most_renamed(new, kept, pieces[(end > begin) & (kept_end > kept_begin)]),
    )


def _rare(symbols: Symbols) -> float:
    """Share of the symbols that are content words and stand there once: where an edit looks like an exchange."""
    content = np.sort(symbols[_kinds()[symbols] == _CONTENT])
    first = np.ones(len(content) + 1, dtype=np.bool_)
    np.not_equal(content[1:], content[:-1], out=first[1:-1])
    return int(np.count_nonzero(first[1:] & first[:-1])) / max(1, len(symbols))


def _of_each(symbols: Symbols, begin: Places, end: Places) -> dict[int, Places]:
    """Kind → how many symbols of that kind each piece has."""
    kinds = _kinds()[symbols]
    counts = {}
    for kind in (_CONTENT, _FUNCTION, _NEGATION):
        before = np.zeros(len(symbols) + 1, dtype=np.intp)
        np.equal(kinds, kind).cumsum(out=before[1:])
        counts[kind] = before[end] - before[begin]
    return counts


def _exchanged(new: Symbols, kept: Symbols, pieces: list[list[int]]) -> list[Pair]:
    """The pieces whose words are gone from the new page, and whose new ones are nowhere in the kept one, packed."""
    mine, its = new.tobytes(), kept.tobytes()
    pairs = (
        (its[2 * kept_begin : 2 * kept_end], mine[2 * begin : 2 * end])
        for begin, end, kept_begin, kept_end in pieces[:_MOST_EXCHANGED]
    )
    return [(old, instead) for old, instead in pairs if not _occurs(old, mine) and not _occurs(instead, its)]


def _unexpected(exchanged: list[Pair], rare: float) -> float:
    """How many pieces are none that edits at random would make: long or recurring ones, and those of common words."""
    expected = (
        rare ** (len(pair[1]) // 2)
        for pair, count in Counter(exchanged).items()
        if count == 1 and len(pair[1]) < 2 * BLOCK
    )
    return len(exchanged) - sum(expected)


def _occurs(piece: bytes, text: bytes) -> bool:
    """Whether symbols stand in a text, both packed."""
    place = text.find(piece)
    while place & 1 and place >= 0:
        place = text.find(piece, place + 1)
    return place >= 0


def _most_renamed(new: Symbols, kept: Symbols, pieces: Places) -> int:
    """How often the same piece was replaced by the same other one, where it was replaced more often than not."""
    if len(pieces) < 2:
        return 0
    mine, its = new.tobytes(), kept.tobytes()
    pairs = Counter(
        (its[2 * kept_begin : 2 * kept_end], mine[2 * begin : 2 * end])
        for begin, end, kept_begin, kept_end in pieces.tolist()
    )
    most = 0
    for (old, _), count in pairs.items():
        if count > max(1, most):
            first = np.frombuffer(old[:2], dtype=kept.dtype)[0]
            if 2 * count > int(np.count_nonzero(kept == first)):
                most = count
    return most
