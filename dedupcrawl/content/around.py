"""Around: what a page says and shows beside its main text, and where it links to, as hashes.

Extraction takes the text that is worth most for the main text, and sometimes that is a box which all pages of a site
have. The page's own text then stands around it. Of each line there the hash of its skeleton is kept, with its size, and
of each link 16 bits: some bytes per line, once the lines and links that the site repeats are left out. So are of each
other URL that led to the page, where links to it may lead, and each picture, medium or file that it shows.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from functools import lru_cache

import msgspec

from dedupcrawl.content.main_outline import READ_LAST
from dedupcrawl.core.links import link_hash, local_form
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike

LINES = 64
"""Lines of a kept page that are stored, of texts and of links each; of a page with more, the first by their hashes."""
LINKS = 512
"""Links of a kept page that are stored."""
RESOURCES = 64
"""Resources of a kept page that are stored."""

GREATEST = (1 << 32) - 1


class Around(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What stands around a main text."""

    asides: dict[int, int]  # hash of a line's skeleton → its symbols, of lines of text
    link_lines: dict[int, int]  # the same of lines of links
    links: frozenset[int]  # hashes of where links lead, 32 bits each; of a kept page the upper 16
    # of a page at hand, those that stand amid its main text: where a front page tells of its newest post, which a
    # list at the side of every page links to, too
    main_links: frozenset[int] = frozenset()
    also_at: frozenset[int] = frozenset()  # hashes of other URLs of its host that lead to it, as those of links
    secondary: dict[int, int] = {}  # as asides, of lines of secondary text
    resources: frozenset[int] = frozenset()  # hashes of pictures, media and files, 32 bits each
    last: int = GREATEST  # up to which hash all its lines are known: of a kept page with many not all are stored
    last_resource: int = GREATEST  # likewise of its resources

    @classmethod
    def of(cls, page: Page, asides: SymbolText, link_lines: SymbolText, secondary: SymbolText) -> Around:
        """Of a page at hand, whose lines beside its main text were read."""
        host = host_alike(page.url)
        also_at = frozenset([link_hash(local_form(url)) for url in page.also_at if host_alike(url) == host])
        return cls(
            asides.lines,
            link_lines.lines,
            page.links,
            page.main_links,
            also_at,
            secondary.lines,
            resource_hashes(page.resources),
        )

    def without(self, template: Template) -> Around:
        """What is the page's own."""
        return Around(
            {line: self.asides[line] for line in template.own(self.asides)},
            {line: self.link_lines[line] for line in template.own(self.link_lines)},
            frozenset(template.own(self.links)) | (self.links & self.main_links),
            also_at=self.also_at,
            # what few pages have, however many there are: what was stored as a page's own is no less than what is later
            secondary={line: size for line, size in self.secondary.items() if template.count(line) < RECURRING},
            resources=frozenset(template.own(self.resources)),
            last=self.last,
            last_resource=self.last_resource,
        )

    @property
    def size(self) -> int:
        """Symbols of all lines of text and links."""
        return sum(self.asides.values()) + sum(self.link_lines.values())

    def links_to(self, targets: Iterable[int]) -> bool:
        """Whether there is a link to one of these, given by their hashes."""
        wanted = {target >> 16 for target in targets}
        return not wanted.isdisjoint([link >> 16 for link in self.links])

    def to_bytes(self) -> bytes:
        """Asides, link lines, links, other URLs, secondary text and resources, each begun by their count (2 bytes).

        Of all lines the hashes (4 bytes), then the sizes (1 byte); of resources the hashes; of links and URLs 2 bytes.
        Little-endian, ascending.
        Of the last three those are left out after which there is nothing.
        """
        parts = [_packed(self.asides), _packed(self.link_lines), _packed_links(self.links)]
        if self.also_at or self.secondary or self.resources:
            parts.append(_packed_links(self.also_at))
        if self.secondary or self.resources:
            resources = sorted(self.resources)[:RESOURCES]
            parts += (_packed(self.secondary), struct.pack(f"<H{len(resources)}I", len(resources), *resources))
        return b"".join(parts)

    @classmethod
    @lru_cache(maxsize=READ_LAST)
    def from_bytes(cls, raw: bytes) -> Around:
        """What `to_bytes` was called on, as far as it was stored; empty for no bytes."""
        asides, at = _unpacked(raw, 0)
        link_lines, at = _unpacked(raw, at)
        links, at = _unpacked_links(raw, at)
        also_at, at = _unpacked_links(raw, at)
        secondary, at = _unpacked(raw, at)
        count = int.from_bytes(raw[at : at + 2], "little")
        resources = struct.unpack_from(f"<{count}I", raw, at + 2) if count else ()
        last = min((max(lines) for lines in (asides, link_lines, secondary) if len(lines) == LINES), default=GREATEST)
        return cls(
            asides,
            link_lines,
            links,
            also_at=also_at,
            secondary=secondary,
            resources=frozenset(resources),
            last=last,
            last_resource=resources[-1] if count == RESOURCES else GREATEST,
        )


def resource_hashes(resources: Collection[str]) -> frozenset[int]:
    """The hashes of resources, 32 bits each; they are told from links, of which none begins like this."""
    return frozenset([link_hash(b"resource " + one.encode("utf-8", "surrogatepass")) for one in resources])


def _packed(lines: dict[int, int]) -> bytes:
    first = sorted(lines)[:LINES]
    return struct.pack(f"<H{len(first)}I", len(first), *first) + bytes([lines[line] for line in first])


def _packed_links(links: frozenset[int]) -> bytes:
    first = sorted({link >> 16 for link in links})[:LINKS]
    return struct.pack(f"<{1 + len(first)}H", len(first), *first)


def _unpacked_links(raw: bytes, at: int) -> tuple[frozenset[int], int]:
    count, at = int.from_bytes(raw[at : at + 2], "little"), at + 2
    links = struct.unpack_from(f"<{count}H", raw, at) if count else ()
    return frozenset([link << 16 for link in links]), at + 2 * count


def _unpacked(raw: bytes, at: int) -> tuple[dict[int, int], int]:
    count = int.from_bytes(raw[at : at + 2], "little")
    sizes, end = at + 2 + 4 * count, at + 2 + 5 * count
    hashes = struct.unpack_from(f"<{count}I", raw, at + 2) if count else ()
    return dict(zip(hashes, raw[sizes:end], strict=False)), end
