# cython: language_level=3
"""Outline: split markup into blocks of text, in one pass that builds no tree.

Hostile pages can exhaust a parser that builds a tree: nested formatting elements make it copy nodes without end, and
nested blocks make it search its stack again and again. A crawler reads what attackers write, so this pass has only a
stack of bounded depth. Time and memory are linear in the length of the page.
"""

import cython
from cython.cimports.dedupcrawl.core.arrays import resized
from cython.cimports.dedupcrawl.core.ascii import find, is_space
from cython.cimports.dedupcrawl.core.characters import collapse_into, unescape_into
from cython.cimports.dedupcrawl.core.memory import REMEMBERED, Remembered, key_of, place_of_key
from cython.cimports.dedupcrawl.core.tags import (
    BREAK,
    EMBEDDED,
    END,
    HIDDEN,
    LINE,
    LINK,
    LINK_END,
    PART,
    RULE,
    SCRIPT,
    START,
    TITLE,
    Attribute,
    equals,
    meaning_of,
    next_attribute,
    read_tag,
)
from cython.cimports.libc.stdlib import free, malloc
from cython.cimports.libc.string import memcpy, memset

_links = cython.declare(Remembered[REMEMBERED])  # what `_link_of` says of attributes
_page = cython.declare(Meaning)  # of the page itself, the outermost element


@cython.cfunc
@cython.exceptval(check=False)
def _grown(room: cython.int) -> cython.int:
    return room + room // 4 + 16


