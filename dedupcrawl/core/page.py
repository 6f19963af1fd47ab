# cython: language_level=3
"""Page: the parts of a response, or of a row of a file, that the content checks read."""

import cython
from cython.cimports.cpython import array
from cython.cimports.cpython.unicode import PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython.cimports.dedupcrawl.core.arrays import uint64s, unset
from cython.cimports.dedupcrawl.core.ascii import find
from cython.cimports.dedupcrawl.core.characters import encode
from cython.cimports.dedupcrawl.core.facts import Facts
from cython.cimports.dedupcrawl.core.items import IN_MAIN, merged
from cython.cimports.dedupcrawl.core.links import LinkReader
from cython.cimports.dedupcrawl.core.main_text import choose_main_text
from cython.cimports.dedupcrawl.core.outline import Anchor, Block, Piece
from cython.cimports.dedupcrawl.core.page_context import hashes_of
from cython.cimports.dedupcrawl.core.secondary import shown_by
from cython.cimports.dedupcrawl.core.symbols import Lines, SymbolText, Vocabulary
from cython.cimports.dedupcrawl.core.tags import META, Attribute, Span, equals, next_attribute
from cython.cimports.dedupcrawl.core.theme import theme_of
from cython.cimports.libc.stdlib import free, malloc, realloc
from cython.cimports.libc.string import memcpy

from dedupcrawl.core.characters import collapse
from dedupcrawl.core.digests import NO_SECRET, digest_of
from dedupcrawl.core.symbols import vocabulary_of

_MOST_LINKS = cython.declare(cython.int, 1_000)  # the most links to its own host that are read of a page
_TELLING = cython.declare(cython.int, 40)  # characters; a page that shows this many or more is no mere JavaScript shell
_HEADLINE = 60  # characters of the longest first line that may be a headline; set by hand
_OBJECT = cython.declare(cython.Py_ssize_t, 500)  # bytes that a page takes in memory besides its text,
_ITEM = cython.declare(cython.Py_ssize_t, 60)  # and that a string or a link takes besides its own
_LONG_BODY = cython.declare(cython.int, 65_536)  # bytes; the digest of a longer body is made at once, not to hold it
_LINKED = cython.declare(cython.double, 0.5)  # a block with at least this share in links is a menu


