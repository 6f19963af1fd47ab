"""Furniture: which blocks recur on so many pages of a host that they say nothing about any one of them.

How many pages each block stands on is counted in bounded memory by the heavy hitters' algorithm of Misra and Gries
(1982): at most `MOST` blocks are kept, and when there are more, as much is taken from every count as the next one has
(Agarwal et al., Mergeable Summaries, PODS 2012). A count is then never too high, and too low by at most
(blocks counted) / (`MOST` + 1), so no block passes for furniture that is on fewer pages; of those that are on many,
none is missed. Summaries of several processes add up to one with the same bounds. No chance is in it.

Blocks are known by their skeletons (`content.main_outline`), so a clock or a view counter is one block with many
values: a slot. A page counts once for each title: the same page under ten URLs, or in ten crawls, must not make
furniture of itself. (In a trial, with every page counted, what is left of openenergymonitor.org's main texts let 953
texts fall together with others; with one page a title 31.)
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Set

import mmh3
import numpy as np

MOST = 4096
"""Blocks of a host that are remembered."""
RECURRING = 5
"""Pages of different titles from which on a block is the site's and not a page's."""
SHARE = 64
"""And at least one page of so many: a post of a blog stands on the front page, in its month and in each of its tags."""
NEARLY_ALL = 0.9
"""Share of a host's pages that have what all of them have: of fewer, some say "in stock" and the others "sold out".
(With .9 .952 of the duplicates of archives not fitted on are found at 98 % precision; with half of the pages .950.)"""
TITLES = 4096
"""Titles of a host that are remembered; of a site with more, the oldest make room."""

_TITLE = 200  # characters of a title that are looked at


class Furniture:
    """The blocks of one host by the number of its pages that they are on; `pages` were counted."""

    def __init__(self) -> None:
        self.pages = 0
        self._counts: dict[int, int] = {}
        self._often: set[int] = set()  # on `RECURRING` pages or more: few, and no others can be furniture
        self._titles: dict[int, None] = {}  # their hashes, those of this process last

    def __len__(self) -> int:
        """How many blocks are remembered, at most 2 `MOST` and those of a page."""
        return len(self._counts)

    def count(self, block: int) -> int:
        """Pages that a block is on, at least."""
        return self._counts.get(block, 0)

    @property
    def least(self) -> int:
        """Pages from which on a block is furniture."""
        return max(RECURRING, self.pages // SHARE)

    def recurring(self, blocks: Iterable[int]) -> list[bool]:
        """Which of `blocks` are furniture."""
        return self._on(blocks, self.least)

    def own(self, blocks: Iterable[int]) -> list[int]:
        """Those of `blocks` that are no furniture."""
        often, counts, least = self._often, self._counts, self.least
        return [block for block in blocks if block not in often or counts[block] < least]

    def everywhere(self, blocks: Iterable[int]) -> list[bool]:
        """Which of `blocks` nearly all pages have, so that even their absence says nothing."""
        return self._on(blocks, max(RECURRING, NEARLY_ALL * self.pages))

    def _on(self, blocks: Iterable[int], least: float) -> list[bool]:
        """Which of `blocks` are on so many pages, at least `RECURRING`."""
        often, counts = self._often, self._counts
        return [block in often and counts[block] >= least for block in blocks]

    def is_new(self, title: str) -> bool:
        """Whether no page of this title was counted; of pages without a title none is known to be another's variant."""
        return not title or _hash(title) not in self._titles

    def add(self, blocks: Set[int], title: str = "") -> list[int]:
        """Count one page; those of its blocks that recur from now on."""
        self.pages += 1
        if title:
            self._remember((_hash(title),))
        counts, least = self._counts, self.least
        recur = []
        for block in blocks:
            count = counts[block] = counts.get(block, 0) + 1
            if count >= RECURRING:
                self._often.add(block)
            if count == least:
                recur.append(block)
        if len(counts) > 2 * MOST:
            self._shrink()
        return [block for block in recur if block in self._counts and self._counts[block] >= self.least]

    def merge(self, other: Furniture) -> None:
        """Add the pages that another one counted."""
        self.pages += other.pages
        self._remember(other._titles)
        counts = self._counts
        for block, more in other._counts.items():
            count = counts[block] = counts.get(block, 0) + more
            if count >= RECURRING:
                self._often.add(block)
        if len(counts) > MOST:
            self._shrink()

    def beyond(self, other: Furniture, least: int = 1) -> Furniture:
        """What has been counted since there was no more than another one, of blocks that are on so many pages."""
        beyond, known = Furniture(), other._counts
        beyond.pages = self.pages - other.pages
        beyond._titles = {title: None for title in self._titles if title not in other._titles}
        for block, count in self._counts.items():
            if count >= least and (more := count - known.get(block, 0)) > 0:
                beyond._counts[block] = more
        beyond._often = {block for block, count in beyond._counts.items() if count >= RECURRING}
        return beyond

    def copy(self) -> Furniture:
        """Another one with the same counts."""
        other = Furniture()
        other.pages, other._counts = self.pages, self._counts.copy()
        other._often, other._titles = self._often.copy(), self._titles.copy()
        return other

    def _remember(self, titles: Iterable[int]) -> None:
        self._titles |= dict.fromkeys(titles)
        while len(self._titles) > TITLES:
            del self._titles[next(iter(self._titles))]

    def _shrink(self) -> None:
        """Take from each count as much as the highest has that is too many."""
        least = sorted(self._counts.values(), reverse=True)[MOST]
        self._counts = {block: count - least for block, count in self._counts.items() if count > least}
        self._often = {block for block in self._often if self._counts.get(block, 0) >= RECURRING}

    def to_bytes(self) -> bytes:
        """Zlib of little-endian numbers of 4 bytes: pages, how many blocks, these ascending, their counts, titles."""
        if len(self._counts) > MOST:
            self._shrink()
        blocks = np.fromiter(self._counts, dtype="<u4", count=len(self._counts))
        counts = np.fromiter(self._counts.values(), dtype="<u4", count=len(self._counts))
        titles = np.fromiter(self._titles, dtype="<u4", count=len(self._titles))
        order = blocks.argsort()
        head = np.array([self.pages, len(blocks)], dtype="<u4")
        return zlib.compress(np.concatenate([head, blocks[order], counts[order], np.sort(titles)]).tobytes(), 1)

    @classmethod
    def from_bytes(cls, raw: bytes | None) -> Furniture:
        """What `to_bytes` was called on; an empty one for None, and for bytes that it cannot have made."""
        furniture = cls()
        try:
            numbers = np.frombuffer(zlib.decompress(raw) if raw else b"", dtype="<u4")
            size = int(numbers[1])
            blocks, counts = numbers[2 : 2 + 2 * size].reshape(2, size).tolist()
        except (zlib.error, ValueError, IndexError):
            return furniture
        furniture.pages = int(numbers[0])
        furniture._counts = dict(zip(blocks, counts, strict=True))
        furniture._often = {block for block, count in furniture._counts.items() if count >= RECURRING}
        furniture._titles = dict.fromkeys(numbers[2 + 2 * size :].tolist())
        return furniture


def _hash(title: str) -> int:
    return mmh3.hash(title[:_TITLE].encode("utf-8", "replace"), signed=False)
