"""Evidence: a new page and a kept one side by side. What differs decides, not only how much is alike.

Two pages of one template, or the bulletins of two days, are alike in most of their words and yet not the same page. A
reprint, an excerpt or a page with a sentence corrected is alike in what matters. The difference shows when the texts
are aligned (see `dedupcrawl.content.alignment`):

- Nearly all of the new page must stand in the kept one. Only the new page is at stake: blocks that only the kept page
  has make the new one an excerpt or a cut of it.
- No long block may have been *replaced* by another: that is one page's own text in a shared template. Nor may several
  shorter ones that make up much of the page; edited words stand scattered.
- No long block may be only in the new page, nor many, except before its first and after its last common word, where
  templates, advertisements and comments stand. A version with some more in it is a duplicate as long as most of its
  shingles are the same (a Jaccard similarity of .8 is a fifth more).
- No piece may have been replaced by the same other piece throughout: the name of another thing in the same words.
- Numbers at the same place (dates, prices, counts) must be the same, but for one clock or counter.
  Where words differ all over the page, numbers may be among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import mmh3
import numpy as np

from dedupcrawl.content.alignment import Symbols, differences, unchanged
from dedupcrawl.content.symbols import SymbolText

OUTLINE_SYMBOLS = 16_384
"""Symbols of a text that its outline holds one by one."""

_SAME_FIGURE = 6  # symbols between two numbers that belong together, such as those of a date and its time


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much may differ, by the length of the page: `share` of its symbols, but `least` in any, `most` in any."""

    least: int
    share: float
    most: int

    def of(self, symbols: int) -> float:
        """For a page of so many symbols."""
        return max(self.least, min(self.most, self.share * symbols))


