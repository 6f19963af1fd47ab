"""What is a page's own: its text without the blocks that its site repeats.

For the signatures, by which pages are found, all recurring blocks are left out. For the evidence that decides on a pair
of pages that would be too much: a cell with "Yes" or "red" recurs, too, and may be all in which two pages differ. So
there a recurring block is left out where both pages have it, at the same place among all the blocks that they share;
and, of pages of two hosts, where it is on most pages of its host, which is how a reprint is found in another layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dedupcrawl.content.alignment import BLOCK, differing
from dedupcrawl.content.blocks import Blocks
from dedupcrawl.content.site_template import SiteTemplate

_MOST_ALIGNED = 512  # blocks of either page that are in both, beside those that both begin and end with


def left_out(new: Blocks, kept: Blocks, site: SiteTemplate, kept_site: SiteTemplate) -> tuple[list[bool], list[bool]]:
    """One flag a block of a new and of a kept page: whether evidence on the two pages leaves it out.

    Args:
        new: The new page.
        kept: The kept page.
        site: The template of the new page's host.
        kept_site: That of the kept page's host, the same object where it is the same host.
    """
    if site is kept_site:
        new_flags, kept_flags = [False] * len(new.hashes), [False] * len(kept.hashes)
    else:
        new_flags, kept_flags = site.layout(new.hashes), kept_site.layout(kept.hashes)
    both = set(new.hashes).intersection(kept.hashes)
    recurs = {block for block in both if site.is_recurring(block) and kept_site.is_recurring(block)}
    if not recurs:
        return new_flags, kept_flags
    here = [place for place, block in enumerate(new.hashes) if block in both]
    there = [place for place, block in enumerate(kept.hashes) if block in both]
    for begin, other, length in _common([new.hashes[place] for place in here], [kept.hashes[place] for place in there]):
        for one, its in zip(here[begin : begin + length], there[other : other + length], strict=True):
            if new.hashes[one] in recurs:
                new_flags[one] = kept_flags[its] = True
    return new_flags, kept_flags


def slots(new: Blocks, kept: Blocks, site: SiteTemplate) -> int:
    """How many short blocks that their site repeats stand only in one of two pages, with as many only in the other.

    They are what a site says of each page anew: "in stock" or "sold out". Longer ones count as replaced anyway.
    """
    mine, its = set(new.hashes), set(kept.hashes)
    one, other = (
        sum(end - begin < BLOCK and block not in others and site.is_recurring(block) for block, begin, end in blocks)
        for blocks, others in ((_placed(new), its), (_placed(kept), mine))
    )
    return min(one, other)


def _placed(blocks: Blocks) -> Iterable[tuple[int, int, int]]:
    """Hash, begin and end of each block."""
    return zip(blocks.hashes, [0, *blocks.ends], blocks.ends, strict=False)


def _common(here: Sequence[int], there: Sequence[int]) -> list[tuple[int, int, int]]:
    """Begin in both, and length, of pieces that make up a common subsequence: the longest, but where much differs."""
    if here == there:
        return [(0, 0, len(here))]
    shorter = min(len(here), len(there))
    head = next((place for place in range(shorter) if here[place] != there[place]), shorter)
    shorter -= head
    tail = next((place for place in range(shorter) if here[-1 - place] != there[-1 - place]), shorter)
    found = [(0, 0, head), (len(here) - tail, len(there) - tail, tail)]
    one, other = here[head : len(here) - tail], there[head : len(there) - tail]
    if one and other and max(len(one), len(other)) <= _MOST_ALIGNED:
        place, other_place = 0, 0
        for begin, end, _, other_end in differing(one, other):
            found.append((head + place, head + other_place, begin - place))
            place, other_place = end, other_end
        found.append((head + place, head + other_place, len(one) - place))
    return found
