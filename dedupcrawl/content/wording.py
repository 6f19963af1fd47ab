"""What kind of words differ: whether a page was edited, or its slots hold something else.

Typos, corrections and rewording change function words, add words and leave some out, besides exchanging one word for
another. Two pages of one form (vacancies, shops, reports) differ where a name, a thing or an amount stands in place of
another, and nowhere else; and a single "not" turns a sentence around. All that is left of a kept page is hashes, so
function words and negations are known by theirs: with 15 bits, one other word in 200 is taken for one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import BLOCK, Piece
from dedupcrawl.content.characters import TOUCHING, VALUES
from dedupcrawl.content.numerals import NUMERALS
from dedupcrawl.content.stop_words import STOP_WORDS
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tiles import Symbols, place_of

_NEGATIONS = """
no not nor never none nobody nothing nowhere neither without cannot t hardly barely scarcely seldom rarely
不 没 无 未 非 否 勿 莫 禁
nicht kein keine keinen keinem keiner keines nie niemals niet geen nooit inte ingen aldrig ikke aldri
pas jamais aucun aucune ni nunca ningún ninguna não nem non mai nessun nessuna
не нет ни никогда нельзя нет nie nigdy لا لم لن ليس
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Folded. Contractions ("can't") by their last part: an apostrophe ends a symbol."""

_TELLING = """
d m s may us it will can must he she him her his hers we they our their on off up down in out before after above below
over under more less most few and or if unless to from all any some every here there this that same again
"""
TELLING = frozenset(_TELLING.split())
"""Stop words that are not filler where they differ: letters that stand alone, names and months, opposites."""

Pair = tuple[bytes, bytes]
"""What the kept page says and what the new one says instead."""

NUMBER, CONTENT, FUNCTION, NEGATION, CONTENT_NUMERAL, FUNCTION_NUMERAL = range(6)
_NUMBERS = bytes((NUMBER, CONTENT_NUMERAL, FUNCTION_NUMERAL))
_SELDOM = 2  # times; edits at random do not replace a piece by the same other more often
_MOST_EXCHANGED = 64  # pieces that are looked for in the other page; a page with more was edited all over


class Wording(msgspec.Struct, frozen=True, gc=False):
    """The pieces that differ, by what differs in them.

    Attributes:
        exchanged: Pieces with content words on both sides that neither page has on the other's side: things of which
            the new page speaks instead.
        edits: The other different pieces, but for those where only numbers differ: a word that was replaced by the same
            other one throughout was edited once.
        unexpected: Exchanged pieces, less those that edits at random would look like: nearly all of them where every
            word stands in the page only once, few of them in prose.
        negated: Pieces where one side has more negations than the other.
        renamed: How often the same piece was replaced by the same other piece, and hardly ever left as it was or little
            else replaced.
        numerals_changed: Places in the new page of numerals (`dedupcrawl.content.numerals`) where the kept one has
            another number. What differs in nothing else is no edit.
        numerals_same: Other numerals of the new page, where any was changed.
    """

    exchanged: int = 0
    edits: int = 0
    unexpected: float = 0.0
    negated: int = 0
    renamed: int = 0
    numerals_changed: list[int] = msgspec.field(default_factory=list)
    numerals_same: int = 0


@cache
def symbol_kinds() -> NDArray[np.uint8]:
    """Shape (65536,): the kind of each value that a symbol of an outline may have."""
    kinds = np.full(1 << 16, CONTENT, dtype=np.uint8)
    kinds[1::2] = NUMBER  # numbers are compared by themselves
    # Filler last: it is commoner than a negation that has the same 15 bits, as "cannot" has those of "a".
    for words, kind in ((NEGATIONS, NEGATION), (STOP_WORDS - TELLING - NEGATIONS, FUNCTION)):
        kinds[_values(words)] = kind
    kinds[symbols_of(SymbolText.of((VALUES,)))] = FUNCTION_NUMERAL
    kinds[symbols_of(SymbolText.of(tuple(f"a{sign}" for sign in TOUCHING)))[1::2]] = FUNCTION_NUMERAL
    numerals = _values(NUMERALS)
    kinds[numerals] = np.where(kinds[numerals] == FUNCTION, FUNCTION_NUMERAL, CONTENT_NUMERAL)
    return kinds


def _values(words: Iterable[str]) -> Symbols:
    """The values of those words that are one symbol."""
    texts = (SymbolText.of((word,)) for word in sorted(words))
    return np.concatenate([symbols_of(text) for text in texts if len(text.hashes) == 1])


def symbols_of(text: SymbolText) -> Symbols:
    """Shape (n,) uint16: the upper 15 bits of each symbol's hash and, as bit 0, whether it holds a digit."""
    symbols: Symbols = (text.hashes >> np.uint64(48)).astype("<u2")
    symbols &= np.uint16(0xFFFE)
    symbols |= (text.hashes & np.uint64(1)).astype("<u2")
    return symbols


def telling(symbols: Symbols) -> Symbols:
    """Those symbols that are numbers or content words."""
    return symbols[np.isin(symbol_kinds()[symbols], (NUMBER, CONTENT, CONTENT_NUMERAL))]