class Page:
    """A web page, reduced to what the content checks read. All strings are plain text, never markup.

    Attributes:
        url: The URL of the page, after redirects.
        title: Text of the title element, or of a row's ``title``.
        headline: Text of its first h1; without one, of the first heading above its main text; without that, the first
            line of the main text if it may be a headline.
        paragraphs: The main text, one string per natural paragraph, in page order, without empty ones.
        asides: Other visible lines, likewise, that are not mostly links: text around the main text, or the page's own
            text if the main text was not recognized.
        link_lines: Other visible lines, likewise, that are mostly links, such as menus and listings.
        links: The targets of its links on its own host: hashes of paths and queries, made by `links.link_hash`.
        main_links: Those of the links inside its main text or at its heading.
        headings: Texts of h1 … h6, in page order.
        keywords: Content of the meta keywords element.
        description: Content of the meta description element.
        anchors_same_site: Texts of the links within the page's registrable domain.
        anchors_other_sites: Texts of the links that leave it.
        body_digest: 16 bytes of the undecoded body; empty if there was no body (a text row).
        body_tells: Whether equal bodies mean equal pages: the body is not text at all (an image, a PDF), or it shows
            enough text. False for a JavaScript shell or a short JSON document, which may stand under many URLs.
        selector_missed: Whether there is a selector of main texts (DEDUP_SELECTOR) that found none here.
        also_at: Other URLs that lead to the page: a list may link to one of them.
        secondary: Text that is not in the page's visible text, and that browsers show on a click or not at all, in page
            order: from forms, noscript, template and srcdoc, from drawings, from JSON, and for pictures.
        resources: What else it shows or offers, in page order: pictures, media, embedded pages and files, each by its
            identity (see `core.resources`), as often as it is there.
        theme: A sketch of its markup (`core.theme`), by which pages in one template are told; empty without markup.

    Raises:
        TypeError: A value has the wrong type.
    """

    def __init__(
        self,
        url: object,
        *,
        title: object = "",
        headline: object = "",
        paragraphs: object = (),
        headings: object = (),
        keywords: object = "",
        description: object = "",
        anchors_same_site: object = (),
        anchors_other_sites: object = (),
        body_digest: bytes = b"",
        body_tells: bool = False,
        asides: object = (),
        link_lines: object = (),
        links: object = frozenset(),
        main_links: object = frozenset(),
        selector_missed: bool = False,
        also_at: object = (),
        secondary: object = (),
        resources: object = (),
        theme: bytes = b"",
    ):
        _check((url, title, headline, keywords, description))
        _check_lists(
            (
                *(paragraphs, headings, anchors_same_site, anchors_other_sites),
                *(asides, link_lines, also_at, secondary, resources),
            )
        )
        self.url, self.title, self.headline = str(url), str(title), str(headline)
        self.keywords, self.description = str(keywords), str(description)
        self.headings, self.also_at = headings, also_at
        self.secondary, self.resources, self.theme = secondary, resources, theme
        self.anchors_same_site, self.anchors_other_sites = anchors_same_site, anchors_other_sites
        self.digest, self.body = body_digest, None
        self.body_tells, self.selector_missed = body_tells, selector_missed
        numbers: dict = dict.fromkeys(links, 0) | dict.fromkeys(main_links, IN_MAIN) if links or main_links else {}
        for link in numbers:
            if type(link) is not int:
                raise TypeError("the links of a page are hashes, as link_hash makes them of what local_form gives.")
        self.link_items = array.array("Q", [link << 32 | numbers[link] for link in sorted(numbers)]).tobytes()
        free(self.text)  # of an earlier call
        self.text = cython.NULL
        self.line_count = 0
        self.text_size = _most_bytes(paragraphs) + _most_bytes(asides) + _most_bytes(link_lines)
        self.text = cython.cast(cython.pointer(uint8_t), malloc(self.text_size + 1))
        if self.text is cython.NULL:
            raise MemoryError
        self.text_size = 0
        self.add_texts(paragraphs, MAIN)
        self.add_texts(asides, ASIDE)
        self.add_texts(link_lines, LINKS)
        made: cython.p_void = realloc(self.text, self.text_size + 1)
        self.text = self.text if made is cython.NULL else cython.cast(cython.pointer(uint8_t), made)

    def add_texts(self, texts, part):
        """Add the lines of texts; there must be room for them."""
        begin: cython.Py_ssize_t
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for i in range(len(texts)):
            text: str = cython.cast(str, texts[i])  # checked before; it may be of a subclass
            begin = self.text_size
            self.text_size += _encoded(text, self.text + begin)
            while begin < self.text_size:
                at = find(0x0A, self.text, begin, self.text_size)
                if at > begin:
                    self.add_line(begin, at, part)
                begin = at + 1
        return 0

    def __dealloc__(self):
        free(self.text)
        free(self.lines)

    def add_line(self, begin, end, part):
        if self.line_count == self.line_room:
            room: cython.int = self.line_room + self.line_room // 4 + 16
            lines: cython.pointer(Line) = cython.cast(
                cython.pointer(Line), realloc(self.lines, room * cython.sizeof(Line))
            )
            if lines is cython.NULL:
                raise MemoryError
            self.lines, self.line_room = lines, room
        line: cython.pointer(Line) = cython.address(self.lines[self.line_count])
        line.begin, line.end, line.part = begin, end, part
        self.line_count += 1
        return 0

    def add_lines(self, outline, block, part):
        """Add the lines of a block of an outline whose text the page has taken over."""
        at: cython.Py_ssize_t = outline.blocks[block].begin
        end: cython.Py_ssize_t = outline.blocks[block].end
        while at < end:
            stop: cython.Py_ssize_t = find(0, self.text, at, end)
            begin: cython.Py_ssize_t = at
            at = stop + 1
            while begin < stop and self.text[begin] == 0x20:
                begin += 1
            while stop > begin and self.text[stop - 1] == 0x20:
                stop -= 1
            if begin < stop:
                self.add_line(begin, stop, part)
        return 0

    def lines_of(self, part):
        return tuple(
            [
                self.text[self.lines[i].begin : self.lines[i].end].decode("utf-8", "surrogatepass")
                for i in range(self.line_count)
                if self.lines[i].part == part
            ]
        )

    def symbols_of(self, part, vocabulary):
        text: SymbolText = SymbolText.__new__(SymbolText)
        i: cython.int
        size: cython.Py_ssize_t = 0
        text.vocabulary = vocabulary
        for i in range(self.line_count):
            if self.lines[i].part == part:
                size += self.lines[i].end - self.lines[i].begin + 1
        if size:
            text.reserve(size)
        for i in range(self.line_count if size else 0):
            if self.lines[i].part == part:
                text.add(self.text + self.lines[i].begin, self.lines[i].end - self.lines[i].begin)
        return text

    def lines_of_symbols(self, part, vocabulary):
        lines: Lines = Lines.__new__(Lines)
        reader: SymbolText = SymbolText.__new__(SymbolText)
        i: cython.int
        lines.vocabulary = reader.vocabulary = vocabulary
        for i in range(self.line_count):
            if self.lines[i].part == part:
                lines.note(self.text + self.lines[i].begin, self.lines[i].end - self.lines[i].begin, reader)
        return lines

    def main_text(self, secret: object = NO_SECRET):
        """The symbols of its paragraphs, for the index with this secret."""
        return self.symbols_of(MAIN, vocabulary_of(secret))

    def beside(self, secret: object = NO_SECRET):
        """Its asides, its link lines, and the symbols of its secondary text, for the index with this secret."""
        vocabulary: Vocabulary = vocabulary_of(secret)
        asides, link_lines = self.lines_of_symbols(ASIDE, vocabulary), self.lines_of_symbols(LINKS, vocabulary)
        return asides, link_lines, SymbolText.of(self.secondary, secret)

    @property
    def paragraphs(self):
        return self.lines_of(MAIN)

    @property
    def asides(self):
        return self.lines_of(ASIDE)

    @property
    def link_lines(self):
        return self.lines_of(LINKS)

    @property
    def links(self):
        return frozenset(hashes_of(self.link_items))

    @property
    def main_links(self):
        i: cython.Py_ssize_t
        items: cython.pointer(uint64_t) = uint64s(self.link_items)
        return frozenset([items[i] >> 32 for i in range(len(self.link_items) // 8) if items[i] & IN_MAIN])

    @property
    def name(self):
        """Its title and headline: all pages of a site may share a title and differ in their headlines."""
        return f"{self.title}\n{self.headline}" if self.title and self.headline else self.title

    @property
    def body_digest(self):
        if self.body is not None:
            self.digest, self.body = digest_of(self.body) if self.body else b"", None
        return self.digest

    @property
    def has_text(self):
        """Whether it has a line of any kind."""
        return self.line_count > 0

    @property
    def size(self):
        """Bytes of its lines."""
        return self.text_size

    @property
    def weight(self):
        """About how many bytes it takes in memory: the characters of its texts, and its objects."""
        size: cython.Py_ssize_t = self.text_size + len(self.title) + len(self.keywords) + len(self.description)
        items: cython.Py_ssize_t = 3
        texts: tuple
        i: cython.Py_ssize_t
        for i in range(len(self.link_items) // 8):
            items += 1 + (uint64s(self.link_items)[i] & IN_MAIN != 0)
        for texts in (self.headings, self.also_at, self.anchors_same_site, self.anchors_other_sites):
            items += len(texts)
            for i in range(len(texts)):
                size += len(cython.cast(str, texts[i]))
        return size + _ITEM * items + _OBJECT

    def replace(self, **changes):
        """Another page, with other values in some fields."""
        made: Page = Page(**{name: getattr(self, name) for name in _FIELDS if name != "body_digest"} | changes)
        if "body_digest" not in changes:
            made.digest, made.body = self.digest, self.body
        return made

    def fields(self) -> dict:
        """The values of its fields by name."""
        return {name: getattr(self, name) for name in _FIELDS}

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, Page):
            return NotImplemented
        return self.fields() == other.fields()

    def __hash__(self):
        return hash(tuple(self.fields().values()))

    def __repr__(self):
        parts = [f"{name}={value!r}" for name, value in self.fields().items() if value]
        return f"Page({', '.join(parts)})"


_FIELD_NAMES = """
url title headline paragraphs headings keywords description anchors_same_site anchors_other_sites body_digest body_tells
asides link_lines links main_links selector_missed also_at secondary resources theme
"""
_FIELDS = tuple(_FIELD_NAMES.split())


_TEXTS = "url", "title", "headline", "keywords", "description"
_LISTS = (
    *("paragraphs", "headings", "anchors_same_site", "anchors_other_sites"),
    *("asides", "link_lines", "also_at", "secondary", "resources"),
)


@cython.cfunc
def _most_bytes(texts: tuple) -> cython.Py_ssize_t:
    """An upper bound of their size in UTF-8: a character has at most one byte more than in memory."""
    size: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(len(texts)):
        text: str = cython.cast(str, texts[i])  # checked before; it may be of a subclass
        size += len(text) * (1 if PyUnicode_IS_ASCII(text) else min(4, 1 + PyUnicode_KIND(text)))
    return size


@cython.cfunc
@cython.exceptval(check=False)
def _encoded(text: str, out: cython.pointer(uint8_t)) -> cython.Py_ssize_t:
    """Write a text in UTF-8, including lone surrogates; return the number of bytes."""
    size: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = len(text)
    i: cython.Py_ssize_t
    kind: cython.int = PyUnicode_KIND(text)
    data: cython.p_void = PyUnicode_DATA(text)
    if PyUnicode_IS_ASCII(text):
        memcpy(out, data, count)
        return count
    for i in range(count):
        size += encode(PyUnicode_READ(kind, data, i), out + size)
    return size


@cython.cfunc
def _check(texts: tuple) -> cython.int:
    i: cython.Py_ssize_t
    for i in range(len(texts)):
        if not isinstance(texts[i], str):
            raise TypeError(f"the {_TEXTS[i]} of a page is text, not {type(texts[i]).__name__}.")
    return 0


@cython.cfunc
def _check_lists(lists: tuple) -> cython.int:
    i: cython.Py_ssize_t
    for i in range(len(lists)):
        if type(lists[i]) is not tuple:
            raise TypeError(f"the {_LISTS[i]} of a page are a tuple of texts, not {type(lists[i]).__name__}.")
        for text in cython.cast(tuple, lists[i]):
            if not isinstance(text, str):
                raise TypeError(f"the {_LISTS[i]} of a page are a tuple of texts, not {type(text).__name__}.")
    return 0


def read(
    facts: Facts,
    url: str,
    *,
    locate: object,
    host_alike: object,
    selected: object = None,
    stays: object = None,
    also_at: tuple = (),
) -> Page:
    """Read a page of HTML.

    Args:
        facts: What its markup says. If the page is cut off or has more than 100,000 tags, only its title and headline
            are read: two such pages that begin alike may go on with different texts.
        url: The URL of the page.
        locate: Takes the href of the base element, or an empty string; returns the host of the page and the host of
            the base URL of its relative links, both without "www.", and that URL's path in `links.local_form`.
        host_alike: Takes an authority, "//user@www.a.example:80"; returns its host without "www.".
        selected: Markup that a selector found, which holds the main text; None without a selector.
        stays: Takes a link as it is written, and the href of the base element; returns whether the link stays on the
            site, None if it leads to no web page. None if nobody needs headings, keywords, description and anchors.
        also_at: Other URLs that lead to the page.
    """
    outline: Outline = facts.taken()
    headings: list = _headings(outline) if stays is not None else []
    page: Page = Page.__new__(Page)
    page.url, page.title, page.headline = url, outline.title, ""
    page.body = facts.body
    if len(page.body) > _LONG_BODY:
        page.digest, page.body = digest_of(page.body), None
    page.keywords = page.description = ""
    page.headings = page.anchors_same_site = page.anchors_other_sites = ()
    page.also_at = also_at
    page.secondary = page.resources = ()
    page.link_items, page.theme = b"", theme_of(outline)
    page.body_tells = facts.is_cut or not outline.is_whole or _shows_text(outline)
    if facts.is_cut or not outline.is_whole or selected is not None:
        page.headline = _headline(outline)
    if facts.is_cut or not outline.is_whole:
        return page
    amid: Span
    amid.begin = amid.end = 0
    chosen: Outline
    i: cython.int
    if selected is not None:
        chosen = Outline(selected)
        page.secondary, page.resources = shown_by(chosen, False)
        page.text, page.text_size = chosen.text, chosen.text_size
        chosen.text = cython.NULL
        for i in range(chosen.block_count):
            page.add_lines(chosen, i, MAIN)
        page.selector_missed = not page.line_count
    if not page.line_count:
        choose_main_text(outline)
        page.headline = _headline(outline)
        page.secondary, page.resources = shown_by(outline, True)
        free(page.text)
        page.text, page.text_size = outline.text, outline.text_size
        outline.text = cython.NULL
        for i in range(outline.block_count):
            page.add_lines(outline, i, _part_of(cython.address(outline.blocks[i])))
        amid = _amid_main_text(outline)
    base: str = facts.base
    if outline.anchor_count:
        reader: LinkReader = LinkReader(*locate(base), host_alike)
        _read_links(page, outline, reader, amid)
    if stays is not None:
        page.headings = tuple(headings)
        _read_fields(page, outline, stays, base)
    return page


@cython.cfunc
def _shows_text(outline: Outline) -> cython.bint:
    shown: cython.Py_ssize_t = 0
    i: cython.int
    for i in range(outline.block_count):
        shown += outline.blocks[i].characters
    return shown >= _TELLING


@cython.cfunc
@cython.exceptval(check=False)
def _part_of(block: cython.pointer(Block)) -> Part:
    if block.is_main:
        return MAIN
    return LINKS if block.link_bytes and 2 * block.link_bytes >= block.end - block.begin else ASIDE


@cython.cfunc
@cython.exceptval(check=False)
def _amid_main_text(outline: Outline) -> Span:
    """The range of blocks from the heading of the main text to its end, with anything between its parts."""
    amid: Span
    amid.begin = amid.end = 0
    first: cython.int = 0
    last: cython.int = outline.block_count - 1
    while first <= last and not outline.blocks[first].is_main:
        first += 1
    if first > last:
        return amid
    while not outline.blocks[last].is_main:
        last -= 1
    heading: cython.int = first
    while heading >= 0 and not outline.elements[outline.blocks[heading].element].is_heading:
        heading -= 1
    amid.begin, amid.end = heading if heading >= 0 else first, last + 1
    return amid


@cython.cfunc
def _value(outline: Outline, value: Span) -> str:
    """An attribute's value, with character references replaced and each run of white space as one space."""
    return collapse(outline.markup[value.begin : value.end])


@cython.cfunc
def _read_links(page: Page, outline: Outline, reader: LinkReader, amid: Span):
    hashed: uint32_t = 0
    i: cython.int
    room: bytes = unset(8 * _MOST_LINKS)
    items: cython.pointer(uint64_t) = uint64s(room)
    count: cython.Py_ssize_t = 0
    for i in range(outline.anchor_count):
        anchor: cython.pointer(Anchor) = cython.address(outline.anchors[i])
        target: Span = anchor.target
        if reader.leads_here(outline.source + target.begin, target.end - target.begin, cython.address(hashed)):
            items[count] = cython.cast(uint64_t, hashed) << 32
            if amid.begin <= anchor.block < amid.end:
                items[count] |= IN_MAIN
            count += 1
            if count == _MOST_LINKS:
                count = merged(items, count)
                if count == _MOST_LINKS:
                    break
    page.link_items = room[: 8 * merged(items, count)]


@cython.cfunc
def _read_fields(page: Page, outline: Outline, stays: object, base: str):
    """Read the anchors, keywords and description."""
    texts: list = [[] for _ in range(outline.anchor_count)]
    i: cython.int
    for i in range(outline.piece_count):
        piece: cython.pointer(Piece) = cython.address(outline.pieces[i])
        texts[piece.anchor].append(outline.markup[piece.text.begin : piece.text.end])
    same: list = []
    other: list = []
    for i in range(outline.anchor_count):
        text: str = collapse(b"".join(texts[i]))
        if text:
            leads = stays(_value(outline, outline.anchors[i].target), base)
            if leads:
                same.append(text)
            elif leads is not None:
                other.append(text)
    page.anchors_same_site, page.anchors_other_sites = tuple(same), tuple(other)
    for i in range(outline.note_count):
        if outline.notes[i].kind == META:
            _read_meta(page, outline, outline.notes[i].attributes)


@cython.cfunc
def _read_meta(page: Page, outline: Outline, left: Span):
    attribute: Attribute
    name: str = ""
    content: str = ""
    while next_attribute(outline.source, cython.address(left), cython.address(attribute)):
        if equals(outline.source, attribute.name, "name"):
            name = _value(outline, attribute.value).lower()
        elif equals(outline.source, attribute.name, "content"):
            content = _value(outline, attribute.value)
    if name == "keywords":
        page.keywords = page.keywords or content
    elif name == "description":
        page.description = page.description or content


@cython.cfunc
def _headline(outline: Outline) -> str:
    """The first h1, else the first heading above the main text, else the first line of that if it may be a headline."""
    best: cython.int = -1
    first: cython.int = -1
    main: cython.int = 0
    i: cython.int
    for i in range(outline.block_count):
        number: cython.int = outline.blocks[i].element
        if outline.elements[number].is_h1:
            return " ".join(_lines_of(outline, i))
        if outline.elements[number].is_heading and best < 0 and first < 0:
            best = i
        if outline.blocks[i].is_main and outline.blocks[i].linked < _LINKED:
            first = first if main else i
            main += 1
    if best >= 0:
        return " ".join(_lines_of(outline, best))
    return _short_line(outline, first) if main > 1 else ""


@cython.cfunc
def _short_line(outline: Outline, block: cython.int) -> str:
    """The first line of a block if it may be a headline (short, no sentence, without digits); else empty."""
    line: str = next(iter(_lines_of(outline, block)), "")
    if len(line) > _HEADLINE or any(map(str.isdigit, line)) or line[-1:] in ".!?:;,。！？：；，":
        return ""
    return line


@cython.cfunc
def _lines_of(outline: Outline, block: cython.int) -> list:
    begin: cython.Py_ssize_t = outline.blocks[block].begin
    lines = outline.text[begin : outline.blocks[block].end].decode("utf-8").split("\0")
    return [line.strip() for line in lines if line.strip()]


@cython.cfunc
def _headings(outline: Outline) -> list:
    texts: list = []
    i: cython.int
    for i in range(outline.block_count):
        if outline.elements[outline.blocks[i].element].is_heading:
            texts += _lines_of(outline, i)
    return texts
