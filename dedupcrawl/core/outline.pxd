from libc.stdint cimport int64_t, uint8_t, uint64_t

from dedupcrawl.core.ascii cimport Text
from dedupcrawl.core.tags cimport Kind, Meaning, Span, Tag

cdef enum:
    MAX_TAGS = 100_000
    MAX_DEPTH = 100
    MAX_NOTES = 1_000
    MAX_SHOWN = 2_000

cdef enum:  # bits of what the attributes of a link say
    HAS_TARGET = 1
    IS_DOWNLOAD = 2
    LENGTH_AT = 2  # the length of its target, 31 bits
    LENGTH = 0x7FFFFFFF
    BEGINS_AT = 33  # where that begins

cdef struct Block:
    Py_ssize_t begin, end
    Py_ssize_t characters
    int element, links
    int64_t link_bytes
    double linked, value
    bint is_main

cdef struct Element:
    int parent, name
    Span attributes
    double running, worth, unlinked
    int lines, texts, headlines, row, latest_row, row_size, replies
    uint8_t role, hint, place
    bint is_around, is_inside, is_heading, is_h1
    bint is_caption  # whether it is a figcaption element or inside one

cdef struct Anchor:
    Span target
    int block, element
    bint is_download

cdef struct Piece:
    Span text
    int anchor

cdef struct Note:
    Kind kind
    Span attributes, content
    bint is_in_head

# Something that a page shows besides its text: an element, or the text of one that browsers do not show at once.
cdef struct Shown:
    Span name, attributes, content
    int element
    int text  # its index in `hidden`; -1 for an element
    bint is_hidden  # whether it is inside an element that browsers do not show at once

cdef struct Open:
    const Meaning *meaning
    int number

cdef class Outline:
    cdef readonly bytes markup
    cdef Text source
    cdef uint8_t *text
    cdef Py_ssize_t text_size, text_room
    cdef uint8_t *raw
    cdef uint8_t *unescaped
    cdef Py_ssize_t raw_size
    cdef Block *blocks
    cdef int block_count, block_room
    cdef Element *elements
    cdef int element_count, element_room
    cdef Anchor *anchors
    cdef int anchor_count, anchor_room
    cdef Note *notes
    cdef int note_count, note_room
    cdef Shown *shown
    cdef int shown_count, shown_room
    cdef list hidden
    cdef Piece *pieces
    cdef int piece_count, piece_room
    cdef Open stack[MAX_DEPTH]
    cdef int depth, link_depth, hidden_depth, links
    cdef int64_t link_bytes
    cdef readonly str title
    cdef bint in_title, has_text, is_new_link, in_head, has_anchor, is_inner
    cdef readonly bint is_whole

    cdef int read(self) except -1
    cdef int end_block(self) except -1
    cdef int hide(self, Py_ssize_t size) except -1
    cdef int add_block(self, Py_ssize_t size, Py_ssize_t characters, int element) except -1
    cdef int add_element(self, int parent, const Meaning *meaning, Span attributes) except -1
    cdef int add_text(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef int add_tag(self, const Meaning *meaning, const Tag *tag) except -1
    cdef int start_element(self, const Meaning *meaning, const Tag *tag) except -1
    cdef void end_element(self, const Meaning *meaning) noexcept
    cdef int start_link(self, const Tag *tag) except -1
    cdef int start_line(self, Span left) except -1
    cdef int note(self, Kind kind, Span attributes, Span content) except -1
    cdef int show(self, Span name, Span attributes, Span content, int text) except -1
    cdef void push(self, const Meaning *meaning, int number) noexcept
