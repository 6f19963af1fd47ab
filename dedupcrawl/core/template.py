# cython: language_level=3
"""Site template: which blocks recur on so many pages of a host that they say nothing about any one of them.

The heavy hitters' algorithm of Misra and Gries (1982) counts the pages of each block in bounded memory: at most `MOST`
blocks are kept, and if there are more, the count of the first one too many is subtracted from every count (Agarwal et
al., Mergeable Summaries, PODS 2012). A count is then never too high, and too low by at most (blocks counted) /
(`MOST` + 1), so no block passes for template that is on fewer pages, and none that is on many is missed. Summaries of
several processes can be merged with the same bounds. The algorithm is deterministic.

Blocks are identified by their skeletons (`core.symbols`), so a clock or a view counter is one block with many values: a
slot. Pages with the same name, which is their title and headline, count once: the same page under ten URLs, or in ten
crawls, must not make a template of itself. (In a trial on openenergymonitor.org, with every page counted, 953 main
texts without their template were equal to others; with one page a title, 31.)
"""

import os
import zlib

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import uint8s, uint64s
from cython.cimports.dedupcrawl.core.hashing import fmix64, murmur3_32
from cython.cimports.libc.stdint import uint64_t

MOST = 4096
"""The most blocks of a host that are remembered."""
RECURRING = 5
"""A block on at least this many pages with different titles is site template."""
SHARE = 64
"""It must also be on at least one in so many pages: a blog post is on the front page, in its month, under its tags."""
NEARLY_ALL = 0.9
"""A block on at least this share of a host's pages is on nearly all of them. With a lower share, some pages could say
"in stock" and the others "sold out". (With .9 .952 of the duplicates of archives not fitted on are found at 98 %
precision; with half of the pages .950.)"""
TITLES = 4096
"""The most titles of a host that are remembered; if there are more, the oldest are forgotten."""

_RECURRING = cython.declare(uint32_t, RECURRING)
_SHARE = cython.declare(uint32_t, SHARE)
_NEARLY_ALL = cython.declare(cython.double, NEARLY_ALL)
_TITLE = 200  # characters of a title that are hashed
_MOST_PAGES = 1 << 28  # of a host; sums of several such numbers still fit into four bytes
# Random in each process, so the authors of pages cannot predict the slots of blocks.
_seed = cython.declare(uint64_t, int.from_bytes(os.urandom(8), "little"))


