# cython: language_level=3
"""Page context: what a page says and shows beside its main text, and where it links to, as hashes.

Extraction takes the most valuable text for the main text, and sometimes that is a box which all pages of a site have.
The page's own text then stands around it. The context holds the hash and the size of each line's skeleton there, and 16
bits of each link: a few bytes per line, once the lines and links that the site repeats are left out. It also holds
hashes of the other URLs that led to the page, because links may use them, and of each picture, medium or file. Numbers
in secondary text count, because nothing else may tell two pages apart: two bytes of a line depend on them.
All of these are items (`items.pxd`), ascending but for pictures and the like, which are in page order.
"""

import struct
from functools import lru_cache

import cython
from cython.cimports.cpython import array
from cython.cimports.dedupcrawl.core.arrays import uint8s, uint64s, unset
from cython.cimports.dedupcrawl.core.items import IN_MAIN, SIZE, VALUES_AT, merged, place_of

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

_LINES = cython.declare(cython.Py_ssize_t, LINES)
_LINKS = cython.declare(cython.Py_ssize_t, LINKS)
_RESOURCES = cython.declare(cython.Py_ssize_t, RESOURCES)
_recurring = cython.declare(uint32_t, RECURRING)


class PageContext:
    """What stands around a main text.

    Attributes:
        asides: For each line of text, the hash of its skeleton, and its number of symbols (`SymbolText.lines_in`).
        link_lines: The same for lines of links.
        links: Hashes of the targets of links; of a kept page only the upper 16 bits. For a new page, IN_MAIN is set if
            a link stands inside its main text: a front page announces its newest post there, though a list at the side
            of every page links to that, too.
        also_at: Hashes of other URLs of its host that lead to it, like those of links.
        secondary: As `asides`, for lines of secondary text, with their values (`SymbolText.lines_in`).
        resources: Hashes of pictures, media and files (`resource_items`), in page order and not ascending.
        last: All its lines up to this hash are known; of a kept page with many lines, not all are stored.
        last_resource: The same for its resources.
        theme: A sketch of the page's markup (`core.theme`).
    """

    def __cinit__(
        self,
        asides: bytes = b"",
        link_lines: bytes = b"",
        links: bytes = b"",
        also_at: bytes = b"",
        secondary: bytes = b"",
        resources: bytes = b"",
        last: uint32_t = GREATEST,
        last_resource: uint32_t = GREATEST,
        theme: bytes = b"",
    ):
        self.asides, self.link_lines, self.links, self.also_at = asides, link_lines, links, also_at
        self.secondary, self.resources, self.last, self.last_resource = secondary, resources, last, last_resource
        self.theme = theme

    def without(self, template):
        """The context without what the site repeats."""
        if not (self.links or self.asides or self.link_lines or self.secondary or self.resources):
            return self
        return PageContext(
            _not_repeated(self.asides, template, False),
            _not_repeated(self.link_lines, template, False),
            _not_repeated(self.links, template, False),
            self.also_at,
            # the limit does not grow with the site, so a line that was not stored as own never becomes own later
            _not_repeated(self.secondary, template, True),
            _not_repeated(self.resources, template, False),
            self.last,
            self.last_resource,
            self.theme,
        )

    def showing(self, resources):
        """The same context with other resources, for an index."""
        rest = self.last, self.last_resource, self.theme
        return PageContext(self.asides, self.link_lines, self.links, self.also_at, self.secondary, resources, *rest)

    @property
    def size(self):
        """Symbols of all lines of text and links."""
        return _sizes(self.asides) + _sizes(self.link_lines)

    @property
    def is_bare(self):
        """Whether there is neither a line nor a link."""
        return not (self.asides or self.link_lines or self.links)

    def leads_to(self, link):
        """Whether there is a link to a target, given by its hash, of which 16 bits count."""
        items: cython.pointer(uint64_t) = uint64s(self.links)
        count: cython.Py_ssize_t = len(self.links) // 8
        place: cython.Py_ssize_t = place_of(items, count, link & 0xFFFF0000)
        return place < count and items[place] >> 48 == link >> 16

    def links_to(self, targets: object) -> bool:
        """Whether there is a link to one of these targets, given by their hashes."""
        return any([self.leads_to(target) for target in targets])

    def to_bytes(self) -> bytes:
        """Theme, asides, link lines, links, other URLs, secondary text and resources, each after its count (2 bytes).

        The theme and links and URLs have 2 bytes each; lines their hashes (4 bytes each), then their sizes (1 byte
        each), those of secondary text then the bits that depend on their values (2 bytes each); resources their hashes.
        All are little-endian, and all but resources ascending. Secondary text and resources are left out if both are
        empty, and other URLs if all three are.
        """
        parts = [struct.pack("<H", len(self.theme) // 2), self.theme]
        parts += [_packed(self.asides, False), _packed(self.link_lines, False), _packed_links(self.links)]
        if self.also_at or self.secondary or self.resources:
            parts.append(_packed_links(self.also_at))
        if self.secondary or self.resources:
            shown = hashes_of(self.resources)
            last = sorted(shown)[:RESOURCES][-1:]
            shown = [one for one in shown if one <= last[0]]
            parts += (_packed(self.secondary, True), struct.pack(f"<H{len(shown)}I", len(shown), *shown))
        return b"".join(parts)

    @staticmethod
    def from_bytes(raw: bytes) -> PageContext:
        """The context that `to_bytes` stored; from damaged bytes, what can be read of it."""
        return _read(raw)


def _read_bytes(raw: bytes) -> PageContext:
    made: PageContext = PageContext.__new__(PageContext)
    at: cython.Py_ssize_t = 0
    if len(raw) >= 2:
        at = 2 + 2 * min(raw[0] | raw[1] << 8, (len(raw) - 2) // 2)
    made.theme = raw[2:at]
    made.asides = _unpacked(raw, cython.address(at), 4, 1, cython.address(made.last))
    made.link_lines = _unpacked(raw, cython.address(at), 4, 1, cython.address(made.last))
    made.links = _unpacked(raw, cython.address(at), 2, 0, cython.NULL)
    made.also_at = _unpacked(raw, cython.address(at), 2, 0, cython.NULL)
    made.secondary = _unpacked(raw, cython.address(at), 4, 3, cython.address(made.last))
    made.resources = _unpacked(raw, cython.address(at), 4, 0, cython.NULL)
    if len(made.resources) == 8 * _RESOURCES:
        made.last_resource = max(hashes_of(made.resources))
    return made


_read = lru_cache(maxsize=READ_LAST)(_read_bytes)


def resource_items(resources: object) -> bytes:
    """The items of resources; a prefix that no link has keeps their hashes apart from those of links.

    A resource that is shown again has another hash, so what a site repeats includes how often it shows something.
    """
    shown: dict = {}
    hashes: dict = {}
    for one in resources:
        times: object = shown.get(one, 0)
        shown[one] = times + 1
        name: bytes = one.encode("utf-8", "surrogatepass")
        hashes[link_hash(b"resource " + name if not times else b"resource %d %b" % (times, name)) << 32] = None
    return array.array("Q", hashes).tobytes() if hashes else b""


def hashes_of(items: bytes) -> list:
    """The hashes of items, in their order."""
    i: cython.Py_ssize_t
    return [uint64s(items)[i] >> 32 for i in range(len(items) // 8)]


@cython.cfunc
def _not_repeated(items: bytes, template: Template, is_fixed: cython.bint) -> bytes:
    """The items that a site does not repeat, on a fixed number of pages or on a share of them; links of main texts."""
    i: cython.Py_ssize_t
    kept: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = len(items) // 8
    if not count or not template.has_recurring():
        return items
    made: bytes = unset(8 * count)
    out: cython.pointer(uint64_t) = uint64s(made)
    for i in range(count):
        item: uint64_t = uint64s(items)[i]
        is_repeated: cython.bint = template.recurs(item >> 32)
        if is_fixed:
            is_repeated = template.pages_of(item >> 32) >= _recurring
        if not is_repeated or item & IN_MAIN:
            out[kept] = item
            kept += 1
    return made[: 8 * kept]


@cython.cfunc
@cython.exceptval(check=False)
def _sizes(items: bytes) -> cython.Py_ssize_t:
    i: cython.Py_ssize_t
    total: cython.Py_ssize_t = 0
    for i in range(len(items) // 8):
        total += uint64s(items)[i] & SIZE
    return total


@cython.cfunc
def _packed(items: bytes, are_valued: cython.bint) -> bytes:
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = min(len(items) // 8, _LINES)
    made: bytes = unset(2 + (7 if are_valued else 5) * count)
    out: cython.pointer(uint8_t) = uint8s(made)
    out[0], out[1] = count & 255, count >> 8
    for i in range(count):
        item: uint64_t = uint64s(items)[i]
        hashed: uint32_t = item >> 32
        memcpy(out + 2 + 4 * i, cython.address(hashed), 4)
        out[2 + 4 * count + i] = item & SIZE
        if are_valued:
            values: uint16_t = item >> VALUES_AT & 0xFFFF
            memcpy(out + 2 + 5 * count + 2 * i, cython.address(values), 2)
    return made


@cython.cfunc
def _packed_links(items: bytes) -> bytes:
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    made: bytes = unset(2 + len(items) // 4)
    out: cython.pointer(uint8_t) = uint8s(made)
    for i in range(len(items) // 8):
        link: uint16_t = uint64s(items)[i] >> 48
        if count < _LINKS and not (i and uint64s(items)[i - 1] >> 48 == link):
            memcpy(out + 2 + 2 * count, cython.address(link), 2)
            count += 1
    out[0], out[1] = count & 255, count >> 8
    return made[: 2 + 2 * count]


@cython.cfunc
def _unpacked(
    raw: bytes,
    at: cython.pointer(cython.Py_ssize_t),
    size: cython.int,
    more: cython.int,
    last: cython.pointer(uint32_t),
) -> bytes:
    """The items stored at `at`, which is advanced: at most as many as follow, of hashes of `size` bytes and `more`.

    `last`: It becomes the greatest hash if this is less and others may not have been stored; NULL for no lines.
    """
    i: cython.Py_ssize_t
    data: cython.pointer(uint8_t) = uint8s(raw)
    here: cython.Py_ssize_t = at[0]
    left: cython.Py_ssize_t = len(raw) - here - 2
    if left < 0:
        return b""
    count: cython.Py_ssize_t = min(data[here] | data[here + 1] << 8, left // (size + more))
    here += 2
    at[0] = here + count * (size + more)
    made: bytes = unset(8 * count)
    items: cython.pointer(uint64_t) = uint64s(made)
    for i in range(count):
        hashed: uint32_t = 0
        values: uint16_t = 0
        memcpy(cython.cast(cython.pointer(uint8_t), cython.address(hashed)) + 4 - size, data + here + size * i, size)
        items[i] = cython.cast(uint64_t, hashed) << 32
        if more:
            items[i] |= data[here + size * count + i]
        if more == 3:
            memcpy(cython.address(values), data + here + 5 * count + 2 * i, 2)
            items[i] |= cython.cast(uint64_t, values) << VALUES_AT
    if size == 4 and not more:
        return made  # resources, in page order
    count = merged(items, count)
    if last is not cython.NULL and count == _LINES:
        last[0] = min(last[0], items[count - 1] >> 32)
    return made[: 8 * count]