class Outline:
    """A page as blocks of text and the elements around them, both in page order.

    A block is the text between two block-level tags, without hidden elements; white space is collapsed, and a br
    element becomes a zero byte. Element 0 is the page itself, its own parent; any other element comes after its parent.
    Paragraphs, list items and rows without attributes are left out: their text belongs to the element around them.

    Attributes:
        markup: HTML in UTF-8, however broken.
        hidden: Texts, in UTF-8, of elements that browsers do not show at once.
        is_whole: False if the page has more tags than are read.
    """

    def __cinit__(self, markup: bytes, is_inner: bool = False):
        self.markup = markup
        self.source = markup
        self.is_inner = is_inner
        self.hidden = []
        size: cython.Py_ssize_t = len(markup)
        self.raw = cython.cast(cython.pointer(uint8_t), malloc(size + 1))  # a br tag becomes one byte
        self.unescaped = cython.cast(cython.pointer(uint8_t), malloc(size + size // 5 + 1))
        self.element_room = 16 + size // 128
        self.elements = cython.cast(cython.pointer(Element), malloc(self.element_room * cython.sizeof(Element)))
        if self.raw is cython.NULL or self.unescaped is cython.NULL or self.elements is cython.NULL:
            raise MemoryError
        memset(self.elements, 0, cython.sizeof(Element))
        self.element_count = self.depth = 1
        self.stack[0].meaning = cython.address(_page)
        self.in_head = True
        self.title = ""
        self.read()
        free(self.raw)
        free(self.unescaped)
        self.raw = self.unescaped = cython.NULL

    def __dealloc__(self):
        free(self.text)
        free(self.raw)
        free(self.unescaped)
        free(self.blocks)
        free(self.elements)
        free(self.anchors)
        free(self.notes)
        free(self.shown)
        free(self.pieces)

    def read(self):
        at: cython.Py_ssize_t
        tag_end: cython.Py_ssize_t
        end: cython.Py_ssize_t = len(self.markup)
        text: cython.Py_ssize_t = 0
        tags: cython.int = 0
        tag: Tag
        name: Span
        meaning: cython.pointer(cython.const[Meaning])
        at = find(0x3C, self.source, 0, end)
        while at < end and tags < MAX_TAGS:
            tag_end = read_tag(self.source, at, end, cython.address(tag))
            if tag_end < 0:
                at = find(0x3C, self.source, at + 1, end)
                continue
            tags += 1
            self.add_text(text, at)
            name.begin, name.end = at + 1, tag.attributes.begin
            text = at = tag_end
            if tag.name.end:
                meaning = meaning_of(self.source, cython.address(tag))
                if meaning is not cython.NULL:
                    self.add_tag(meaning, cython.address(tag))
            elif tag.is_script:
                self.note(SCRIPT, tag.attributes, tag.unread)
                self.show(name, tag.attributes, tag.unread, -1)
            elif tag.unread.end:
                self.show(name, tag.attributes, tag.unread, -1)
            at = find(0x3C, self.source, at, end)
        self.is_whole = at == end
        self.add_text(text, at)
        self.end_block()
        return 0

    def add_text(self, begin, end):
        first: cython.Py_ssize_t = begin
        last: cython.Py_ssize_t = end
        if begin == end:
            return 0
        if self.link_depth or not self.has_text:
            while first < last and is_space(self.source[first]):
                first += 1
            if first == end and not self.has_text:
                return 0
        memcpy(self.raw + self.raw_size, self.source + begin, end - begin)
        self.raw_size += end - begin
        self.has_text = True
        if not self.link_depth:
            return 0
        while last > first and is_space(self.source[last - 1]):
            last -= 1
        self.link_bytes += last - first
        if last > first:  # a link counts once it has text, which the link of an image has not
            self.links += self.is_new_link
            self.is_new_link = False
        if self.has_anchor:
            if self.piece_count == self.piece_room:
                self.piece_room = _grown(self.piece_room)
                self.pieces = cython.cast(
                    cython.pointer(Piece), resized(self.pieces, self.piece_room, cython.sizeof(Piece))
                )
            self.pieces[self.piece_count].text.begin, self.pieces[self.piece_count].text.end = begin, end
            self.pieces[self.piece_count].anchor = self.anchor_count - 1
            self.piece_count += 1
        return 0

    def end_block(self):
        innermost: cython.pointer(Open) = cython.address(self.stack[self.depth - 1])
        characters: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        if self.has_text:
            size = unescape_into(self.raw, self.raw_size, self.unescaped, False)
            if self.text_room - self.text_size < 3 * size:  # an invalid byte becomes U+FFFD, three bytes
                self.text_room = self.text_size + self.text_size // 4 + 3 * size + 1024 + len(self.markup) // 8
                self.text = cython.cast(cython.pointer(uint8_t), resized(self.text, self.text_room, 1))
            size = collapse_into(
                self.unescaped, size, innermost.meaning.is_pre, self.text + self.text_size, cython.address(characters)
            )
            if self.in_title:
                self.title = self.text[self.text_size : self.text_size + size].decode("utf-8")
            elif not _is_blank(self.text + self.text_size, size):
                if self.hidden_depth:
                    self.hide(size)
                else:
                    self.add_block(size, characters, innermost.number)
            self.raw_size = self.link_bytes = self.links = 0
            self.has_text = False
        self.in_title = False
        return 0

    def hide(self, size):
        nothing: Span
        nothing.begin = nothing.end = 0
        if self.shown_count < MAX_SHOWN:
            self.hidden.append(self.text[self.text_size : self.text_size + size])
            self.show(nothing, nothing, nothing, len(self.hidden) - 1)
        return 0

    def add_block(self, size, characters, element):
        if self.block_count == self.block_room:
            self.block_room = _grown(self.block_room)
            self.blocks = cython.cast(
                cython.pointer(Block), resized(self.blocks, self.block_room, cython.sizeof(Block))
            )
        block: cython.pointer(Block) = cython.address(self.blocks[self.block_count])
        memset(block, 0, cython.sizeof(Block))
        block.begin, block.end = self.text_size, self.text_size + size
        block.characters, block.element = characters, element
        block.link_bytes, block.links = self.link_bytes, self.links
        self.text_size += size
        self.block_count += 1
        return 0

    def add_tag(self, meaning, tag):
        kind: Kind = meaning.kind
        nothing: Span
        nothing.begin = nothing.end = 0
        if kind >= END:
            self.end_block()
        if kind == END:
            self.end_element(meaning)
            if meaning.is_head:
                self.in_head = False
        elif kind in (START, PART):
            self.start_element(meaning, tag)
            if meaning.is_body:
                self.in_head = False
        elif kind == TITLE:
            self.in_title = not self.title
        elif kind == HIDDEN:
            self.show(tag.name, tag.attributes, nothing, -1)
            if self.depth < MAX_DEPTH:
                self.push(meaning, self.stack[self.depth - 1].number)
                if not self.hidden_depth:
                    self.hidden_depth = self.depth
        elif kind == LINK:
            self.start_link(tag)
        elif kind == LINK_END:
            self.link_depth = 0
        elif kind == EMBEDDED:
            self.show(tag.name, tag.attributes, nothing, -1)
        elif kind == LINE:
            if self.is_inner:
                self.end_block()
                self.start_line(tag.attributes)
        elif kind == BREAK:
            self.raw[self.raw_size] = 0
            self.raw_size += 1
            self.has_text = True
        elif kind != RULE and tag.attributes.end > tag.attributes.begin:
            self.note(kind, tag.attributes, nothing)
        return 0

    def start_line(self, left):
        """Read what the attributes of an option or a group of options show: its label, and whether it is selected."""
        attribute: Attribute
        while next_attribute(self.source, cython.address(left), cython.address(attribute)):
            if equals(self.source, attribute.name, "label"):
                self.add_text(attribute.value.begin, attribute.value.end)
                self.end_block()
            elif equals(self.source, attribute.name, "selected"):
                memcpy(self.raw + self.raw_size, b"\xe2\x9c\x93 ", 4)
                self.raw_size += 4
                self.has_text = True
        return 0

    def push(self, meaning, number):
        self.stack[self.depth].meaning = meaning
        self.stack[self.depth].number = number
        self.depth += 1

    def end_element(self, meaning):
        depth: cython.int = self.depth - 1
        while depth > 0:
            if self.stack[depth].meaning.name == meaning.name:
                self.depth = depth
                break
            if self.stack[depth].meaning.is_cell and not meaning.is_around_cells:
                break
            depth -= 1
        if self.depth < self.link_depth:
            self.link_depth = 0
        if self.depth < self.hidden_depth:
            self.hidden_depth = 0

    def start_element(self, meaning, tag):
        while self.depth > 1 and meaning.ends & self.stack[self.depth - 1].meaning.bit:
            self.depth -= 1
            if self.depth < self.link_depth:
                self.link_depth = 0
        if self.depth == MAX_DEPTH:
            return 0
        number: cython.int = self.stack[self.depth - 1].number
        if tag.attributes.end > tag.attributes.begin or meaning.kind == START:
            self.add_element(number, meaning, tag.attributes)
            number = self.element_count - 1
        self.push(meaning, number)
        return 0

    def add_element(self, parent, meaning, attributes):
        if self.element_count == self.element_room:
            self.element_room = _grown(self.element_room)
            self.elements = cython.cast(
                cython.pointer(Element), resized(self.elements, self.element_room, cython.sizeof(Element))
            )
        element: cython.pointer(Element) = cython.address(self.elements[self.element_count])
        memset(element, 0, cython.sizeof(Element))
        element.parent, element.name, element.hint = parent, meaning.name, meaning.hint
        element.is_heading, element.is_h1 = meaning.is_heading, meaning.is_h1
        element.is_caption = meaning.is_caption or self.elements[parent].is_caption
        element.attributes = attributes
        self.element_count += 1
        return 0

    def start_link(self, tag):
        left: Span = tag.attributes
        target: Span
        self.link_depth = 0
        key: uint64_t = key_of(self.source + left.begin, left.end - left.begin, 0)
        known: cython.pointer(Remembered) = place_of_key(_links, key)
        if known.key != key:
            known.key, known.result = key, _link_of(self.source + left.begin, left.end - left.begin)
        if not known.result & HAS_TARGET:
            return 0
        target.begin = left.begin + (known.result >> BEGINS_AT)
        target.end = target.begin + (known.result >> LENGTH_AT & LENGTH)
        self.link_depth = self.depth
        self.is_new_link = True
        self.has_anchor = not self.hidden_depth
        if not self.has_anchor:
            return 0
        if self.anchor_count == self.anchor_room:
            self.anchor_room = _grown(self.anchor_room)
            self.anchors = cython.cast(
                cython.pointer(Anchor), resized(self.anchors, self.anchor_room, cython.sizeof(Anchor))
            )
        self.anchors[self.anchor_count].target = target
        self.anchors[self.anchor_count].is_download = known.result & IS_DOWNLOAD
        self.anchors[self.anchor_count].block = self.block_count
        self.anchors[self.anchor_count].element = self.stack[self.depth - 1].number
        self.anchor_count += 1
        return 0

    def note(self, kind, attributes, content):
        if self.note_count == MAX_NOTES:
            return 0
        if self.note_count == self.note_room:
            self.note_room = _grown(self.note_room)
            self.notes = cython.cast(cython.pointer(Note), resized(self.notes, self.note_room, cython.sizeof(Note)))
        note: cython.pointer(Note) = cython.address(self.notes[self.note_count])
        note.kind, note.attributes, note.content, note.is_in_head = kind, attributes, content, self.in_head
        self.note_count += 1
        return 0

    def show(self, name, attributes, content, text):
        if self.shown_count == MAX_SHOWN:
            return 0
        if self.shown_count == self.shown_room:
            self.shown_room = _grown(self.shown_room)
            self.shown = cython.cast(cython.pointer(Shown), resized(self.shown, self.shown_room, cython.sizeof(Shown)))
        shown: cython.pointer(Shown) = cython.address(self.shown[self.shown_count])
        shown.name, shown.attributes, shown.content, shown.text = name, attributes, content, text
        shown.element, shown.is_hidden = self.stack[self.depth - 1].number, self.hidden_depth > 0
        self.shown_count += 1
        return 0


@cython.cfunc
@cython.exceptval(check=False)
def _link_of(text: Text, size: cython.Py_ssize_t) -> uint64_t:
    """Where in the attributes of a link its target stands, which has at most `LENGTH` bytes, and what else they say."""
    left: Span
    attribute: Attribute
    made: uint64_t = 0
    left.begin, left.end = 0, size
    while next_attribute(text, cython.address(left), cython.address(attribute)):
        if not made & HAS_TARGET and equals(text, attribute.name, "href"):
            made |= HAS_TARGET | cython.cast(uint64_t, attribute.value.begin) << BEGINS_AT
            made |= cython.cast(uint64_t, min(attribute.value.end - attribute.value.begin, LENGTH)) << LENGTH_AT
        elif equals(text, attribute.name, "download"):
            made |= IS_DOWNLOAD
    return made


@cython.cfunc
@cython.exceptval(check=False)
def _is_blank(text: Text, size: cython.Py_ssize_t) -> cython.bint:
    i: cython.Py_ssize_t
    for i in range(size):
        if text[i] and text[i] != 0x20:
            return False
    return True