def wording(new: Symbols, kept: Symbols, pieces: Sequence[Piece]) -> Wording:
    """Sort the pieces in which two sequences differ; `pieces` as in `Differences`."""
    if not pieces:
        return Wording()
    if kernels.compiled is not None:
        found = kernels.compiled.sort_pieces(new, kept, symbol_kinds(), list(pieces), _MOST_EXCHANGED)
    else:
        found = _sorted(new, kept, pieces)
    worded, negated, replaced, exchanged, rare, numerals = found
    repeats = len(set(replaced)) < len(replaced)
    return Wording(
        exchanged=len(exchanged),
        edits=worded - len(exchanged) - (_repeated(replaced, exchanged) if repeats else 0),
        unexpected=_unexpected(exchanged, rare / len(new)) if exchanged else 0.0,
        negated=negated,
        renamed=_most_renamed(kept, replaced, len(pieces)) if repeats else 0,
        numerals_changed=numerals,
        numerals_same=_unchanged(new, len(numerals)) if numerals else 0,
    )


def _sorted(
    new: Symbols, kept: Symbols, pieces: Sequence[Piece]
) -> tuple[int, int, list[Pair], list[Pair], int, list[int]]:
    """What differs in words, and in negations; what was replaced, and of that exchanged; rare words; changed numerals.

    Rare is a content word that the new page has once, counted where something was exchanged: an edit of it looks like
    an exchange.
    """
    mine, its = new.tobytes(), kept.tobytes()
    kinds, kept_kinds = symbol_kinds()[new].tobytes(), symbol_kinds()[kept].tobytes()
    worded = negated = 0
    replaced: list[Pair] = []
    swapped: list[Pair] = []
    numerals: list[int] = []
    for begin, end, kept_begin, kept_end in pieces:
        here, there = kinds[begin:end], kept_kinds[kept_begin:kept_end]
        only_numbers = not (here + there).strip(_NUMBERS)
        negated += here.count(NEGATION) != there.count(NEGATION)
        if here and there:
            worded += not only_numbers
            replaced.append((its[2 * kept_begin : 2 * kept_end], mine[2 * begin : 2 * end]))
            if not only_numbers and _has_content(here) and _has_content(there):
                swapped.append(replaced[-1])
            ours, others = _numerals(here), _numerals(there)
            if [new[begin + at] for at in ours] != [kept[kept_begin + at] for at in others]:
                numerals += [begin + at for at in ours[: len(others)]]
        elif only_numbers and (here or there).strip(bytes((NUMBER,))):
            beside = next((at for at in (begin - 1, end) if 0 <= at < len(kinds) and kinds[at] in _NUMBERS), None)
            worded += beside is None
            if beside is not None:
                numerals.append(begin if here else beside)
        else:
            worded += not only_numbers
    exchanged = [
        (old, instead)
        for old, instead in swapped[:_MOST_EXCHANGED]
        if place_of(old, mine) < 0 and place_of(instead, its) < 0
    ]
    if not exchanged:
        return worded, negated, replaced, exchanged, 0, numerals
    content = np.sort(new[np.isin(np.frombuffer(kinds, dtype=np.uint8), (CONTENT, CONTENT_NUMERAL))])
    first = np.ones(len(content) + 1, dtype=np.bool_)
    np.not_equal(content[1:], content[:-1], out=first[1:-1])
    return worded, negated, replaced, exchanged, int(np.count_nonzero(first[1:] & first[:-1])), numerals


def _has_content(kinds: bytes) -> bool:
    return CONTENT in kinds or CONTENT_NUMERAL in kinds


def _numerals(kinds: bytes) -> list[int]:
    """Where numerals stand."""
    return [at for at, kind in enumerate(kinds) if kind >= CONTENT_NUMERAL]


def _unchanged(new: Symbols, changed: int) -> int:
    """How many numerals are in a page beside those that changed."""
    return max(0, int(np.count_nonzero(symbol_kinds()[new] >= CONTENT_NUMERAL)) - changed)


def _unexpected(exchanged: list[Pair], rare: float) -> float:
    """How many pieces are none that edits at random would make: long or recurring ones, and those of common words.

    Args:
        exchanged: The pieces.
        rare: Share of the new page in words where an edit looks like an exchange.
    """
    expected = (
        rare ** (len(instead) // 2)
        for (_, instead), count in Counter(exchanged).items()
        if count == 1 and len(instead) < 2 * BLOCK
    )
    return len(exchanged) - sum(expected)


def _repeated(replaced: list[Pair], exchanged: list[Pair]) -> int:
    """How many pieces repeat others that differ in words and were not exchanged."""
    counts = Counter(replaced)
    return sum(counts[pair] - 1 for pair in counts.keys() - set(exchanged) if counts[pair] > 1 and _is_worded(pair))


def _is_worded(pair: Pair) -> bool:
    """Whether there are more than numbers on either side."""
    return bool(symbol_kinds()[np.frombuffer(b"".join(pair), dtype="<u2")].tobytes().strip(_NUMBERS))


def _most_renamed(kept: Symbols, replaced: list[Pair], pieces: int) -> int:
    """How often the same piece was replaced by the same other one.

    Edits do that, too, now and then. So it must have been replaced more often than not, or be most of what differs:
    "hall A" becomes "hall B" throughout, but the article "a" stays.
    """
    most = 0
    for (old, _), count in Counter(replaced).items():
        if count > max(1, most):
            if count > _SELDOM and 2 * count > pieces:
                most = count
                continue
            first = np.frombuffer(old[:2], dtype=kept.dtype)[0]
            if 2 * count > int(np.count_nonzero(kept == first)):
                most = count
    return most
