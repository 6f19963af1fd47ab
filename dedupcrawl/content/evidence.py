"""Evidence: a new page and a kept one side by side. What differs decides, not only how much is alike.

Two pages of one template, or the bulletins of two days, are alike in most of their words and yet not the same page. A
reprint, an excerpt or a page with a sentence corrected is alike in what matters. The difference shows when the texts
are aligned (`dedupcrawl.content.alignment`), and what differs is looked at (`dedupcrawl.content.wording`):

- Nearly all of the new page must stand in the kept one, in few pieces. Only the new page is at stake: blocks that only
  the kept page has make the new one an excerpt or a cut of it; of a listing, single lines are none.
- No long block may have been *replaced* by another: that is one page's own text in a shared template.
- Little may be only in the new page, except before its first and after its last common word, where templates,
  advertisements and comments stand.
- Numbers at the same place (dates, prices, counts) must be the same, names and things too, and a "not" must stay, but
  where words were changed all over the page, or the page is long.

What all this comes to is one number (`dedupcrawl.content.probability`), and a page is dropped from a threshold on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mmh3
import numpy as np

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import Piece
from dedupcrawl.content.facts import Facts, compared
from dedupcrawl.content.probability import COVERED, probability
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tiles import LONGEST, Symbols
from dedupcrawl.content.wording import symbols_of

OUTLINE_SYMBOLS = LONGEST
"""Symbols of a text that its outline holds one by one."""

_SHOWN = 8  # pieces that differ
_SHOWN_CHARACTERS = 80  # of each


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is to be said about a new page and a kept one.

    Attributes:
        facts: What they have in common and in which ways they differ.
        probability: That the new page duplicates the kept one.
        pieces: Short pieces that differ, as in `dedupcrawl.content.alignment.Differences`.
    """

    facts: Facts
    probability: float
    pieces: list[Piece]

    def to_dict(self, text: SymbolText | None = None) -> dict[str, Any]:
        """JSON values for a verdict, shares rounded to four places; what is 0 is left out.

        Args:
            text: The new page, to show what it says where the two differ; of the kept page there is no text any more.
        """
        shown: dict[str, Any] = {"probability": round(self.probability, 4)}
        for name in Facts.__slots__:
            if value := getattr(self.facts, name):
                shown[name] = round(value, 4) if isinstance(value, float) else value
        if text is not None and self.pieces:
            shown["differs"] = [_shown(piece, text) for piece in sorted(self.pieces)[:_SHOWN]]
        return shown


def _shown(piece: Piece, text: SymbolText) -> dict[str, Any]:
    """Where a piece stands, what the new page says there, and how many symbols the kept one has in its place."""
    begin, end, kept_begin, kept_end = piece
    starts, lengths = text.starts, text.lengths
    says = text.text[starts[begin] : starts[end - 1] + lengths[end - 1]] if end > begin else ""
    return {"at": begin, "says": says[:_SHOWN_CHARACTERS], "kept_symbols": kept_end - kept_begin}


def outline(text: SymbolText) -> bytes:
    """The main text, for comparing it side by side when it is gone.

    Little-endian: 2 bytes a symbol, the upper 15 bits of its hash and, as bit 0, whether it holds a digit. Of a text of
    more than `OUTLINE_SYMBOLS` the first so many, then 4 bytes with the number of the others and 8 with their hash.
    """
    symbols = symbols_of(text)
    if len(symbols) <= OUTLINE_SYMBOLS:
        return symbols.tobytes()
    tail = mmh3.mmh3_x64_128_digest(text.hashes[OUTLINE_SYMBOLS:].astype("<u8", copy=False).tobytes())[:8]
    return symbols[:OUTLINE_SYMBOLS].tobytes() + (len(symbols) - OUTLINE_SYMBOLS).to_bytes(4, "little") + tail


def _read(outline: bytes) -> tuple[Symbols, int, bytes]:
    """Symbols, how many more there are, and their hash."""
    if len(outline) <= 2 * OUTLINE_SYMBOLS:
        return np.frombuffer(outline, dtype="<u2"), 0, b""
    tail = outline[2 * OUTLINE_SYMBOLS :]
    return np.frombuffer(outline, dtype="<u2", count=OUTLINE_SYMBOLS), int.from_bytes(tail[:4], "little"), tail[4:]


def side_by_side(new: bytes, kept: bytes) -> tuple[Facts, list[Piece]]:
    """The facts about the outlines of a new page and a kept one, and the short pieces that differ."""
    new_symbols, new_tail, new_hash = _read(new)
    kept_symbols, kept_tail, kept_hash = _read(kept)
    return compared(new_symbols, kept_symbols, new_tail, kept_tail, new_hash == kept_hash)


def confirm(new: bytes, kept: bytes) -> Evidence:
    """Compare the outlines of a new page and a kept one."""
    facts, pieces = side_by_side(new, kept)
    return Evidence(facts, probability(facts), pieces)


def duplicates(new: bytes, kept: bytes, least: float) -> Evidence | None:
    """What `confirm` says, when by that the new page duplicates the kept one with a probability of `least` or more.

    Most pages that do not are told without an alignment: whatever it finds, it covers no symbol of the new page that
    occurs nowhere in the kept one.
    """
    new_symbols, new_tail, new_hash = _read(new)
    kept_symbols, _, kept_hash = _read(kept)
    length = len(new_symbols) + new_tail
    occurring = _occurring(new_symbols, kept_symbols) + new_tail * (new_hash == kept_hash)
    if length and occurring / length < COVERED:
        return None
    evidence = confirm(new, kept)
    return evidence if evidence.probability >= least else None


def _occurring(new: Symbols, kept: Symbols) -> int:
    """How many symbols of the new page occur anywhere in the kept one."""
    if kernels.compiled is not None:
        return kernels.compiled.occurring(new, kept)
    occurs = np.zeros(1 << 16, dtype=np.bool_)
    occurs[kept] = True
    return int(np.count_nonzero(occurs[new]))
