# cython: language_level=3
"""Page context: what a page says and shows beside its main text, and where it links to, as hashes.

Extraction takes the most valuable text for the main text, and sometimes that is a box which all pages of a site have.
The page's own text then stands around it. The context holds the hash and the size of each line's skeleton there, and 16
bits of each link: a few bytes per line, once the lines and links that the site repeats are left out. It also holds
hashes of the other URLs that led to the page, because links may use them, and of each picture, medium or file. Numbers
in secondary text count, because nothing else may tell two pages apart: two bytes of a line depend on them.
"""

import struct
from functools import lru_cache

import cython
from cython.cimports.dedupcrawl.core.arrays import sort_once, uint8s, uint64s, unset

from dedupcrawl.core.links import link_hash
from dedupcrawl.core.main_outline import READ_LAST
from dedupcrawl.core.template import RECURRING

LINES = 64
"""The most lines of each sort that are stored of a kept page; if there are more, those with the least hashes."""
LINKS = 512
"""The most links that are stored of a kept page."""
RESOURCES = 64
"""The most resources that are stored of a kept page."""

GREATEST = (1 << 32) - 1
"""The greatest hash of a line or resource."""

_LINKS = cython.declare(cython.Py_ssize_t, LINKS)
_recurring = cython.declare(uint32_t, RECURRING)
_NOTHING: frozenset = frozenset()


class PageContext:
    """What stands around a main text.

    Attributes:
        asides: Hash of a line's skeleton → its number of symbols, for lines of text.
        link_lines: The same for lines of links.
        links: Hashes of the targets of links, 32 bits each; of a kept page only the upper 16 bits.
        main_links: For a new page, the links inside its main text: a front page announces its newest post there, though
            a list at the side of every page links to that, too.
        also_at: Hashes of other URLs of its host that lead to it, like those of links.
        secondary: For lines of secondary text, as `SymbolText.valued_lines`.
        resources: Hashes of pictures, media and files, 32 bits each, in page order (see `resource_hashes`).
        last: All its lines up to this hash are known; of a kept page with many lines, not all are stored.
        last_resource: The same for its resources.
    """

    def __cinit__(
        self,
        asides: dict,
        link_lines: dict,
        links: frozenset,
        main_links: frozenset = _NOTHING,
        also_at: frozenset = _NOTHING,
        secondary: object = None,
        resources: tuple = (),
        last: object = GREATEST,
        last_resource: object = GREATEST,
    ):
        self.asides, self.link_lines, self.links, self.main_links = asides, link_lines, links, main_links
        self.also_at, self.secondary, self.resources = also_at, {} if secondary is None else secondary, resources
        self.last, self.last_resource = last, last_resource

    def __eq__(self, other):
        if not isinstance(other, PageContext):
            return NotImplemented
        return self.fields() == cython.cast(PageContext, other).fields()

    def __hash__(self):
        raise TypeError("what stands around a main text has no hash")

    def fields(self):
        links = self.links, self.main_links, self.also_at, self.resources
        return self.asides, self.link_lines, self.secondary, *links, self.last, self.last_resource

    def without(self, template):
        """The context without what the site repeats."""
        links: frozenset = self.links
        main_links: frozenset = self.main_links
        resources: tuple = self.resources
        if not (links or self.asides or self.link_lines or self.secondary or resources):
            return self
        if links:
            links = frozenset([link for link in links if not template.recurs(link) or link in main_links])
        if resources:
            resources = tuple([one for one in resources if not template.recurs(one)])
        return PageContext(
            {line: size for line, size in self.asides.items() if not template.recurs(line)},
            {line: size for line, size in self.link_lines.items() if not template.recurs(line)},
            links,
            _NOTHING,
            self.also_at,
            # the limit does not grow with the site, so a line that was not stored as own never becomes own later
            {line: size for line, size in self.secondary.items() if template.pages_of(line) < _recurring},
            resources,
            self.last,
            self.last_resource,
        )

    def showing(self, resources):
        """The same context with other resources, for an index."""
        return PageContext(
            self.asides,
            self.link_lines,
            self.links,
            _NOTHING,
            self.also_at,
            self.secondary,
            resources,
            self.last,
            self.last_resource,
        )

    @property
    def size(self):
        """Symbols of all lines of text and links."""
        return sum(self.asides.values()) + sum(self.link_lines.values())

    @property
    def is_bare(self):
        """Whether there is neither a line nor a link."""
        return not (self.size or self.links)

    def links_to(self, targets: object) -> bool:
        """Whether there is a link to one of these targets, given by their hashes."""
        wanted = {target >> 16 for target in targets}
        return not wanted.isdisjoint([link >> 16 for link in self.links])

    def to_bytes(self) -> bytes:
        """Asides, link lines, links, other URLs, secondary text and resources, each after its count (2 bytes).

        Lines have their hashes (4 bytes each), then their sizes (1 byte each), those of secondary text then the bits
        that depend on their values (2 bytes each); resources their hashes; links and URLs 2 bytes each. All are
        little-endian, and all but resources ascending. Secondary text and resources are left out if both are empty, and
        other URLs if all three are.
        """
        parts = [_packed(self.asides), _packed(self.link_lines), _packed_links(self.links)]
        if self.also_at or self.secondary or self.resources:
            parts.append(_packed_links(self.also_at))
        if self.secondary or self.resources:
            last = sorted(self.resources)[:RESOURCES][-1:]
            resources = [one for one in self.resources if one <= last[0]]
            parts += (_packed(self.secondary), _packed_values(self.secondary))
            parts.append(struct.pack(f"<H{len(resources)}I", len(resources), *resources))
        return b"".join(parts)

    @staticmethod
    def from_bytes(raw: bytes) -> PageContext:
        """The context that `to_bytes` stored; from damaged bytes, what can be read of it."""
        return _read(raw)


