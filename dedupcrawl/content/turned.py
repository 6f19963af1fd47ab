"""What turns a text around in few words: an opposite, a "not", and names that have changed places.

A text that somebody edited differs in many words and in any of them. Where hardly a word differs, one of these does not
come of editing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, product

from dedupcrawl.content.alignment import Piece
from dedupcrawl.content.opposites import opposites
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.wording import CONTENT, NEGATION, symbol_kinds

_FEW = 3  # symbols on either side of a piece that may turn its sentence around


@dataclass(frozen=True, slots=True)
class Turned:
    """Attributes:
    contrary: Short pieces where an opposite stands, or a "not" more or less.
    moved: Content words that are missing in some of the pieces and stand in others.
    """

    contrary: int = 0
    moved: int = 0


def turned(new: Symbols, kept: Symbols, pieces: Sequence[Piece]) -> Turned:
    """Look at the pieces in which two sequences differ; `pieces` as in `Differences`."""
    if not pieces:
        return Turned()
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
    lines = {one for one, instead in zip(removed, put_in, strict=True) if not instead}
    lines &= {instead for one, instead in zip(removed, put_in, strict=True) if not one}
    here = Counter(chain.from_iterable(piece for piece in put_in if piece not in lines))
    both = here & Counter(chain.from_iterable(piece for piece in removed if piece not in lines))
    kind = symbol_kinds()
    return sum(count for symbol, count in both.items() if kind.item(symbol) == CONTENT)


def _contrary(here: Sequence[int], there: Sequence[int]) -> bool:
    kind = symbol_kinds()
    negations = [sum(kind.item(symbol) == NEGATION for symbol in side) for side in (here, there)]
    return negations[0] != negations[1] or any(pair in opposites() for pair in product(here, there))
