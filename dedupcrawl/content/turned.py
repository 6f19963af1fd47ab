"""What turns a text around in few words: an opposite, a "not", and names that have changed places.

A text that somebody edited differs in many words and in any of them. Where hardly a word differs, one of these does not
come of editing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain

import msgspec

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import Piece
from dedupcrawl.content.opposites import opposites, packed_opposites
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.wording import CONTENT, NEGATION, symbol_kinds

_FEW = 3  # symbols on either side of a piece that may turn its sentence around


class Turned(msgspec.Struct, frozen=True, gc=False):
    """What of the differing pieces says the contrary.

    Attributes:
        contrary: Short pieces where an opposite stands, or a "not" more or less.
        moved: Content words that are missing in some of the pieces and stand in others.
    """

    contrary: int = 0
    moved: int = 0


def turned(new: Symbols, kept: Symbols, pieces: Sequence[Piece]) -> Turned:
    """Look at the pieces in which two sequences differ; `pieces` as in `Differences`."""
    if not pieces:
        return Turned()
    if kernels.compiled is not None:
        return Turned(*kernels.compiled.turned(new, kept, symbol_kinds(), packed_opposites(), list(pieces)))
    contrary = 0
    removed: list[tuple[int, ...]] = []
    put_in: list[tuple[int, ...]] = []
    for begin, end, kept_begin, kept_end in pieces:
        here, there = tuple(new[begin:end].tolist()), tuple(kept[kept_begin:kept_end].tolist())
        removed.append(there)
        put_in.append(here)
        if len(here) <= _FEW and len(there) <= _FEW:
            contrary += _contrary(here, there)
    moved = _moved(removed, put_in) if len(pieces) > 1 else 0
    return Turned(contrary, moved)


def _moved(removed: Sequence[tuple[int, ...]], put_in: Sequence[tuple[int, ...]]) -> int:
    """Content words that both have, but for whole lines that only moved: one piece removed, and put in elsewhere."""
    if not set(chain.from_iterable(removed)).intersection(chain.from_iterable(put_in)):
        return 0
    lines = {one for one, instead in zip(removed, put_in, strict=True) if not instead}
    lines &= {instead for one, instead in zip(removed, put_in, strict=True) if not one}
    here = Counter(chain.from_iterable(piece for piece in put_in if piece not in lines))
    both = here & Counter(chain.from_iterable(piece for piece in removed if piece not in lines))
    kind = symbol_kinds()
    return sum(count for symbol, count in both.items() if kind.item(symbol) == CONTENT)


def _contrary(here: Sequence[int], there: Sequence[int]) -> bool:
    negations = _negations()
    if sum(map(negations.__contains__, here)) != sum(map(negations.__contains__, there)):
        return True
    opposite = opposites()
    return any(not opposite[symbol].isdisjoint(there) for symbol in here if symbol in opposite)


@cache
def _negations() -> frozenset[int]:
    return frozenset((symbol_kinds() == NEGATION).nonzero()[0].tolist())