class Template:
    """The blocks of one host, each with the number of pages that it is on; `pages` is the number of pages counted."""

    def __cinit__(self):
        self.titles = {}  # by their hashes, the latest last
        self.grow(8)

    def grow(self, blocks):
        """Make a table with room for so many blocks."""
        size: cython.Py_ssize_t = 16
        i: cython.Py_ssize_t
        old_table: bytes = self.table
        old: cython.pointer(Counted) = self.slots
        count: cython.Py_ssize_t = 0 if old_table is None else self.mask + 1
        while size < 2 * blocks:
            size *= 2
        self.table = bytes(size * cython.sizeof(Counted))
        self.slots = cython.cast(cython.pointer(Counted), uint8s(self.table))
        self.mask = size - 1
        for i in range(count):
            if old[i].pages:
                self.slot_of(old[i].block)[0] = old[i]
        return 0

    def slot_of(self, block):
        place: cython.Py_ssize_t = fmix64(block ^ _seed) & self.mask
        while self.slots[place].pages and self.slots[place].block != block:
            place = (place + 1) & self.mask
        return cython.address(self.slots[place])

    def counted(self, block):
        """The entry of a block, added if it is new; the caller must set its `pages` before the next call."""
        slot: cython.pointer(Counted) = self.slot_of(block)
        if not slot.pages:
            if 2 * (self.used + 1) > self.mask + 1:
                self.grow(2 * self.used)
                slot = self.slot_of(block)
            self.used += 1
            slot.block, slot.page = block, 0
        return slot

    def pages_of(self, block):
        return self.slot_of(block).pages

    def __len__(self):
        """How many blocks are remembered: at most 2 `MOST`, plus those of a page."""
        return self.used

    def count(self, block: int) -> int:
        """A lower bound of the number of pages that a block is on."""
        return self.pages_of(block)

    @property
    def least(self) -> int:
        """The least number of pages that a template block is on."""
        return max(RECURRING, self.pages // SHARE)

    def recurs(self, block):
        if not self.has_recurring():
            return False
        pages: uint32_t = self.pages_of(block)
        return pages >= _RECURRING and pages >= self.pages // _SHARE

    def recurring(self, blocks: object) -> list:
        """For each of `blocks`, whether it is template."""
        return [self.recurs(block) for block in blocks]

    def has_recurring(self):
        """Whether any block may be template."""
        return self.pages >= _RECURRING

    def is_everywhere(self, block):
        """Whether nearly all pages have a block, so that even a page without it does not differ by that."""
        return self.pages_of(block) >= max(cython.cast(cython.double, _RECURRING), _NEARLY_ALL * self.pages)

    def repeated(self, text, blocks):
        """A byte for each of the first blocks of a text, 1 if it is template; empty if none is."""
        flags: bytearray = bytearray(min(blocks, text.block_count))
        is_repeated: cython.bint = False
        i: cython.Py_ssize_t
        for i in range(len(flags)):
            if self.recurs(text.blocks[i].hash):
                flags[i] = 1
                is_repeated = True
        return flags if is_repeated else bytearray()

    def is_new(self, title: str) -> bool:
        """Whether no page with this title was counted; always true without a title, which cannot show a variant."""
        return not title or _hash(title) not in self.titles

    def add(self, blocks: object, title: str = "", texts: tuple = (), shown: tuple = ()) -> list:
        """Count one page; return those of its blocks that became template with it.

        Args:
            blocks: The hashes of its blocks, in any order; a block may be given more than once.
            title: The title of the page, or another name for it; empty if it is not to be remembered.
            texts: Texts whose first blocks are counted too, each with the number of these blocks.
            shown: Items (`items.pxd`) whose hashes are counted too.
        """
        recur: list = []
        i: cython.Py_ssize_t
        self.pages += 1
        least: uint32_t = self.least
        if title:
            self.remember((_hash(title),))
        for block in blocks:
            self.add_block(block, least, recur)
        for given, count in texts:
            text: Lines = given
            for i in range(min(cython.cast(cython.Py_ssize_t, count), text.block_count)):
                self.add_block(text.blocks[i].hash, least, recur)
        for raw in shown:
            items: bytes = raw
            for i in range(len(items) // 8):
                self.add_block(uint64s(items)[i] >> 32, least, recur)
        if self.used > 2 * MOST:
            self.shrink()
        return [block for block in recur if self.pages_of(block) >= least]

    def add_block(self, block, least, recur):
        slot: cython.pointer(Counted) = self.counted(block)
        if slot.page != cython.cast(uint32_t, self.pages):
            slot.page = self.pages
            slot.pages += 1
            if slot.pages == least:
                recur.append(block)
        return 0

    def merge(self, other: Template) -> None:
        """Add the pages that another template counted."""
        i: cython.Py_ssize_t
        self.pages += other.pages
        self.remember(other.titles)
        for i in range(other.mask + 1):
            if other.slots[i].pages:
                self.counted(other.slots[i].block).pages += other.slots[i].pages
        if self.used > MOST:
            self.shrink()

    def beyond(self, other: Template, least: int = 1) -> Template:
        """What was counted since `other`, an earlier state of this template; only blocks on at least `least` pages."""
        beyond: Template = Template()
        i: cython.Py_ssize_t
        fewest: uint32_t = least
        beyond.pages = self.pages - other.pages
        beyond.titles = {title: None for title in self.titles if title not in other.titles}
        for i in range(self.mask + 1):
            pages: uint32_t = self.slots[i].pages
            if pages and pages >= fewest and pages > other.pages_of(self.slots[i].block):
                beyond.counted(self.slots[i].block).pages = pages - other.pages_of(self.slots[i].block)
        return beyond

    def copy(self) -> Template:
        """A template with the same counts."""
        other: Template = Template()
        i: cython.Py_ssize_t
        other.pages, other.titles = self.pages, self.titles.copy()
        other.grow(self.used)
        for i in range(self.mask + 1):
            if self.slots[i].pages:
                other.counted(self.slots[i].block).pages = self.slots[i].pages
        return other

    def remember(self, titles: object) -> None:
        """Remember the hashes of titles as the latest."""
        self.titles |= dict.fromkeys(titles)
        while len(self.titles) > TITLES:
            del self.titles[next(iter(self.titles))]

    def shrink(self):
        """Keep at most `MOST` blocks, by subtracting the (`MOST` + 1)-th highest count from every count."""
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = self.mask + 1
        old: cython.pointer(Counted) = self.slots
        less: uint32_t = sorted([old[i].pages for i in range(count) if old[i].pages], reverse=True)[MOST]
        self.used = 0
        for i in range(count):
            old[i].pages -= min(less, old[i].pages)
            self.used += old[i].pages > 0
        return self.grow(MOST)  # a slot that became free between others would end their search too early

    def to_bytes(self) -> bytes:
        """Little-endian 4-byte numbers, by zlib: pages, number of blocks, blocks ascending, their counts, titles."""
        i: cython.Py_ssize_t
        if self.used > MOST:
            self.shrink()
        kept = sorted([(self.slots[i].block, self.slots[i].pages) for i in range(self.mask + 1) if self.slots[i].pages])
        numbers = [self.pages, len(kept), *[block for block, _ in kept], *[pages for _, pages in kept]]
        return zlib.compress(array.array("I", [*numbers, *sorted(self.titles)]), 1)

    @staticmethod
    def from_bytes(raw: object) -> Template:
        """The template that `to_bytes` stored; an empty one for None, and for bytes that it cannot have made."""
        template: Template = Template()
        try:
            numbers = array.array("I", zlib.decompress(raw) if raw else b"").tolist()
            size = numbers[1]
        except (zlib.error, ValueError, IndexError):
            return template
        blocks, counts = numbers[2 : 2 + size], numbers[2 + size : 2 + 2 * size]
        if len(counts) < size:
            return template
        if max(counts, default=0) >= _MOST_PAGES or numbers[0] >= _MOST_PAGES:
            return template
        template.pages = int(numbers[0])
        for block, pages in zip(blocks, counts, strict=True):
            if pages:
                template.counted(block).pages = pages
        template.titles = dict.fromkeys(numbers[2 + 2 * size :])
        return template


@cython.cfunc
def _hash(title: str) -> object:
    raw: bytes = title[:_TITLE].encode("utf-8", "replace")
    return murmur3_32(raw, len(raw), 0)
