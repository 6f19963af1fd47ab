"""Facts: what two texts have in common and in which ways they differ, in numbers."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from dedupcrawl.content.alignment import BLOCK, Differences, differences
from dedupcrawl.content.filled import filled
from dedupcrawl.content.own_blocks import OwnBlocks, own_blocks
from dedupcrawl.content.tiles import Symbols
from dedupcrawl.content.turned import turned
from dedupcrawl.content.wording import wording

_SAME_FIGURE = 6  # symbols between two numbers that belong together, such as those of a date and its time


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What a new page and a kept one have in common and what not; lengths in symbols.

    A struct, because so many fields of a frozen dataclass take longer to fill than to find out.

    Attributes:
        symbols: Length of the new page.
        kept_symbols: Length of the kept page.
        covered: Share of the new page that stands in the kept one.
        kept_covered: Share of the kept page that stands in the new one.
        replaced: The longest block that another block replaced, the shorter of the two.
        rewritten: Share of the new page in blocks of six or more symbols that were replaced.
        inserted: Share of the new page in such blocks in whose place the kept page has nothing, but for the ends.
        added: The longest block inside the new page that the kept one lacks.
        added_at_ends: The longest such block before the first or after the last piece they share.
        skips: Places inside the new page where the kept one has a block of six or more symbols that the new one lacks.
        moves: Places inside the new page where what follows stands earlier in the kept one.
        numbers_same: Numbers of the new page that stand in the kept one.
        numbers_changed: Numbers of the new page, in figures or words, in whose place the kept one has another number.
        figures_changed: The same, but those of one date or one clock count once.
        renamed: How often the same piece was replaced by the same other piece.
        exchanged: Pieces where the pages speak of other things: neither page has the other's words anywhere.
        edits: Other short pieces that differ in words, each different one once.
        unexpected: Exchanged pieces, less those that edits at random would look like.
        negated: Pieces where one page has a "not" that the other has not.
        contrary: Of these and others the short ones where nothing but a "not" or an opposite differs.
        moved: Content words that are missing in some of the short pieces and stand in others.
        own: Different symbols of the block inside the new page that says most by itself.
        own_inside: Of all such blocks together.
        own_before: Of what stands before the first piece they share.
        own_after: Of what stands after the last one.
        pieces: Short pieces that differ, in words or in numbers.
        filled: Slots that hold a number here and none in the kept page (`dedupcrawl.content.filled`).
        rearranged: Places in changed paragraphs where what follows stands elsewhere (`dedupcrawl.content.rearranged`).
        slots: Short blocks that the site repeats, such as "sold out", in whose place the kept page has others of them.
    """

    symbols: int
    kept_symbols: int
    covered: float
    kept_covered: float
    replaced: int
    rewritten: float
    inserted: float
    added: int
    added_at_ends: int
    skips: int
    moves: int
    numbers_same: int
    numbers_changed: int
    figures_changed: int
    renamed: int
    exchanged: int
    edits: int
    unexpected: float
    negated: int
    contrary: int
    moved: int
    own: int
    own_inside: int
    own_before: int
    own_after: int
    pieces: int
    filled: int
    rearranged: int = 0
    slots: int = 0


def aligned(new: Symbols, kept: Symbols, new_tail: int, kept_tail: int, same_tail: bool) -> Differences:
    """Where two texts differ that may be longer than what there is of them.

    Args:
        new: The new text.
        kept: The kept text.
        new_tail: How many symbols more the new text has.
        kept_tail: How many symbols more the kept text has.
        same_tail: Whether these are the same.
    """
    found = differences(new, kept)
    if same_tail:
        found.common += new_tail
        found.kept_common += kept_tail
    else:
        found.replaced = max(found.replaced, min(new_tail, kept_tail))
        found.added_at_ends = max(found.added_at_ends, new_tail - kept_tail)
    return found


def facts_of(
    found: Differences,
    new: Symbols,
    kept: Symbols,
    length: int,
    kept_length: int,
    *,
    rearranged: int = 0,
    slots: int = 0,
) -> Facts:
    """The facts about a new text of `length` symbols and a kept one that differ as `aligned` has found."""
    worded, turns = wording(new, kept, found.pieces), turned(new, kept, found.pieces)
    changed = sorted({*found.numbers_changed, *worded.numerals_changed})
    longest = max(found.replaced, found.added, found.added_at_ends)
    own = own_blocks(new, kept) if longest >= BLOCK else OwnBlocks()
    return Facts(
        symbols=length,
        kept_symbols=kept_length,
        covered=found.common / length if length else float(not kept_length),
        kept_covered=min(1.0, found.kept_common / kept_length) if kept_length else float(not length),
        replaced=found.replaced,
        rewritten=found.rewritten / length if length else 0.0,
        inserted=found.inserted / length if length else 0.0,
        added=found.added,
        added_at_ends=found.added_at_ends,
        skips=found.skips,
        moves=found.moves,
        numbers_same=found.numbers_same + worded.numerals_same,
        numbers_changed=len(changed),
        figures_changed=_figures(changed) if changed else 0,
        renamed=worded.renamed,
        exchanged=worded.exchanged,
        edits=worded.edits,
        unexpected=worded.unexpected,
        negated=worded.negated,
        contrary=turns.contrary,
        moved=turns.moved,
        own=own.largest,
        own_inside=own.inside,
        own_before=own.before,
        own_after=own.after,
        pieces=len(found.pieces),
        filled=filled(new, kept, found.pieces),
        rearranged=rearranged,
        slots=slots,
    )


def _figures(numbers: list[int]) -> int:
    """How many figures these places of numbers belong to."""
    return 1 + sum(after - before > _SAME_FIGURE for before, after in pairwise(numbers))
