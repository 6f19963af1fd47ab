"""Evidence: a new page and a kept one side by side. What differs decides, not only how much is alike.

Two pages of one template, or the bulletins of two days, are alike in most of their words and yet not the same page. A
reprint, an excerpt or a page with a sentence corrected is alike in what matters. The difference shows when the texts
are aligned (`dedupcrawl.content.alignment`), and what differs is looked at (`dedupcrawl.content.wording`):

- Nearly all of the new page must stand in the kept one, in few pieces. Only the new page is at stake: blocks that only
  the kept page has make the new one an excerpt or a cut of it; of a listing, single lines are none.
- No long block may have been *replaced* by another: that is one page's own text in a shared template.
- Little may be only in the new page: a paragraph more is something that is said nowhere else. What stands on both sides
  of all that they share is a frame, of a template or of advertisements and comments.
- Numbers at the same place (dates, prices, counts) must be the same, names and things too, and a "not" must stay, but
  where words were changed all over the page. One figure or name may be another where the page is long.
- The blocks that their site repeats are left out first, where both pages have them (`dedupcrawl.content.own_text`).

What all this comes to is one number (`dedupcrawl.content.probability`), and a page is dropped from a threshold on. From
some counts on it is another page whatever else holds (`dedupcrawl.content.another_page`).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import mmh3
import msgspec
import numpy as np

from dedupcrawl.content import kernels
from dedupcrawl.content.alignment import Differences, Piece
from dedupcrawl.content.another_page import COVERED
from dedupcrawl.content.blocks import BREAK, Blocks, with_breaks
from dedupcrawl.content.facts import Facts, aligned, facts_of
from dedupcrawl.content.own_text import left_out, slots
from dedupcrawl.content.probability import probability
from dedupcrawl.content.rearranged import rearranged
from dedupcrawl.content.site_template import SiteTemplate
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.tail import tail_begins
from dedupcrawl.content.tiles import LONGEST, Places, Symbols

OUTLINE_SYMBOLS = LONGEST
"""Symbols of a text that its outline holds one by one."""

_SHOWN = 8  # pieces that differ
_SHOWN_CHARACTERS = 80  # of each


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """What is to be said about a new page and a kept one.

    Attributes:
        facts: What they have in common and in which ways they differ.
        probability: That the new page duplicates the kept one.
        pieces: Short pieces that differ, as in `dedupcrawl.content.alignment.Differences`.
        template_blocks: Blocks of the new page that were left out as its site's.
        places: Where in the new page's symbols those stand that were compared; None: all were.
    """

    facts: Facts
    probability: float
    pieces: list[Piece]
    template_blocks: int = 0
    places: Places | None = None

    def to_dict(self, text: SymbolText | None = None) -> dict[str, Any]:
        """JSON values for a verdict, shares rounded to four places; what is 0 is left out.

        Args:
            text: The new page, to show what it says where the two differ; of the kept page there is no text any more.
        """
        shown: dict[str, Any] = {"probability": round(self.probability, 4)}
        if self.template_blocks:
            shown["template_blocks"] = self.template_blocks
        for name, value in zip(Facts.__struct_fields__, msgspec.structs.astuple(self.facts), strict=True):
            if value:
                shown[name] = round(value, 4) if isinstance(value, float) else value
        if text is not None and self.pieces:
            shown["differs"] = [self._shown(piece, text) for piece in sorted(self.pieces)[:_SHOWN]]
        return shown

    def _shown(self, piece: Piece, text: SymbolText) -> dict[str, Any]:
        """Where a piece stands, what the new page says there, and how many symbols the kept one has in its place."""
        begin, end, kept_begin, kept_end = piece
        size = end - begin
        if self.places is not None and len(self.places):
            last = int(self.places[end - 1]) if end else -1
            begin = int(self.places[begin]) if begin < len(self.places) else last + 1
            end = last + 1 if size else begin
        says = ""
        if size:
            first, stop = text.starts.item(begin), text.starts.item(end - 1) + text.lengths.item(end - 1)
            says = text.text[first : min(first + _SHOWN_CHARACTERS, stop)]
        return {"at": begin, "says": says, "kept_symbols": kept_end - kept_begin}


def outline(text: SymbolText) -> bytes:
    """The main text, for comparing it side by side when it is gone.

    Little-endian: 2 bytes a symbol, the upper 15 bits of its hash and, as bit 0, whether it holds a digit; 2 zero bytes
    between two paragraphs. Of a text of more than `OUTLINE_SYMBOLS` symbols and breaks the first so many, then 4 bytes
    with the number of the other symbols and 8 with the hash of all from where its tail begins.
    """
    symbols = with_breaks(text)
    if len(symbols) <= OUTLINE_SYMBOLS:
        return symbols.tobytes()
    first = symbols[:OUTLINE_SYMBOLS]
    kept = first[first != BREAK]
    tail = mmh3.mmh3_x64_128_digest(text.hashes[tail_begins(kept) :].astype("<u8", copy=False).tobytes())[:8]
    return first.tobytes() + (len(text.hashes) - len(kept)).to_bytes(4, "little") + tail


class _Outlined(msgspec.Struct, frozen=True, gc=False):
    """An outline that was read.

    Attributes:
        blocks: What is kept of it symbol by symbol.
        tail: How many symbols more there are.
        tail_hash: Of the symbols from `tail_begins` on.
        tail_begins: At which symbol of the blocks.
    """

    blocks: Blocks
    tail: int
    tail_hash: bytes
    tail_begins: int


@lru_cache(maxsize=8)  # of the page at hand, which is compared with others in turn
def _read(outline: bytes) -> _Outlined:
    if len(outline) <= 2 * OUTLINE_SYMBOLS:
        blocks = Blocks.of(np.frombuffer(outline, dtype="<u2", count=len(outline) // 2))
        return _Outlined(blocks, 0, b"", len(blocks.symbols))
    tail = outline[2 * OUTLINE_SYMBOLS :]
    blocks = Blocks.of(np.frombuffer(outline, dtype="<u2", count=OUTLINE_SYMBOLS))
    return _Outlined(blocks, int.from_bytes(tail[:4], "little"), tail[4:], tail_begins(blocks.symbols))


def blocks_of(outline: bytes) -> list[int]:
    """The hash of each paragraph in an outline, in page order."""
    return _read(outline).blocks.hashes


def ends_of(outline: bytes) -> list[int]:
    """Where in the symbols of an outline each paragraph ends."""
    return _read(outline).blocks.ends


def sizes_of(outline: bytes) -> dict[int, int]:
    """The hash of each paragraph in an outline, and how many symbols it has."""
    blocks = _read(outline).blocks
    return dict(zip(blocks.hashes, (end - begin for begin, end in pairwise([0, *blocks.ends])), strict=True))


class _Pair(msgspec.Struct, frozen=True, gc=False):
    """A new page and a kept one, without what their sites repeat."""

    blocks: Blocks
    kept_blocks: Blocks
    new: Symbols
    kept: Symbols
    new_tail: int
    kept_tail: int
    same_tail: bool
    template_blocks: int
    places: Places | None
    slots: int

    @classmethod
    def of(cls, new: bytes, kept: bytes, site: SiteTemplate | None, kept_site: SiteTemplate | None) -> _Pair:
        one, other = _read(new), _read(kept)
        symbols, kept_symbols = one.blocks.symbols, other.blocks.symbols
        begin, kept_begin = len(symbols), len(kept_symbols)
        same = one.tail_hash == other.tail_hash
        if same:  # both are compared up to there
            begin, kept_begin = one.tail_begins, other.tail_begins
        tail, kept_tail = one.tail + len(symbols) - begin, other.tail + len(kept_symbols) - kept_begin
        count, places, other_slots = 0, None, 0
        if site is not None and kept_site is not None and site.has_recurring(one.blocks.hashes):
            if site is kept_site:
                other_slots = slots(one.blocks, other.blocks, site)
            left, kept_left = left_out(one.blocks, other.blocks, site, kept_site)
            keep = one.blocks.keep(left)
            if any(left) and (keep.any() or one.tail):
                count, places = sum(left), keep.nonzero()[0]
                kept_keep = other.blocks.keep(kept_left)
                symbols, kept_symbols = symbols[keep], kept_symbols[kept_keep]
                begin, kept_begin = int(keep[:begin].sum()), int(kept_keep[:kept_begin].sum())
        pair = symbols[:begin], kept_symbols[:kept_begin]
        return cls(one.blocks, other.blocks, *pair, tail, kept_tail, same, count, places, other_slots)

    @property
    def length(self) -> int:
        return len(self.new) + self.new_tail

    def aligned(self) -> Differences:
        return aligned(self.new, self.kept, self.new_tail, self.kept_tail, self.same_tail)

    def confirm(self, found: Differences) -> Evidence:
        facts = facts_of(
            found,
            self.new,
            self.kept,
            self.length,
            len(self.kept) + self.kept_tail,
            rearranged=self._rearranged() if found.moves else 0,
            slots=self.slots,
        )
        return Evidence(facts, probability(facts), found.pieces, self.template_blocks, self.places)

    def _rearranged(self) -> int:
        changed = self.blocks.changed(self.kept_blocks)
        if self.places is not None:
            changed = changed[self.places]
        return rearranged(self.new, self.kept, changed)


def confirm(
    new: bytes, kept: bytes, site: SiteTemplate | None = None, kept_site: SiteTemplate | None = None
) -> Evidence:
    """Compare the outlines of a new page and a kept one.

    Args:
        new: The new page's outline.
        kept: The kept page's.
        site: The template of the new page's host: what both have of it is left out, unless nothing else is left.
        kept_site: That of the kept page's host, the same object where it is the same host.
    """
    pair = _Pair.of(new, kept, site, kept_site)
    return pair.confirm(pair.aligned())


def duplicates(
    new: bytes, kept: bytes, least: float, site: SiteTemplate | None = None, kept_site: SiteTemplate | None = None
) -> Evidence | None:
    """What `confirm` says, when by that the new page duplicates the kept one with a probability of `least` or more.

    Most pages that do not are told without an alignment: whatever it finds, it covers no symbol of the new page that
    occurs nowhere in the kept one. Of the others a quarter are told by it alone.
    """
    pair = _Pair.of(new, kept, site, kept_site)
    length = pair.length
    occurring = _occurring(pair.new, pair.kept) + pair.new_tail * pair.same_tail
    if length and occurring / length < COVERED:
        return None
    found = pair.aligned()
    if length and found.common / length < COVERED:
        return None
    evidence = pair.confirm(found)
    return evidence if evidence.probability >= least else None


def _occurring(new: Symbols, kept: Symbols) -> int:
    """How many symbols of the new page occur anywhere in the kept one."""
    if kernels.compiled is not None:
        return kernels.compiled.occurring(new, kept)
    occurs = np.zeros(1 << 16, dtype=np.bool_)
    occurs[kept] = True
    return int(np.count_nonzero(occurs[new]))
