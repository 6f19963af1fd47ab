"""Site template: which blocks recur on so many pages of a host that they say nothing about any one of them.

How many pages each block stands on is counted in bounded memory by the heavy hitters' algorithm of Misra and Gries
(1982): at most `MOST` blocks are kept, and when there are more, as much is taken from every count as the next one has
(Agarwal et al., Mergeable Summaries, PODS 2012). A count is then never too high, and too low by at most
(blocks counted) / (`MOST` + 1), so no block passes for template that is on fewer pages; of those that are on many, none
is missed. Summaries of several processes add up to one with the same bounds. No chance is in it.

Counted are pages that were kept, once for each URL. A page that is dropped says nothing new, and a text that is
republished, or crawled again, must not become template by it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np

MOST = 4096
"""Blocks of a host that are remembered."""
RECURRING = 5
"""Pages from which on a block is the site's and not a page's."""
LAYOUT_SHARE = 2
"""A block on one page of so many is part of the site's layout: it stands there whatever a page is about."""

_HEADER_BYTES = 4


class SiteTemplate:
    """The blocks of one host by the number of its pages that they are on.

    Attributes:
        pages: How many pages were counted.
    """

    def __init__(self) -> None:
        self.pages = 0
        self._counts: dict[int, int] = {}
        self._recurring: set[int] = set()  # those with a count of RECURRING or more

    def __len__(self) -> int:
        """How many blocks are remembered, at most 2 `MOST` and those of a page."""
        return len(self._counts)

    def count(self, block: int) -> int:
        """Pages that a block is on, at least."""
        return self._counts.get(block, 0)

    def recurring(self, blocks: Iterable[int]) -> list[bool]:
        """Which of `blocks` are on many pages."""
        recurring = self._recurring
        return [block in recurring for block in blocks]

    def is_recurring(self, block: int) -> bool:
        """Whether a block is on many pages."""
        return block in self._recurring

    def has_recurring(self, blocks: Iterable[int]) -> bool:
        """Whether any of `blocks` is on many pages."""
        return not self._recurring.isdisjoint(blocks)

    def blocks(self) -> Iterable[int]:
        """Those that are remembered."""
        return self._counts.keys()

    def on_several(self, blocks: Iterable[int]) -> set[int]:
        """Those of `blocks` that are on more than one page."""
        get = self._counts.get
        return {block for block in blocks if get(block, 0) > 1}

    def layout(self, blocks: Iterable[int]) -> list[bool]:
        """Which of `blocks` are on a large share of all pages."""
        get, least = self._counts.get, max(RECURRING, self.pages / LAYOUT_SHARE)
        return [get(block, 0) >= least for block in blocks]

    def add(self, blocks: Iterable[int]) -> list[int]:
        """Count one page, each of its blocks once; those that recur from now on."""
        self.pages += 1
        counts = self._counts
        recur = []
        for block in set(blocks):
            count = counts[block] = counts.get(block, 0) + 1
            if count == RECURRING:
                recur.append(block)
        self._recurring.update(recur)
        if len(counts) > 2 * MOST:
            self._shrink()
        return [block for block in recur if block in self._recurring]

    def merge(self, other: SiteTemplate) -> None:
        """Add the pages that another one counted."""
        self.pages += other.pages
        counts = self._counts
        for block, more in other._counts.items():
            count = counts[block] = counts.get(block, 0) + more
            if count >= RECURRING:
                self._recurring.add(block)
        if len(counts) > MOST:
            self._shrink()

    def take(self, blocks: Iterable[int]) -> SiteTemplate:
        """Take out, and return, the pages and these blocks."""
        taken = SiteTemplate()
        taken.pages, self.pages = self.pages, 0
        for block in self._counts.keys() & blocks:
            taken._counts[block] = self._counts.pop(block)
        taken._find_recurring()
        self._recurring -= taken._recurring
        return taken

    def copy(self) -> SiteTemplate:
        """Another one with the same counts."""
        other = SiteTemplate()
        other.pages, other._counts, other._recurring = self.pages, self._counts.copy(), self._recurring.copy()
        return other

    def _shrink(self) -> None:
        """Take from each count as much as the highest has that is too many."""
        least = sorted(self._counts.values(), reverse=True)[MOST]
        self._counts = {block: count - least for block, count in self._counts.items() if count > least}
        self._find_recurring()

    def _find_recurring(self) -> None:
        self._recurring = {block for block, count in self._counts.items() if count >= RECURRING}

    def to_bytes(self) -> bytes:
        """Zlib of: pages (4 bytes), blocks ascending (4 bytes each), their counts (4 bytes each); little-endian."""
        if len(self._counts) > MOST:
            self._shrink()
        blocks = np.fromiter(self._counts, dtype="<u4", count=len(self._counts))
        counts = np.fromiter(self._counts.values(), dtype="<u4", count=len(self._counts))
        order = blocks.argsort()
        return zlib.compress(
            self.pages.to_bytes(_HEADER_BYTES, "little") + blocks[order].tobytes() + counts[order].tobytes(), 1
        )

    @classmethod
    def from_bytes(cls, raw: bytes | None) -> SiteTemplate:
        """What `to_bytes` was called on; an empty one for None, and for bytes that it cannot have made."""
        template = cls()
        try:
            data = zlib.decompress(raw) if raw else b""
            template.pages = int.from_bytes(data[:_HEADER_BYTES], "little")
            blocks, counts = np.frombuffer(data[_HEADER_BYTES:], dtype="<u4").reshape(2, -1)
        except (zlib.error, ValueError):
            return cls()
        template._counts = dict(zip(blocks.tolist(), counts.tolist(), strict=True))
        template._recurring = set(blocks[counts >= RECURRING].tolist())
        return template