def _read_bytes(raw: bytes) -> PageContext:
    asides, at = _unpacked(raw, 0)
    link_lines, at = _unpacked(raw, at)
    links, at = _unpacked_links(raw, at)
    also_at, at = _unpacked_links(raw, at)
    secondary, at = _unpacked(raw, at)
    values = raw[at : at + 2 * len(secondary)]
    at += 2 * len(secondary)
    for line, value in zip(secondary, memoryview(values[: len(values) & ~1]).cast("H")):
        secondary[line] |= value << 8
    count = _count_at(raw, at, 4)
    resources = struct.unpack_from(f"<{count}I", raw, at + 2) if count else ()
    last = min([max(lines) for lines in (asides, link_lines, secondary) if len(lines) == LINES], default=GREATEST)
    last_resource = max(resources) if count == RESOURCES else GREATEST
    return PageContext(asides, link_lines, links, _NOTHING, also_at, secondary, resources, last, last_resource)


_read = lru_cache(maxsize=READ_LAST)(_read_bytes)


def resource_hashes(resources: object) -> tuple:
    """The hashes of resources, 32 bits each; a prefix that no link has keeps them apart from those of links.

    A resource that is shown again has another hash, so what a site repeats includes how often it shows something.
    """
    shown: dict = {}
    hashes: dict = {}
    for one in resources:
        times: object = shown.get(one, 0)
        shown[one] = times + 1
        name: bytes = one.encode("utf-8", "surrogatepass")
        hashes[link_hash(b"resource " + name if not times else b"resource %d %b" % (times, name))] = None
    return tuple(hashes)


@cython.cfunc
def _packed(lines: dict) -> bytes:
    if not lines:
        return b"\0\0"
    first = sorted(lines)[:LINES]
    return struct.pack(f"<H{len(first)}I", len(first), *first) + bytes([lines[line] & 255 for line in first])


@cython.cfunc
def _packed_values(lines: dict) -> bytes:
    first = sorted(lines)[:LINES]
    return struct.pack(f"<{len(first)}H", *[lines[line] >> 8 for line in first])


@cython.cfunc
def _packed_links(links: frozenset) -> bytes:
    room: bytes = unset(8 * len(links))
    values: cython.pointer(uint64_t) = uint64s(room)
    count: cython.Py_ssize_t = 0
    for link in links:
        values[count] = cython.cast(uint32_t, link) >> 16
        count += 1
    count = min(sort_once(values, count), _LINKS)
    made: bytes = unset(2 + 2 * count)
    out: cython.pointer(uint8_t) = uint8s(made)
    out[0], out[1] = count & 255, count >> 8
    i: cython.Py_ssize_t
    for i in range(count):
        out[2 + 2 * i], out[3 + 2 * i] = values[i] & 255, values[i] >> 8
    return made


@cython.cfunc
def _count_at(raw: bytes, at: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The count that is stored at `at`, or the number of entries of this size that follow, if that is less."""
    count: cython.Py_ssize_t = int.from_bytes(raw[at : at + 2], "little")
    return max(0, min(count, (len(raw) - at - 2) // size))


@cython.cfunc
def _unpacked_links(raw: bytes, at: cython.Py_ssize_t) -> tuple:
    count = _count_at(raw, at, 2)
    at += 2
    links = struct.unpack_from(f"<{count}H", raw, at) if count else ()
    return frozenset([link << 16 for link in links]), at + 2 * count


@cython.cfunc
def _unpacked(raw: bytes, at: cython.Py_ssize_t) -> tuple:
    count = _count_at(raw, at, 5)
    if not count:
        return {}, at + 2
    sizes, end = at + 2 + 4 * count, at + 2 + 5 * count
    hashes = struct.unpack_from(f"<{count}I", raw, at + 2)
    return dict(zip(hashes, raw[sizes:end], strict=False)), end