@dataclass(frozen=True, slots=True)
class Limits:
    """What two duplicates may differ in. Chosen on the tuning half of `benchmarks.checks_quality`.

    Attributes:
        covered: Least share of the new page's symbols that stand in the kept page.
        replaced: Most symbols of a block that another block replaced.
        rewritten: Most of the new page that may be in blocks that were replaced, as a share.
        inserted: Most of it that may be in blocks inside that the kept page lacks, as a share.
        added: Most symbols of a block inside the new page that the kept page lacks.
        numbers: Most numbers that differ of those that stand at the same place, as a share.
        renamed: Most times that one piece may be replaced by the same other one throughout.
        symbols_a_number: A single figure may differ when the new page has so many symbols for each number in it …
        symbols_a_figure: … and so may several when it has so many for each.
        numbers_of_edits: In a page that was edited all over, numbers may be this share of all that differs …
        numbers_edited: … as long as no more than this share of the numbers differs.
    """

    covered: float = 0.76
    replaced: Allowance = Allowance(12, 0.015, 48)
    rewritten: float = 0.06
    inserted: float = 0.18
    added: Allowance = Allowance(80, 0.15, 400)
    numbers: float = 0.03
    renamed: Allowance = Allowance(2, 0.002, 20)
    symbols_a_number: int = 100
    symbols_a_figure: int = 400
    numbers_of_edits: float = 0.15
    numbers_edited: float = 0.2


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a new page and a kept one have in common and what not; lengths in symbols.

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
        numbers_same: Numbers of the new page that stand in the kept one.
        numbers_changed: Numbers of the new page in whose place the kept one has another number.
        figures_changed: The same, but those of one date or one clock count once.
        renamed: How often the same piece was replaced by the same other piece.
        duplicate: Whether the new page may be dropped for the kept one.
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
    numbers_same: int
    numbers_changed: int
    figures_changed: int
    renamed: int
    duplicate: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON values for a verdict, shares rounded to four places."""
        values = ((name, getattr(self, name)) for name in self.__slots__ if name != "duplicate")
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in values}


def outline(text: SymbolText) -> bytes:
    """The main text, for comparing it side by side when it is gone.

    Little-endian: 2 bytes a symbol, the upper 15 bits of its hash and, as bit 0, whether it holds a digit. Of a text of
    more than `OUTLINE_SYMBOLS` the first so many, then 4 bytes with the number of the others and 8 with their hash.
    """
    hashes = text.hashes
    symbols: Symbols = (hashes >> np.uint64(48)).astype("<u2")
    symbols &= np.uint16(0xFFFE)
    symbols |= (hashes & np.uint64(1)).astype("<u2")
    if len(symbols) <= OUTLINE_SYMBOLS:
        return symbols.tobytes()
    tail = mmh3.mmh3_x64_128_digest(hashes[OUTLINE_SYMBOLS:].astype("<u8", copy=False).tobytes())[:8]
    return symbols[:OUTLINE_SYMBOLS].tobytes() + (len(symbols) - OUTLINE_SYMBOLS).to_bytes(4, "little") + tail


def _read(outline: bytes) -> tuple[Symbols, int, bytes]:
    """Symbols, how many more there are, and their hash."""
    if len(outline) <= 2 * OUTLINE_SYMBOLS:
        return np.frombuffer(outline, dtype="<u2"), 0, b""
    tail = outline[2 * OUTLINE_SYMBOLS :]
    return np.frombuffer(outline, dtype="<u2", count=OUTLINE_SYMBOLS), int.from_bytes(tail[:4], "little"), tail[4:]


def confirm(new: bytes, kept: bytes, limits: Limits = LIMITS) -> Evidence:
    """Compare the outlines of a new page and a kept one."""
    new_symbols, new_tail, new_hash = _read(new)
    kept_symbols, kept_tail, kept_hash = _read(kept)
    found = unchanged(new_symbols) if new == kept else differences(new_symbols, kept_symbols)
    if new_hash == kept_hash:
        found.common += new_tail
        found.kept_common += kept_tail
    else:
        found.replaced = max(found.replaced, min(new_tail, kept_tail))
        found.added_at_ends = max(found.added_at_ends, new_tail - kept_tail)
    length, kept_length = len(new_symbols) + new_tail, len(kept_symbols) + kept_tail
    changed = sorted(found.numbers_changed)
    evidence = Evidence(
        symbols=length,
        kept_symbols=kept_length,
        covered=found.common / length if length else float(not kept_length),
        kept_covered=found.kept_common / kept_length if kept_length else float(not length),
        replaced=found.replaced,
        rewritten=found.rewritten / length if length else 0.0,
        inserted=found.inserted / length if length else 0.0,
        added=found.added,
        added_at_ends=found.added_at_ends,
        numbers_same=found.numbers_same,
        numbers_changed=len(changed),
        figures_changed=sum(after - before > _SAME_FIGURE for before, after in pairwise(changed)) + bool(changed),
        renamed=found.renamed,
        duplicate=False,
    )
    return replace(evidence, duplicate=_text_agrees(evidence, limits) and _numbers_agree(evidence, limits))


def duplicates(new: bytes, kept: bytes, limits: Limits = LIMITS) -> Evidence | None:
    """What `confirm` says, when by that the new page duplicates the kept one.

    Most pages that do not are told without an alignment: whatever it finds, it covers no symbol of the new page that
    occurs nowhere in the kept one.
    """
    new_symbols, new_tail, new_hash = _read(new)
    kept_symbols, _, kept_hash = _read(kept)
    occurs = np.zeros(1 << 16, dtype=np.bool_)
    occurs[kept_symbols] = True
    length = len(new_symbols) + new_tail
    occurring = int(occurs[new_symbols].sum()) + new_tail * (new_hash == kept_hash)
    if length and occurring / length < limits.covered:
        return None
    evidence = confirm(new, kept, limits)
    return evidence if evidence.duplicate else None


def _text_agrees(facts: Evidence, limits: Limits) -> bool:
    return (
        facts.covered >= limits.covered
        and facts.replaced <= limits.replaced.of(facts.symbols)
        and facts.rewritten <= limits.rewritten
        and facts.inserted <= limits.inserted
        and facts.added <= limits.added.of(facts.symbols)
        and facts.renamed <= limits.renamed.of(facts.symbols)
    )


def _numbers_agree(facts: Evidence, limits: Limits) -> bool:
    share = facts.numbers_changed / max(1, facts.numbers_changed + facts.numbers_same)
    one = facts.figures_changed == 1 and facts.numbers_changed * limits.symbols_a_number <= facts.symbols
    if share <= limits.numbers or one or facts.figures_changed * limits.symbols_a_figure <= facts.symbols:
        return True
    differing = (1 - facts.covered) * facts.symbols
    return share <= limits.numbers_edited and facts.numbers_changed <= limits.numbers_of_edits * differing
